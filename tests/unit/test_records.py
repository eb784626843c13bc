"""Comma-separated values: what goes in comes out, and nothing in them is a formula."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truebest._records import csv_text

FORMULA = tuple("=+-@\t\r\n＝＋－＠")
TEXT = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("=+-@'\"\t\r\n,; ")), max_size=8)
VALUES = st.one_of(TEXT, st.floats(allow_nan=False), st.integers(), st.booleans(), st.none())


def read(cell: str, like: Any) -> Any:
    """A cell back as a value of that type, by the rules that the guide gives to readers."""
    if like is None:
        return None if cell == "" else cell
    if isinstance(like, str):
        return cell.removeprefix("'")
    return json.loads(cell) if isinstance(like, bool) else type(like)(cell)


@given(rows=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5))
def test_cells_come_back_and_no_text_begins_like_a_formula(rows: list[tuple[Any, Any]]) -> None:
    """Texts letter for letter, numbers bit for bit."""
    text = csv_text([{"one": one, "two": two} for one, two in rows])
    header, *found = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert header == ["one", "two"]
    assert [tuple(map(read, cells, row)) for cells, row in zip(found, rows, strict=True)] == rows
    for cells, row in zip(found, rows, strict=True):
        for cell, value in zip(cells, row, strict=True):
            assert not (isinstance(value, str) and cell.startswith(FORMULA))


def test_numbers_stay_numbers() -> None:
    """A negative number is no formula; NumPy's are written like Python's."""
    row = {"a": -0.5, "b": -3, "c": np.float64(-1e-300), "d": np.bool_(True), "e": "-0.5", "f": [1, "=x"]}
    assert csv_text([row]) == 'a,b,c,d,e,f\n-0.5,-3,-1e-300,true,\'-0.5,"[1, ""=x""]"\n'


def test_a_semicolon_does_not_begin_another_cell() -> None:
    """Some spreadsheets cut there unless the cell is quoted."""
    assert csv_text([{"a": "x;=1+1"}]) == 'a\n"x;=1+1"\n'
