"""Pictures of what is found here; they are drawn in `truebest.plots`, which is above, and found by name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .. import _html


def picture(shown: object) -> Any:
    """A Matplotlib figure of a simulation or a trace, by the function `draw` of the module named after it.

    Raises  InvalidInputError if Matplotlib is not installed
    """
    return import_module(f"truebest.plots.{type(shown).__name__.lower()}").draw(shown)


def picture_in_html(shown: object) -> str:
    """The same for a page; nothing where Matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return ""
    data: bytes = import_module("truebest.plots").png(picture(shown))
    return _html.image(data, type(shown).__name__)
