"""The workers of the guide to the service, in bash, for Node and in Python, end decided."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import truebest
from support.service import TOKEN, serving
from support.system import require
from truebest import Experiment
from truebest.remote.service import Service

ROOT = Path(__file__).parents[2]
GUIDE, README = (ROOT / "docs" / "guides" / "serve.md").read_text(), (ROOT / "README.md").read_text()
EVALUATE = """#!/bin/sh
case $1 in long) echo 1 ;; *) echo 0 ;; esac
"""


@pytest.mark.parametrize(
    ("language", "needs", "program"),
    [("bash", ("bash", "curl", "jq"), "bash"), ("js", ("nodejs",), "node"), ("py", (), "")],
)
def test_the_workers_of_the_guide_end_decided(
    tmp_path: Path, language: str, needs: tuple[str, ...], program: str
) -> None:
    """They create the experiment, answer every pull, and print that "long" is the best."""
    programs = {name: path for package in needs for name, path in require(package).items()}
    (block,) = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "evaluate").write_text(EVALUATE)
    (tmp_path / "evaluate").chmod(0o755)
    script = tmp_path / f"worker.{language}"
    script.write_text(block)
    url = f"sqlite:///{tmp_path}/runs.db"
    with serving(url) as service:
        done = subprocess.run(
            [programs.get(program, sys.executable), str(script)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "URL": service.url, "TOKEN": TOKEN},
        )
    assert done.returncode == 0, done.stderr
    assert "long is " in done.stdout
    assert "best" in done.stdout
    experiment = Experiment.open(url, "prompts")
    assert experiment.status().best == "long"
    assert not any(event.kind in ("failed", "lapsed", "late") for event in experiment.events())


def test_the_three_commands_of_the_readme_end_decided(tmp_path: Path) -> None:
    """Two workers and the page, as they stand there but for the pauses and the port; the token is printed."""
    (block,) = re.findall(r"((?:    truebest identify .* &\n){2}    truebest serve .*\n)", README)
    commands = re.sub(r"^ +truebest", f"{sys.executable} -m truebest", block, flags=re.MULTILINE)
    commands = commands.replace("sleep .5;", "").rstrip() + " --port 0"
    process = subprocess.Popen(
        ["bash", "-c", commands],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
        env={**os.environ, "TRUEBEST_JIT": "0"},
    )
    try:
        assert process.stderr is not None
        url = re.search(r"the page is at (http://\S+);", process.stderr.readline())
        token = re.search(r"shown only now: (\S+)", process.stderr.readline())
        assert url, "nothing but the server speaks"
        assert token
        with truebest.connect(url.group(1), token=token.group(1)) as service:
            (name,) = _waited_for(service)
            experiment = service.open(name)
            assert experiment.watch(every=0.2, timeout=120).best == "new"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=600)


def _waited_for(service: Service) -> list[str]:
    end = time.monotonic() + 60
    while not (names := service.names()) and time.monotonic() < end:
        time.sleep(0.1)
    return names


def test_the_guide_names_every_address() -> None:
    """What `/openapi.json` has, and what the command takes."""
    from truebest.experiment.store import open_store
    from truebest.server.desks import Desks
    from truebest.server.reads import Reads
    from truebest.server.writes import Writes

    desks = Desks(open_store("memory:"))
    routes = [*Writes(desks).router().routes, *Reads(desks).router().routes]
    names = [str(getattr(route, "path", "")).removeprefix("/v1/") for route in routes]
    desks.close()
    assert len(names) == 18
    assert all(f"`{name}`" in GUIDE or f"/v1/{name}" in GUIDE for name in names)
    assert all(word in GUIDE for word in ("--host", "--allow-host", "--token", "--read-token", "--rate"))
