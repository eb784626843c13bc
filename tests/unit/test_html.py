"""Tables as HTML: text is data, cells that are HTML go in as they are."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from truebest._html import Cell, table

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
)


@given(header=st.lists(TEXT, min_size=1, max_size=3), rows=st.lists(st.lists(TEXT, max_size=3), max_size=3))
def test_text_comes_back_and_is_never_markup(header: list[str], rows: list[list[str]]) -> None:
    """Letter for letter, with as many cells as were given."""
    root = ElementTree.fromstring(table(header, rows))
    assert [cell.text or "" for cell in root.findall("thead/tr/th")] == header
    found = [[cell.text or "" for cell in row.findall("td")] for row in root.findall("tbody/tr")]
    assert found == rows


def test_a_cell_may_be_html() -> None:
    """With attributes of its own, among titles and among values."""
    page = table(
        ["a", Cell("<b>b</b>", "class='text'")], [["<i>", Cell("<i>x</i>", "colspan='2'"), Cell("")]]
    )
    assert page == (
        "<table><thead><tr><th>a</th><th class='text'><b>b</b></th></tr></thead>"
        "<tbody><tr><td>&lt;i&gt;</td><td colspan='2'><i>x</i></td><td></td></tr></tbody></table>"
    )
