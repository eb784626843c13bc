"""No file over 600 lines and no function over 60, but for a stated reason; and no test file hides another."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import truebest

SOURCE = Path(truebest.__file__).parent
FILE_LINES, FUNCTION_LINES = 600, 60

# What may be longer, and why. An entry that is no longer needed must go: the tests say so.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}


def file_lines() -> dict[str, int]:
    """How many lines each file has, without the tables of arguments in its docstrings."""
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")]
    return {
        path.relative_to(SOURCE).as_posix(): len(path.read_text().splitlines())
        - sum(table_lines(node) for node in ast.walk(ast.parse(path.read_text())))
        for path in files
    }


def table_lines(node: ast.AST) -> int:
    """How many lines of a docstring are about arguments and what comes of them, one by one."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return 0
    lines = (ast.get_docstring(node, clean=False) or "").splitlines()
    heads = [at for at, line in enumerate(lines) if line.strip() and not line.strip(" -")]
    return len(lines) - heads[0] if heads else 0


def function_lines() -> Iterator[tuple[str, int]]:
    """How many lines each function has from `def` to its end, less those tables, with nested functions."""
    for name in file_lines():
        for node in ast.walk(ast.parse((SOURCE / name).read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{name}:{node.name}", node.end_lineno - node.lineno + 1 - table_lines(node)


def test_no_file_is_too_long() -> None:
    """A person who opens a file can read it whole; and every exception is one."""
    found = file_lines()
    assert len(found) > 80
    assert {name for name, lines in found.items() if lines > FILE_LINES} == set(LONG_FILES)


def test_no_function_is_too_long() -> None:
    """A function fits on a screen; and every exception is one."""
    found = list(function_lines())
    assert len(found) > 500
    assert {name for name, lines in found if lines > FUNCTION_LINES} == set(LONG_FUNCTIONS)


def test_every_exception_says_why() -> None:
    """In words."""
    assert all(len(reason.split()) >= 4 for reason in [*LONG_FILES.values(), *LONG_FUNCTIONS.values()])


def test_no_two_files_of_tests_have_the_same_name() -> None:
    """pytest would import one and not run the other: their folders are no packages."""
    names = Counter(path.name for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert len(names) > 100
    assert [name for name, files in names.items() if files > 1] == []


def test_the_tests_of_a_folder_are_found_under_its_name() -> None:
    """tests/unit has folders of the source only, and most of its files stand in one."""
    unit = Path(__file__).parents[1] / "unit"
    files = [path.relative_to(unit) for path in unit.rglob("test_*.py")]
    assert [file for file in files if not (SOURCE / file.parent).is_dir()] == []
    assert sum(file.parent == Path() for file in files) < len(files) / 10
