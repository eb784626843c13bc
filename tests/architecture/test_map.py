"""What docs/design.md says of where things are is so: its files exist, and have the names that it gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import truebest

SOURCE = Path(truebest.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "design.md").read_text()
FILE = re.compile(r"`((?:\w+/)+\w+\.(?:py|js)|_catalogue\.py)`((?:(?::|,) `\w+`)*)")


def defined(path: Path) -> set[str]:
    """The names that a module has at its top level."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {name.id for one in targets if one for name in ast.walk(one) if isinstance(name, ast.Name)}
    return found


def missing(text: str) -> Iterator[str]:
    """Files, and names in files, that are not where a text says; NAME stands for what is to be added."""
    for file, names in FILE.findall(text):
        path = SOURCE / file
        if "NAME" in file:
            continue
        if not path.exists():
            yield file
        elif names:
            yield from (
                f"{file}: {name}" for name in re.findall(r"`(\w+)`", names) if name not in defined(path)
            )


def test_everything_is_where_the_map_says() -> None:
    """Its two tables."""
    tables = PAGE[PAGE.index("## Where is ...?") : PAGE.index("## A run is a value")]
    assert len(FILE.findall(tables)) > 60
    assert list(missing(tables)) == []


def test_what_has_moved_is_found() -> None:
    """The negative control."""
    text = "`telling/words.py`: `claim`, `gone`; `kernels/nowhere.py`: `claim`; `strategies/NAME.py`"
    assert list(missing(text)) == ["telling/words.py: gone", "kernels/nowhere.py"]
