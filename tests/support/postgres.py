"""A real PostgreSQL server for tests: its own data folder, its own Unix socket, no network.

    with PostgresServer(find_postgres()) as server:
        url = server.new_database()      # postgresql://...
        server.kill()                    # SIGKILL to all of it: a crash
        server.start()                   # recovers

A test that takes the fixture `postgres_url` gets an empty database of the server that its process shares.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from support.processes import alive, children
from support.system import require
from truebest._former_name import FORMER_NAME


def find_postgres() -> Path:
    """The folder with `initdb` and `postgres`; skips the test, or fails it, where there is none."""
    return Path(require("postgresql")["postgres"]).resolve().parent


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom to run the server as: it refuses root. None to stay who we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("PostgreSQL does not run as root, and there is no user postgres or nobody")


class PostgresServer:
    """A server of one's own. `fsync=False` makes it quick, and unsafe only if the machine itself dies."""

    def __init__(self, binaries: Path, *, fsync: bool = True) -> None:
        self._binaries = binaries
        self._fsync = fsync
        self._user = _unprivileged()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._databases = 0
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # short: a socket has 107 bytes
        atexit.register(self.close)
        if self._user:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._initdb()

    def _as_user(self) -> dict[str, Any]:
        who = (
            {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []} if self._user else {}
        )
        return {**who, "cwd": self.folder, "env": {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}}

    def _initdb(self) -> None:
        words = [
            "--pgdata=data",
            "--username=test",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        ]
        done = subprocess.run(
            [self._binaries / "initdb", *words], capture_output=True, text=True, **self._as_user()
        )
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr}")

    def start(self) -> None:
        """Start the server, with recovery if it was killed, and wait until it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "max_connections": "200",
            "shared_buffers": "16MB",
            "autovacuum": "off",
            "fsync": "on" if self._fsync else "off",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", "data", *options],
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._as_user(),
            )
        self._wait()

    def _wait(self, seconds: float = 600.0) -> None:
        assert self._process is not None
        deadline = time.monotonic() + seconds
        ready = self.folder / "data" / "postmaster.pid"
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                lines = ready.read_text().splitlines()
                if int(lines[0]) == self._process.pid and lines[7].strip() == "ready":
                    return
            time.sleep(0.02)
        raise RuntimeError(f"PostgreSQL did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def stop(self) -> None:
        """A fast shutdown: connections are closed, everything is written."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server and all of its processes at once, as a crash would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        started = children(process.pid)  # each is the leader of a session of its own
        process.send_signal(how)
        if how == signal.SIGKILL:
            for child in started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, how)
        process.wait(600)
        deadline = time.monotonic() + 10  # a new server waits for them, too
        while any(alive(child) for child in started) and time.monotonic() < deadline:
            time.sleep(0.005)

    def url(self, database: str = "postgres") -> str:
        """The URL of one of its databases."""
        return f"postgresql://test@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        import psycopg

        self._databases += 1
        name = f"db{self._databases}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def close(self) -> None:
        """Stop the server and delete its folder; a forked child does neither."""
        if os.getpid() != self._owner:
            return
        atexit.unregister(self.close)
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> PostgresServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@functools.cache
def shared_server(binaries: Path) -> PostgresServer:
    """One running server for all tests of this process, ended with it. Without fsync, to be quick."""
    server = PostgresServer(binaries, fsync=False)
    server.start()
    return server


@pytest.fixture(scope="session")
def postgres_server() -> PostgresServer:
    """A running server; skips without PostgreSQL, or fails where it was installed for the tests."""
    return shared_server(find_postgres())


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """A database without any tables of ours."""
    import psycopg

    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("SET client_min_messages = error")
        connection.execute(f"DROP SCHEMA IF EXISTS truebest, {FORMER_NAME} CASCADE")
    return postgres_server.url()
