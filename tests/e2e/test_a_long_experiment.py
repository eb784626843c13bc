"""The story of a long experiment: two workers on a server, one is killed, the server is restarted."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from e2e.test_solve_command import COMMAND
from support.postgres import PostgresServer, find_postgres
from truebest import Experiment, TruebestError

FREE = 20  # pulls that are not held back
HELD = (
    f"while [ $TRUEBEST_PULL -gt {FREE} ] && [ ! -e go ]; do sleep 0.05; done; echo $((TRUEBEST_SEED % 10 < "
)
ARMS = ("--arm", f"old={HELD}4))", "--arm", f"new={HELD}7))", "--seed", "1")


def start(*words: str) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    return subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def samples(url: str) -> int:
    """How far the experiment is."""
    with Experiment.open(url, "prompts") as experiment:
        return experiment.status().samples


def until(url: str, count: int, asked: int = 0) -> None:
    """Wait until the experiment has so many samples, and so many pulls have been asked for."""
    end = time.monotonic() + 60
    while samples(url) < count or _asked(url) < asked:
        assert time.monotonic() < end
        time.sleep(0.1)


def _asked(url: str) -> int:
    with Experiment.open(url, "prompts") as experiment:
        return len({event.pull for event in experiment.events() if event.kind == "asked"})


@pytest.mark.slow
def test_two_workers_a_kill_and_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is left decides, the one who watches sees it, and the report can be sent to a colleague."""
    monkeypatch.chdir(tmp_path)
    with PostgresServer(find_postgres(), fsync=False) as server:
        url = server.new_database()
        monkeypatch.setenv("TRUEBEST_STORE", url)
        words = ("identify", "--shell", "--bounds", "0,1", "--timeout", "150", "--name", "prompts", *ARMS)
        processes = workers = [start(*words, "--worker", name) for name in ("one", "two")]
        try:
            while not _exists(url):
                time.sleep(0.1)
            watching = start("watch", "prompts")
            processes = [*workers, watching]
            until(url, FREE, asked=FREE + 2)  # each worker has one that is held back
            assert watching.stderr is not None
            assert "undecided" in watching.stderr.readline()  # it has begun
            workers[0].send_signal(signal.SIGKILL)
            workers[0].communicate()
            assert _run("reclaim", "prompts", "--worker", "one").returncode == 0
            server.stop()
            Path("go").touch()
            time.sleep(1.5)
            server.start()
            until(url, FREE + 5)
            out, err = workers[1].communicate(timeout=600)
            assert workers[1].returncode == 0, err
            assert out.startswith("new is best")
            assert "trying again for 120 s" in err
            seen, said = watching.communicate(timeout=600)
            assert watching.returncode == 0, said
            assert "decision   new" in seen
            assert _run("report", "prompts", "--output", "page.html").returncode == 0
            page = Path("page.html").read_text()
            assert "new is the best option" in page
            assert "2 workers" in page
            assert _run("verify", "prompts").returncode == 0
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.communicate()


def _exists(url: str) -> bool:
    try:
        samples(url)
    except TruebestError:  # not created yet, or its tables are just being made
        return False
    return True


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=600, env=os.environ)
