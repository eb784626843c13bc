"""What cannot be seen: one place knows which characters act on a terminal, and what is shown instead."""

from __future__ import annotations

import pytest

from truebest._text import clean, harmless, is_control
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
