"""The settings of experiments as options of commands: all of them, and refused in their names."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest

from truebest.cli._app import COMMANDS, app_for
from truebest.cli._numbers import read_number, read_numbers, read_per_arm
from truebest.cli._settings import QUESTION, SETTINGS, as_options
from truebest.experiment.settings import Given

ARGUMENTS = ("sigma", "bounds", "model", "items", "compare", "direct", "order", "max_samples", "tolerance")


def test_every_setting_is_an_option_of_create() -> None:
    """But for what arms are, a text each; a question has several, and --student is short for a model."""
    assert set(SETTINGS) - {"student", *QUESTION} == {"delta", *Given.__annotations__} - {"about", "question"}
    for name in COMMANDS:
        assert app_for([name]).registered_commands[0].callback is not None
    create: Any = app_for(["create"]).registered_commands[0].callback
    assert set(SETTINGS) <= set(inspect.signature(create).parameters)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("items= needs bounds=(lo, hi) that", "--items needs --bounds lo,hi that"),
        ("give sigma= (the scale), or model=, got none", "give --sigma (the scale), or --model, got none"),
        ("direct=True needs compare='wins': else", "--direct needs --compare wins: else"),
        ("got tolerance=0.05 and order='arrival'; leave", "got --tolerance 0.05 and --order arrival; leave"),
        ("max_samples must be a whole number", "--max-samples must be a whole number"),
        ("are Gaussian: model=truebest.Student().", "are Gaussian: --model student."),
        ("how items belong together; give items=.", "how items belong together; give --items."),
        ("such as items={'old': scores}; else", "such as --items old=scores; else"),
        ("with the model Gaussian(sigma=1.0), seed=5", "with the model Gaussian(sigma=1.0), seed=5"),
    ],
)
def test_a_refusal_of_arguments_speaks_of_options(text: str, said: str) -> None:
    """Where the command has them."""
    assert as_options(text, ARGUMENTS) == said


def test_words_are_numbers_where_they_are_numbers() -> None:
    """Whole ones are whole; any other word is left to the check of what it is given to."""
    assert [read_number(word) for word in ("7", "1e3", "0.5", "-2.0", "x", "1_0", "٣")] == [
        *(7, 1000, 0.5, -2, "x", "1_0", "٣")
    ]
    assert read_number("inf") == math.inf
    assert isinstance(read_number("1e3"), int)
    assert read_number(None) is None
    assert read_numbers("0, 1.5 x") == (0, 1.5, "x")
    assert read_per_arm("old=1,new=2.5") == {"old": 1, "new": 2.5}


def test_help_of_a_command_leaves_line_breaks_to_the_screen() -> None:
    """A paragraph is one line, without the indentation of a docstring that goes on in the next one."""
    texts = {one.name: one.help or "" for one in app_for([]).registered_commands}
    assert texts["gate"].endswith("--margin 0.02 --items tests.jsonl")
    for name, text in texts.items():
        assert text, name
        assert "  " not in text, name
        assert "\n" not in text.replace("\n\n", ""), name


def test_questions_in_a_refusal_are_options_or_left_as_they_are() -> None:
    """An argument within a question of Python is no option."""
    names = {"at_least", "margin", "known"}
    assert as_options("AtLeast(threshold=0.8) knows known=", names) == "--at-least 0.8 knows --known"
    assert as_options("AtLeast(threshold=0.8)", {"margin"}) == "AtLeast(threshold=0.8)"
    assert as_options("AtMost(threshold=2.0) knows known=", {"at_most"}) == "--at-most 2 knows known="
    assert as_options("Gate(baseline=0, margin=0.1), margin=0.2", names).endswith("margin=0.1), --margin 0.2")
