"""What may import what, and that no module reaches into another one's private parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import truebest

SOURCE = Path(truebest.__file__).parent
# A part may import those named here and, in turn, what they may import; nothing else of truebest.
DIRECTLY_BELOW: dict[str, tuple[str, ...]] = {
    "errors": (),
    "_catalogue": (),
    "_args": ("errors",),
    "_files": (),
    "_former_name": (),
    "_html": (),
    "_page_style": (),
    "_records": ("errors",),
    "_signature": (),
    "_text": (),
    "kernels": (),
    "questions": ("kernels", "_args", "_text"),
    "theory": (
        "questions",
        *("kernels", "_catalogue", "_args", "_files", "_former_name", "_html", "_page_style"),
        *("_records", "_signature", "_text"),
    ),
    "strategies": ("theory",),
    "designs": ("strategies",),
    "simulation": ("designs",),
    "telling": ("designs",),
    "experiment": ("telling",),
    "testing": ("simulation", "experiment"),
    "plots": ("simulation", "telling"),
    "studies": ("plots",),
    "running": ("experiment", "plots"),
    "remote": ("running",),
    "server": ("running",),
    "cli": ("running", "server", "studies"),
    "__init__": ("simulation", "studies", "running", "remote"),
    "__main__": ("cli",),
}
OF_TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # every NamedTuple has them; they are not private


def below(part: str) -> set[str]:
    """What a part may import."""
    found = set(DIRECTLY_BELOW[part])
    return found.union(*map(below, found))


def part_of(path: Path, source: Path) -> str:
    return path.relative_to(source).parts[0].removesuffix(".py")


@cache
def nodes(text: str) -> list[ast.AST]:
    """All of a file's; copies of the source have nearly the same files."""
    return list(ast.walk(ast.parse(text)))


def imports(path: Path, source: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Everything that a file imports of truebest, at any depth: the module's path below it, the name."""
    package = ("truebest", *path.relative_to(source).parent.parts)
    for node in nodes(path.read_text()):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            if module[:1] == ("truebest",):
                yield from ((module[1:], alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "truebest":
                    yield tuple(alias.name.split(".")[1:]), ""


def forbidden_imports(source: Path) -> list[str]:
    """'file imports part' for everything that points the wrong way."""
    found = []
    for path in sorted(source.rglob("*.py")):
        part = part_of(path, source)
        for module, name in imports(path, source):
            other = module[0] if module else name
            if other not in ("", "__version__", part) and other not in below(part):
                found.append(f"{path.relative_to(source)} imports {other}")
    return found


def private_names(path: Path) -> set[str]:
    """Names with one leading underscore that a file defines: functions, classes, variables, attributes."""
    found: set[str] = set()
    for node in nodes(path.read_text()):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return {name for name in found if is_private(name)}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OF_TUPLES


def reaches(source: Path) -> list[str]:
    """'file uses name' for every private name of another module of truebest that a file uses.

    A private module (`_args`, `_base`) is private to truebest: the others may import it, but nothing private
    from it. A class may use what it inherits, through self, cls and super().
    """
    defined = {path: private_names(path) for path in source.rglob("*.py")}
    everywhere = set().union(*defined.values())
    found = []
    for path, own in sorted(defined.items()):
        used = {
            node.attr
            for node in nodes(path.read_text())
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls", "super()")
        }
        reached = used & everywhere - own
        for module, name in imports(path, source):
            folder = source.joinpath(*module)
            if is_private(name) and not (folder / f"{name}.py").exists() and not (folder / name).is_dir():
                reached.add(name)
        found += [f"{path.relative_to(source)} uses {name}" for name in sorted(reached)]
    return found


def test_imports_follow_the_partial_order() -> None:
    """kernels -> theory -> strategies -> designs -> simulation | experiment -> plots -> running -> cli."""
    assert {part_of(path, SOURCE) for path in SOURCE.rglob("*.py")} == set(DIRECTLY_BELOW)
    assert sum(1 for path in SOURCE.rglob("*.py") for _ in imports(path, SOURCE)) > 300
    assert forbidden_imports(SOURCE) == []


def test_simulation_and_experiment_do_not_know_each_other() -> None:
    """The order is partial: neither they nor studies and running are on top of one another."""
    for one, other in (
        ("simulation", "experiment"),
        ("studies", "experiment"),
        ("studies", "running"),
        ("running", "studies"),
    ):
        assert other not in below(one)
    assert "simulation" not in below("experiment")
    assert all("kernels" in below(part) for part in ("theory", "strategies", "simulation", "experiment"))


def test_no_module_reaches_into_another() -> None:
    """No private name of a module is used by another one."""
    assert reaches(SOURCE) == []


@pytest.mark.parametrize(
    ("file", "line", "part"),
    [
        ("simulation/new.py", "from ..experiment.state import State", "experiment"),
        ("experiment/new.py", "from ..simulation import engine", "simulation"),
        ("experiment/new.py", "from .. import running", "running"),
        ("experiment/store/new.py", "from ...running.run import Run", "running"),
        ("studies/paper/new.py", "from ...experiment.settings import Settings", "experiment"),
        ("running/new.py", "from ..studies.ledger import Ledger", "studies"),
        ("theory/new.py", "def f(): from truebest.strategies import EBS", "strategies"),
        ("kernels/new.py", "import truebest.theory.stopping", "theory"),
        ("running/new.py", "from ..testing import check_store", "testing"),
        ("testing/new.py", "from ..running.run import Run", "running"),
        ("_text.py", "from .kernels import best", "kernels"),
    ],
)
def test_a_wrong_import_would_be_found(tmp_path: Path, file: str, line: str, part: str) -> None:
    """The negative control: each of these lines, added to a copy of the source, is found and nothing else."""
    copy_source(tmp_path, file, line)
    assert forbidden_imports(tmp_path) == [f"{file} imports {part}"]


@pytest.mark.parametrize(
    ("file", "line", "name"),
    [
        ("running/new.py", "def f(experiment): return experiment._journal", "_journal"),
        ("running/new.py", "from ..experiment.journal import Turn\nTurn._of_pull(None)", "_of_pull"),
        ("cli/new.py", "from ..running.run import _functions", "_functions"),
        ("theory/new.py", "from .. import _args\n_args._first([])", "_first"),
        ("cli/new.py", "from .._args import _first", "_first"),
    ],
)
def test_a_reach_would_be_found(tmp_path: Path, file: str, line: str, name: str) -> None:
    """The negative control: attributes of an object, of a class, of a module, and imports."""
    copy_source(tmp_path, file, line)
    assert reaches(tmp_path) == [f"{file} uses {name}"]


def copy_source(target: Path, file: str, line: str) -> None:
    for path in SOURCE.rglob("*.py"):
        copy = target / path.relative_to(SOURCE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    with (target / file).open("a") as out:
        out.write(f"\n{line}\n")
