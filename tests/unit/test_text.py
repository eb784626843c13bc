"""What cannot be seen: one place knows which characters act on a terminal, and what is shown instead."""

from __future__ import annotations

from fractions import Fraction

import pytest

from truebest._text import claimed, clean, exactly, factor, harmless, is_control, rough_range
from truebest.errors import InvalidInputError
from truebest.experiment.names import check_name

ACTING = "\x00\x07\x1b\r\n\t\x7f\x9b\u2028\u2029\ud800"
TURNING = "\u061c\u200e\u202e\u2067"
FAMILY = "\U0001f469\u200d\U0001f469"
SPACES = "\u00a0\u3000"


def test_what_acts_is_never_printed() -> None:
    """By none of the three, which differ in what else they keep."""
    for text in (
        harmless(ACTING + TURNING),
        harmless(ACTING + TURNING, strict=True),
        clean(ACTING + TURNING),
    ):
        assert text == "?" * len(ACTING + TURNING)


def test_each_keeps_what_its_reader_needs() -> None:
    """Names as they are; messages with what can be seen; columns of a known width."""
    text = f"é 漢 {FAMILY}{SPACES}\ue000"
    assert harmless(text) == text
    assert harmless(text, strict=True) == f"é 漢 {FAMILY.replace(chr(0x200D), '?')}  ?"
    assert clean(text) == f"é 漢 {FAMILY.replace(chr(0x200D), '')}  ?"
    assert clean("é 漢", ascii_only=True) == "\\xe9 \\u6f22"


@pytest.mark.parametrize("character", ACTING)
def test_names_are_refused_for_the_same_characters(character: str) -> None:
    """What is replaced in every text is allowed in no name; what only turns the direction is."""
    assert is_control(character)
    with pytest.raises(InvalidInputError, match=f"U\\+{ord(character):04X}"):
        check_name("an arm", f"a{character}b")
    assert check_name("an arm", f"a{TURNING}b")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1234567.0, "1234567"),
        (0.7 * 0.05, "0.034999999999999996"),
        (-0.0, "0"),
        (-0.02, "-0.02"),
        (1e-5, "0.00001"),
        (5, "5"),
        (1e300, "1e+300"),
    ],
)
def test_a_number_of_a_claim_is_that_number(number: float, text: str) -> None:
    """No digit is lost: what is read from the words is what was proven."""
    assert exactly(number) == text
    assert float(text) == number


def test_a_range_to_two_digits_contains_what_it_stands_for() -> None:
    """A forecast lies between its own ends."""
    assert rough_range(9, 233) == (9, 240)
    assert rough_range(0, 100) == (0, 100)
    for low in range(1500):
        least, most = rough_range(low, low)
        assert least <= low <= most


def test_a_factor_has_all_digits_of_its_tolerance() -> None:
    """And no more, though 1 + 0.14 is 1.1400000000000001 in doubles."""
    assert [factor(one) for one in (0.05, 0.14, 0.012345678, 1.0, 0)] == [
        "1.05",
        "1.14",
        "1.012345678",
        "2",
        "1",
    ]


def test_a_claim_has_the_digits_that_were_given() -> None:
    """All of them; a fraction that no decimal is has six, rounded so that what is claimed stays true."""
    assert claimed(0.1 + 0.2) == "0.30000000000000004"
    part = Fraction(95, 3000)
    assert [claimed(one) for one in (0.02, -0.05, 0.012345678, 0.0)] == ["0.02", "-0.05", "0.012345678", "0"]
    assert (claimed(part, up=True), claimed(part)) == ("0.0316667", "0.0316666")
    assert (claimed(-part, up=True), claimed(-part)) == ("-0.0316666", "-0.0316667")
