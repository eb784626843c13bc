"""No message, repr or traceback repeats the password of a store's URL, however the URL is written."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from support.commands import run
from truebest._text import without_passwords
from truebest.errors import InvalidInputError, StoreError, TruebestError
from truebest.experiment.experiment import Experiment
from truebest.experiment.store import open_store

pytest.importorskip("psycopg")

HEAD, TAIL = "Zq7k", "Xw9m"  # a password begins and ends with these; what is between them is odd
WITH_HOST = [
    "postgresql://u:{}@127.0.0.1:1/d",
    "postgres://u:{}@127.0.0.1:1/d?connect_timeout=2",
    "postgresql://u:{}@127.0.0.1:port/d",
    "postgresql://u:{}@[::1/d",
    "postgresql://u:{}@127.0.0.1:1/d?nonsense=1",
    "postgresql://127.0.0.1:1/d?password={}",
    "postgresql://u@127.0.0.1:1/d?sslpassword={}",
    "postgresql://127.0.0.1:1/d?pasword={}",
    "mysql://u:{}@h/d",
    "mysql+driver://u:{}@h/d",
    "redis://:{}@h",
    "postgresq://u:{}@h/d",
    "POSTGRESQL://u:{}@h/d",
    "postgresql:/u:{}@h/d",
    "postgresql:u:{}@h/d",
    "postgresql//u:{}@h/d",
    " postgresql://u:{}@h/d",
    "sqlite://u:{}@h/d",
    "sqlite:///postgresql://u:{}@h/d",
    "u:{}@h/d",
]
WITHOUT_HOST = [
    "postgresql://u:{}",
    "postgresql://u:{}/d",
    "host=h password={}",
    "host=h password={} dbname=d",
    "password='{}'",
    "dbname=d sslpassword={}",
    "postgresql://127.0.0.1:1/password={}",
]
ODD = st.one_of(
    st.text("%/@: ?#&=[]+\\'\";,~$é\u202e\n\t", max_size=4), st.sampled_from(["%zz", "%", "%00", "%2", " "])
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """A URL, or what somebody might write for one, with such a password in it, percent-encoded or not."""
    form = draw(st.sampled_from(WITH_HOST + WITHOUT_HOST))
    odd = draw(ODD)
    if form in WITHOUT_HOST:
        odd = odd.replace("@", "")  # what follows it would be the host
    password = HEAD + odd + TAIL
    return form.format(quote(password, safe="") if draw(st.booleans()) else password)


def clean(text: str) -> None:
    """Neither end of the password is in it."""
    assert HEAD not in text
    assert TAIL not in text


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that stand behind it, also those that a traceback would leave out."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@settings(max_examples=300)
@given(url=urls(), name=st.sampled_from(["one", "two"]))
@example(url=f"postgresql://u:{HEAD}\0{TAIL}@h/d", name="one")
@example(url=f"postgresql://u:{HEAD}\ud800{TAIL}@127.0.0.1:1/d", name="one")
def test_no_exception_repeats_a_password(url: str, name: str) -> None:
    """Neither its text, nor its repr, nor its traceback, nor any exception behind it."""
    for call in (
        lambda: open_store(url),
        lambda: Experiment.open(url, name),
        lambda: Experiment.create(url, name, ["a", "b"], bounds=(0, 1)),
    ):
        with pytest.raises((InvalidInputError, StoreError)) as caught:
            call()
        for error in chain(caught.value):
            clean(str(error) + repr(error))
        clean("".join(traceback.format_exception(caught.value)))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", [b"postgresql://u:Zq7k@h/d", {"password": "Zq7k"}, ["u:Zq7k@h"]])
def test_what_is_no_text_is_not_shown_either(given: object) -> None:
    """Only of which type it is."""
    with pytest.raises(InvalidInputError, match=type(given).__name__) as caught:
        open_store(given)  # type: ignore[arg-type]
    clean(str(caught.value))


ARMS = ["--arm", "a", "--arm", "b", "--bounds", "0,1"]
COMMANDS = ["--arm", "a=echo 1", "--arm", "b=echo 0", "--bounds", "0,1", "--max-samples", "4", "--quiet"]
NONE = ["--store", "sqlite:///none.db"]
LINES = [
    ["list", "--store", "{}"],
    ["list", "--store={}"],
    ["status", "one", "--store", "{}"],
    ["create", "one", *ARMS, "--store", "{}"],
    ["identify", *COMMANDS, "--store", "{}"],
    ["--debug", "export", "one", "--store", "{}"],
]
MISPLACED = [
    ["{}"],
    ["list", "{}"],
    ["list", "--stroe={}"],
    ["status", "{}"],
    ["status", "{}", *NONE],
    ["export", "one", "--format", "{}", *NONE],
    ["ask", "one", "-n", "{}", *NONE],
    ["create", "one", *ARMS, "--delta", "{}", *NONE],
    ["identify", *COMMANDS, "{}"],
    ["--debug", "list", "{}"],
]


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(url=urls(), line=st.sampled_from([*LINES, *MISPLACED, ["list"]]))
def test_no_command_prints_a_password(
    url: str, line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given as the store, in TRUEBEST_STORE, or in the wrong place; with --debug, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEBEST_STORE", raising=False)
    if line == ["list"]:
        monkeypatch.setenv("TRUEBEST_STORE", url)
    ran = run(*(word.replace("{}", url) for word in line))
    assert ran.code in (1, 2)
    assert "please report it" not in ran.err
    clean(ran.out + ran.err)


def test_a_message_is_cut_off_where_it_begins_to_quote_a_url() -> None:
    """However the URL is escaped; what is no URL is left alone, and so is a message without it."""
    url = f"postgresql://u:{HEAD}\n{TAIL}@h/d"
    for quoted in (url, repr(url), url.replace("\n", "\\x0a"), repr(url)[:20], " ".join(url.split())):
        message = f"Got unexpected extra argument ({quoted}); see the help."
        assert without_passwords(message, ["list", url]) in (
            "Got unexpected extra argument (postgresql://u:***",
            "Got unexpected extra argument ('postgresql://u:***",
        )
    other = "an arm must be NAME=COMMAND, got 'good'; for a server write postgresql://HOST/DATABASE"
    assert without_passwords(other, ["--arm", "good", "good=./good", url]) == other


def test_a_store_is_shown_without_its_password(postgres_url: str) -> None:
    """A store's repr, an experiment's, and the messages of a store that works."""
    store = open_store(postgres_url.replace("test@", f"test:{HEAD}{TAIL}@"))
    with Experiment.create(store, "one", ["a", "b"], bounds=(0, 1)) as experiment:
        with pytest.raises(TruebestError) as caught:
            Experiment.open(store, "two")
        for text in (repr(store), str(store), repr(experiment), str(caught.value), store.place):
            clean(text)
            assert "/postgres" in text
        clean(str(experiment.settings.to_record()))
