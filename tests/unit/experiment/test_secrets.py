"""What looks like a secret is neither stored nor shown, and a command is recognised all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.commands import Ran, refused, run
from truebest import Experiment
from truebest.experiment.about import STDERR, abbreviated, same_about

STORE = ("--store", "sqlite:///runs.db")


@pytest.mark.parametrize(
    "command",
    [
        "./run --api-key hunter2 a",
        "./run --api-key=hunter2 a",
        "env OPENAI_API_KEY=hunter2 ./run a",
        "curl -H 'Authorization: Bearer hunter2' x",
        "psql postgresql://me:hunter2@host/db",
        "./run sk-hunter2AbCdEf0123456789",
        "./run --password 'hunter2 and more'",
        './run --secret="a \\"quoted hunter2" b',
        "DB_PASS=hunter2 ./run",
        "./run --pass hunter2",
        "curl -u alice:hunter2 https://host/a",
        "curl --user=alice:hunter2 https://host/a",
        "mysql -uroot -phunter2 db",
        "sshpass -p hunter2 ssh host",
        "psql postgres://me:hunter2/x@host/db",
        "./run sk-hunter2",
        "./run glpat-hunter2",
        "./run --passphrase hunter2",
        "SECRETS=hunter2 ./run",
        "./run --api-key \\\n hunter2",
        "API_KEY=two\\ words\\ hunter2 ./run",
        "curl -H 'Authorization: token hunter2' x",
    ],
)
def test_a_credential_is_not_in_the_stored_form(command: str) -> None:
    """Named by an option, a variable, a header or a URL, or long and random; another one has another hash."""
    found = abbreviated(command)
    assert "hunter2" not in found
    assert "***" in found
    assert found != abbreviated(command.replace("hunter2", "hunter3"))
    assert abbreviated("./evaluate --model small").startswith("./evaluate --model small [")


def identify(command: str, *more: str) -> Ran:
    """A short run of two commands."""
    arms = ("--arm", f"a={command}", "--arm", "b=echo 0")
    return run("identify", "--shell", *arms, *STORE, "--bounds", "0,1", "--max-samples", "4", *more)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shown() -> str:
    """Everything that is shown of the run."""
    with Experiment.open(STORE[1], "identify") as made:
        table = run("export", "identify", "--format", "table", *STORE).out
        return run("export", "identify", *STORE).out + table + made.report()


def test_a_command_is_stored_as_far_as_it_is_needed() -> None:
    """The same one resumes, another is refused, also where only the secret differs; --about sets the text."""
    secret = "API_KEY=hunter2 echo 1"
    assert identify(secret).code in (0, 3)
    assert "hunter2" not in shown()
    assert identify(secret).code in (0, 3)
    refused(identify("API_KEY=hunter3 echo 1"), "the values would be of something else")
    assert identify(secret, "--name", "y", "--about", "a=the new one").code in (0, 3)
    with Experiment.open(STORE[1], "y") as made:
        assert (made.settings.about or ("",))[0] == "the new one"
    refused(identify(secret, "--about", "c=x"), "--about must be ARM=TEXT")


def test_a_whole_command_of_an_older_version_is_recognised() -> None:
    """It resumes under the same command, and is refused under another."""
    about: dict[str, Any] = {"a": "echo 1", "b": "echo 0"}
    Experiment.create(STORE[1], "identify", ["a", "b"], bounds=(0, 1), about=about).close()
    assert identify("echo 1").code in (0, 3)
    refused(identify("echo 0.5"), "the values would be of something else")


def test_a_command_that_was_shortened_otherwise_is_recognised() -> None:
    """By its hash: which words look like a credential may differ between versions."""
    now = (abbreviated("./run --pass hunter2"), "the old one")
    was = ("./run --pass hunter2" + now[0][-19:], "the old one")
    assert same_about(now, was)
    assert not same_about((abbreviated("./run --pass hunter3"), "the old one"), was)
    assert not same_about((now[0], "the new one"), was)


def test_stderr_is_shown_on_the_terminal_and_nowhere_else() -> None:
    """It is not stored; what version 0.2 stored of it is not shown."""
    ran = identify("echo hunter2 >&2; exit 3", "--about", "a=it fails")
    assert "hunter2" in ran.err
    assert "it ended with exit code 3" in shown()
    assert "hunter2" not in shown()
    with Experiment.open(STORE[1], "identify") as made:
        assert "hunter2" not in str(made.history())
        made.fail(made.ask()[0], f"it ended with exit code 1{STDERR}hunter2")
    assert "its stderr is not shown" in shown()
    assert "hunter2" not in shown()
