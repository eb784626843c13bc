"""Numbers in sentences claim no more than is proven, and say which of two is better."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from truebest import AtLeast, Gate
from truebest.telling.numbers import downwards, number, upwards

OLD = ("old", "new")


@pytest.mark.parametrize(
    ("question", "passed", "said"),
    [
        (AtLeast(1234567.0), True, "at least 1234567"),
        (Gate(0, margin=Fraction(1, 3)), True, "not worse than old by more than 0.333334"),
        (Gate(0, margin=Fraction(1, 3)), False, "worse than old by more than 0.333333"),
        (Gate(0, margin=0.1 + 0.2), True, "not worse than old by more than 0.30000000000000004"),
        (Gate(0, margin=0.123456789), True, "not worse than old by more than 0.123456789"),
        (Gate(0, at_least=1234567.5), True, "better than old by more than 1234567.5"),
    ],
)
def test_a_verdict_states_the_number_that_was_asked(question: Any, passed: bool, said: str) -> None:
    """With all digits that were given; of a fraction, so many that what is said stays true."""
    assert question.verdict(passed, OLD) == said


@pytest.mark.parametrize(
    ("seen", "ends", "said"),
    [
        ("0.50", "-0.10 to 0.60", "new is better than old by 0.50 so far (-0.10 to 0.60)"),
        ("-0.50", "-0.60 to 0.10", "new is worse than old by 0.50 so far (better by -0.60 to 0.10)"),
        ("0.00", "", "new is as good as old so far"),
        ("", "-0.60 to 0.10", "new is better than old by -0.60 to 0.10"),
    ],
)
def test_what_is_worse_is_not_called_better(seen: str, ends: str, said: str) -> None:
    assert Gate(0).clause("new", seen, ends, OLD, " so far") == said


@pytest.mark.parametrize("value", [0.0449, -0.0449, 0.05, 1e-9, 123.456, 1e13, float("inf")])
@pytest.mark.parametrize("places", [None, 0, 1, 2, 6])
def test_ends_are_rounded_outwards(value: float, places: int | None) -> None:
    assert downwards(value, places) <= value <= upwards(value, places)
    if places and abs(value) < 1e12:
        assert float(number(downwards(value, places), places)) <= value
