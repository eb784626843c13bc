"""Pictures, one function each: data in, a Matplotlib figure out. Needs the extra `bestarm[plots]`."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import InvalidInputError


def pyplot() -> ModuleType:
    """Matplotlib without a window, or a sentence that says how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise InvalidInputError(
            "pictures need Matplotlib, which is not installed; install bestarm[plots]."
        ) from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "bestarm"  # the same data give the same file
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, path: Path) -> list[Path]:
    """As SVG and as PNG; returns the files."""
    files = [path.with_suffix(".svg"), path.with_suffix(".png")]
    figure.savefig(files[0], metadata={"Date": None})
    figure.savefig(files[1], dpi=120, pil_kwargs={"optimize": True})
    pyplot().close(figure)
    return files
