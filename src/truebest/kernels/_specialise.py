"""A kernel made for what is known beforehand: the model, the rule, the kind of rewards.

Every branch that is not taken costs seconds of compilation, and a GPU pays for it in registers, too. So the
loops over runs are made anew for each model and rule: in the source of a kernel, the places of `params` whose
values are known become numbers, and the compiler drops what they rule out. So there is one source, and no
second version of anything to keep in step.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import textwrap
from collections.abc import Collection, Mapping
from types import CodeType, FunctionType
from typing import NamedTuple

ARRAY = "params"  # what kernels call the array


class Known(NamedTuple):
    """What is known of the arguments of kernels.

    places    values of `params`, by the name of the place: ("RULE", 0.0)
    names     values of arguments, by their names, of the functions that take them: ("family", 0)
    positive  places that are known to be above 0, and no more
    """

    places: tuple[tuple[str, float], ...] = ()
    names: tuple[tuple[str, int], ...] = ()
    positive: tuple[str, ...] = ()


NONE_KNOWN = Known()


def made_for(function: FunctionType, known: Known) -> FunctionType:
    """The same function, in which some of what it is told has become numbers."""
    taken = inspect.signature(function).parameters
    names = {name: value for name, value in known.names if name in taken}
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    body = tree.body[0]
    assert isinstance(body, ast.FunctionDef)
    body.decorator_list = []
    tree = ast.fix_missing_locations(_Specialiser(dict(known.places), names, known.positive).visit(tree))
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    file, flags = function.__code__.co_filename, __future__.annotations.compiler_flag
    module = compile(tree, file, "exec", flags=flags, dont_inherit=True)
    codes = (part for part in module.co_consts if isinstance(part, CodeType))
    code = next(part for part in codes if part.co_name == body.name)  # not that of its annotations
    made = FunctionType(code, function.__globals__, function.__name__)
    made.__module__ = function.__module__
    return made


class _Specialiser(ast.NodeTransformer):
    """Puts numbers in place of what is known, and drops the branches that they rule out."""

    def __init__(
        self, places: Mapping[str, float], names: Mapping[str, int], positive: Collection[str]
    ) -> None:
        self.places, self.names, self.positive = places, names, positive

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        known = self.places.get(_place(node))
        return node if known is None else ast.copy_location(ast.Constant(known), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        match node:
            case ast.Compare(left, [ast.Gt()], [ast.Constant(0.0)]) if _place(left) in self.positive:
                return ast.copy_location(ast.Constant(True), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Constant(self.names[node.id]), node)
        return node


def _place(node: ast.expr) -> str:
    """The name of the place if this is `params[NAME]`, else empty."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Name):
        return ""
    return node.slice.id if isinstance(node.value, ast.Name) and node.value.id == ARRAY else ""
