"""Pages, tables and images for people and notebooks. Text is escaped here, so that no caller forgets to."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple


class Cell(NamedTuple):
    """A cell that is more than text.

    html        put into the table as it is
    attributes  of the cell, like "class='text'"
    """

    html: str
    attributes: str = ""


POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no script, and no request


def whole_page(title: str, parts: Iterable[str], style: str) -> str:
    """A whole page that stands by itself; its parts are put into it as they are."""
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{style}</style>"
    )
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def table(header: Sequence[str | Cell], rows: Iterable[Sequence[str | Cell]]) -> str:
    """A table with one row of titles; a text is escaped, a `Cell` is not."""
    body = "".join(_row("td", row) for row in rows)
    return f"<table><thead>{_row('th', header)}</thead><tbody>{body}</tbody></table>"


def image(png: bytes, text: str) -> str:
    """A PNG that stands in the page itself; the text is for those who do not see it."""
    return f'<img alt="{escape(text)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def _row(tag: str, cells: Sequence[str | Cell]) -> str:
    return f"<tr>{''.join(_cell(tag, cell) for cell in cells)}</tr>"


def _cell(tag: str, cell: str | Cell) -> str:
    text, attributes = cell if isinstance(cell, Cell) else Cell(escape(cell))
    return f"<{tag} {attributes}>{text}</{tag}>" if attributes else f"<{tag}>{text}</{tag}>"
