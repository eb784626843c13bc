"""The stub is the one list of public names: what it says is importable, and what type checkers see."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import truebest

SOURCE = Path(truebest.__file__).parent
ROOT = Path(__file__).parents[2]


def in_the_stub() -> dict[str, str]:
    """Public names and their modules, as Python's own parser reads the stub."""
    tree = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 1, "a public name is of this package"
            for alias in node.names:
                assert alias.asname == alias.name, "without `as` a type checker would not see it"
                found[alias.name] = f"truebest.{node.module}"
    return found


def test_the_stub_and_what_is_importable_agree() -> None:
    """Every name of the stub is there, is what its module has, and is listed; nothing else is."""
    stub = in_the_stub()
    assert len(stub) > 40
    for name, module in stub.items():
        assert getattr(truebest, name) is getattr(import_module(module), name)
    assert dir(truebest) == sorted([*stub, "__version__"])
    everything: dict[str, object] = {}
    exec("from truebest import *", everything)
    assert set(dir(truebest)) == set(everything) - {"__builtins__"}


def test_what_is_not_public_is_no_attribute() -> None:
    """Neither a name that nobody has heard of nor one that a module has for itself."""
    for name in ("no_such_name", "__no_such_name__", "find_strategy"):
        with pytest.raises(AttributeError, match=f"module 'truebest' has no attribute '{name}'"):
            getattr(truebest, name)


@pytest.mark.slow
def test_a_type_checker_sees_every_name(tmp_path: Path) -> None:
    """In strict mode: every public name with its type, and no other."""
    lines = [
        "import truebest",
        *(f"reveal_type(truebest.{name})" for name in dir(truebest)),
        "truebest.no_such",
    ]
    script = tmp_path / "every_public_name.py"
    script.write_text("\n".join(lines))
    command = [sys.executable, "-m", "mypy", "--config-file=pyproject.toml", str(script)]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    # Under the name, not the path: mypy's cache may know the same script by an earlier one.
    said = re.findall(rf"^.*{script.name}:(\d+): (note|error): (.*)$", checked.stdout, re.MULTILINE)
    types = [text for _, kind, text in said if kind == "note" and text.startswith("Revealed type is")]
    assert len(types) == len(dir(truebest)), checked.stdout + checked.stderr
    assert 'Revealed type is "Any"' not in types
    assert [(line, text) for line, kind, text in said if kind == "error"] == [
        (str(len(lines)), 'Module has no attribute "no_such"  [attr-defined]')
    ]


def test_the_old_name_of_a_function_works_and_warns() -> None:
    """`truebest.g` of version 0.1: the same numbers, and a warning at the caller that names the new one."""
    means, weights = [0.9, 0.8, 0.4], [0.5, 0.4, 0.1]
    with pytest.warns(DeprecationWarning, match=r"call truebest\.evidence_rate") as warned:
        assert truebest.g(means, weights) == truebest.evidence_rate(means, weights)
    assert [one.filename for one in warned] == [__file__]


def test_arguments_are_explained_in_the_form_that_editors_read() -> None:
    """Sections of numpydoc, for public functions, classes and their methods, and no tables made of blanks."""
    table, sections = re.compile(r"^[a-z_]\w*(?:, [a-z_.]+)*  +\S"), 0
    for name in dir(truebest):
        shown = getattr(truebest, name)
        parts = vars(shown).items() if isinstance(shown, type) else ()
        for what in [shown, *(part for key, part in parts if not key.startswith("_"))]:
            lines = (inspect.getdoc(what) or "").splitlines()
            sections += "Parameters" in lines
            assert not [line for line in lines if table.match(line)], f"{name}: {what}"
    assert sections > 30
