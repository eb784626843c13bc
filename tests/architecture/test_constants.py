"""Constants of kernels: one name, one number."""

from __future__ import annotations

import ast
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

from truebest import kernels

FOLDER = Path(kernels.__file__).parent


def constants() -> dict[str, dict[str, Any]]:
    """The upper-case names that kernels define, and what each module that defines one makes of it."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for path in sorted(FOLDER.rglob("*.py")):
        parts = path.relative_to(FOLDER).with_suffix("").parts
        module = ".".join([kernels.__name__, *parts]).removesuffix(".__init__")
        for line in ast.parse(path.read_text()).body:
            for node in ast.walk(line) if isinstance(line, ast.Assign | ast.AnnAssign) else ():
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.isupper():
                    found[node.id][module] = getattr(import_module(module), node.id)
    return found


def misleading(found: dict[str, dict[str, Any]]) -> set[str]:
    """The names with several meanings of which one is a place or a code: a wrong import would still run."""
    return {
        name
        for name, meanings in found.items()
        if any(isinstance(one, int) for one in meanings.values())
        and len(set(map(repr, meanings.values()))) > 1
    }


def test_no_place_or_code_shares_its_name() -> None:
    """A row, a place in `params` and a code have names that mean nothing else in another kernel."""
    found = constants()
    assert len(found) > 150
    assert misleading(found) == set()


def test_names_with_several_meanings_are_found() -> None:
    """Another place, a label of the same value, and a bound; the same place is allowed, as are two bounds."""
    found = constants()
    found["LEVEL"]["other"], found["ROWS"]["other"], found["OWN"]["other"] = 0, 9.0, 0.5
    found["OUT"]["other"], found["FARTHEST"]["other"] = found["OUT"]["truebest.kernels.layout"], 1e9
    assert misleading(found) == {"LEVEL", "ROWS", "OWN"}
