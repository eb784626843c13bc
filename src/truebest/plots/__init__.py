"""Pictures, one function each: data in, a Matplotlib figure out. Needs the extra `truebest[plots]`.

Figures are made without pyplot: they belong to no window and no list of open figures, and whichever backend
the user has chosen stays.
"""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InvalidInputError


def new_figure(width: float, height: float) -> Any:
    """An empty Matplotlib figure that a notebook shows, or a sentence that says how to get Matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInputError(
            "pictures need Matplotlib, which is not installed; install truebest[plots]."
        ) from None
    figure = Figure(figsize=(width, height), layout="constrained")
    figure._repr_png_ = partial(png, figure)  # type: ignore[attr-defined]
    return figure


def png(figure: Any) -> bytes:
    """As a page shows it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()


def save(figure: Any, path: Path) -> list[Path]:
    """As SVG and as PNG; returns the files."""
    from matplotlib import rc_context

    files = [path.with_suffix(".svg"), path.with_suffix(".png")]
    with rc_context({"svg.hashsalt": "truebest"}):  # the same data give the same file
        figure.savefig(files[0], metadata={"Date": None})
    figure.savefig(files[1], dpi=120, pil_kwargs={"optimize": True})
    return files
