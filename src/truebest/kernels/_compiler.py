"""Machine code of kernels, made when it is first needed. All that reaches into Numba's internals is here.

A caller needs only the declared signature of a kernel to be typed, and only its LLVM code to be compiled.
So a kernel becomes machine code, which is kept on disk, only when Python calls it; for its callers it is LLVM
code (`Part`), which is made once and linked into each. The program of a caller is then optimised as a whole,
and once.

Where Numba has changed so much that this fails, `_jit` compiles plainly instead.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import sys
from importlib import import_module
from types import FunctionType
from typing import Any

from . import _cache
from ._jit import OPTIONS, Kernel, folder, parse
from ._numba import waiting
from ._specialise import NONE_KNOWN, Known, made_for

# Numba's own types say less than what is used here
numba: Any = import_module("numba")
llvmlite: Any = import_module("llvmlite")
compiler: Any = import_module("numba.core.compiler")
caching: Any = import_module("numba.core.caching")
codegen: Any = import_module("numba.core.codegen")
registry: Any = import_module("numba.core.registry")
serialize: Any = import_module("numba.core.serialize")
typing: Any = import_module("numba.core.typing")
lock: Any = import_module("numba.core.compiler_lock").global_compiler_lock


class Part(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The LLVM code of a kernel for its callers, which link what it calls, too."""

    _merged: Any = None

    def _ensure_finalized(self) -> None:
        """Nothing: it is optimised as a part of what it is linked into."""

    def _get_module_for_linking(self) -> Any:
        """It and all that it calls; callers first, for LLVM skips what nothing linked so far refers to."""
        if self._merged is None:
            ended: dict[Any, None] = {}

            def visit(library: Any) -> None:
                if library not in ended and isinstance(library, Part):
                    for one in library._linking_libraries:
                        visit(one)
                ended.setdefault(library)

            visit(self)
            _, *called = reversed(ended)
            self._merged = self._own().clone()
            for one in called:
                module = one._own() if isinstance(one, Part) else one._get_module_for_linking()
                self._merged.link_in(module, preserve=True)
        return self._merged

    def _own(self) -> Any:
        return super()._get_module_for_linking()


class Machine(registry.CPUDispatcher):  # type: ignore[misc]
    """A kernel in a group, as Numba calls it: for the one signature that it declares."""

    def __init__(self, kernel: Kernel, group: Group) -> None:
        flags = {
            "fastmath": {"reassoc"} if kernel.reorder and group.reorder else False,
            "forceinline": not (kernel.reorder or kernel.apart),
        }
        options = {"nopython": True, "boundscheck": None, **OPTIONS, **flags}
        super().__init__(kernel.py_func, targetoptions=options)
        self.kernel, self.group, self.declared = kernel, group, parse(kernel.signature)
        self._compiler._get_implementation = lambda *_: self._made()
        self._cache = Kept(folder(), self.declared, kernel.__module__, kernel.__qualname__, group.name)
        self._part: object = None

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """A caller is typed by the signature alone."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        name = self.py_func.__name__
        template = typing.make_concrete_template(f"CallTemplate({name})", name, [self.declared])
        return template, pysig, args, {}

    def get_overload(self, _: Any) -> Any:
        """What the compiler finds the LLVM code by."""
        with lock:
            if self._part is None:
                flags = compiler.Flags()
                self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
                flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
                library = Part(self.targetctx.codegen(), self.py_func.__qualname__)
                made = compiler.compile_extra(
                    self.typingctx, self.targetctx, self._made(), self.declared.args,
                    self.declared.return_type, flags, {}, library=library,
                )  # fmt: skip
                part = object()
                self.targetctx.insert_user_function(part, made.fndesc, [library])
                self._part = part
            return self._part

    def compile(self, _: Any = None) -> Any:
        """Its machine code, for Python and for first-class functions."""
        with lock:
            if not self.overloads:
                with contextlib.ExitStack() as stack:
                    if not self.is_kept():
                        stack.enter_context(waiting())
                        stack.enter_context(_cache.alone(self._cache.place, self._cache.name))
                    super().compile(self.declared)  # or load what another process has made meanwhile
                self.disable_compile()  # from now on whatever converts to the signature is accepted
            return self.overloads[tuple(self.declared.args)].entry_point

    def is_kept(self) -> bool:
        """Whether it is there without a compiler."""
        return bool(self.overloads) or _cache.load(self._cache.place, self._cache.name) is not None

    def get_compile_result(self, sig: Any) -> Any:
        self.compile()
        return super().get_compile_result(sig)

    def _made(self) -> FunctionType:
        """The function with what the group knows, calling others of the group."""
        plain, known = self.kernel.py_func, self.group.known
        if known != NONE_KNOWN:
            plain = made_for(plain, known)
        space = dict(plain.__globals__)
        for name in plain.__code__.co_names:
            if isinstance(space.get(name), Kernel):
                space[name] = self.group.of(space[name])
        made = FunctionType(plain.__code__, space, plain.__name__)
        # Symbols must differ between groups: code of several may be loaded, and made in several processes.
        made.__module__, made.__qualname__ = plain.__module__, f"{plain.__qualname__}_{self.group.name}"
        return made


class Group:
    """Kernels that know the same and call each other; a kernel is compiled at most once in each.

    known    what is put in place of parameters and arguments
    reorder  whether sums may be reordered where kernels permit it
    """

    def __init__(self, known: Known, reorder: bool) -> None:
        self.known, self.reorder = known, reorder
        self.name = hashlib.sha256(repr((known, reorder)).encode()).hexdigest()[:12]
        self._machines: dict[Kernel, Machine] = {}

    def of(self, kernel: Kernel) -> Machine:
        """The kernel in this group, not compiled yet."""
        if self.reorder and self.known == NONE_KNOWN and not kernel.reorders:
            return group(NONE_KNOWN, False).of(kernel)  # which is the same
        with lock:
            if kernel not in self._machines:
                self._machines[kernel] = Machine(kernel, self)
            return self._machines[kernel]


_GROUPS: dict[tuple[Known, bool], Group] = {}


def group(known: Known, reorder: bool) -> Group:
    """The group of those that know this."""
    return _GROUPS.setdefault((known, reorder), Group(known, reorder))


class Kept(caching.NullCache):  # type: ignore[misc]
    """Where machine code is kept: in a file that is written whole or not at all, and checked when it is read.

    Its name says what it was made by and for; what it was made of is said by the folder's.
    """

    def __init__(self, place: str, signature: Any, *names: str) -> None:
        tuned = registry.cpu_target.target_context.codegen().magic_tuple()
        made_by = (sys.version, numba.__version__, llvmlite.__version__, tuned)
        digest = hashlib.sha256(repr((made_by, str(signature), *names)).encode()).hexdigest()
        self.place, self.name = place, f"{names[1].rpartition('.')[2]}-{digest[:24]}"

    @property
    def cache_path(self) -> str:
        return self.place

    def load_overload(self, _: Any, target_context: Any) -> Any:
        """What was kept; None if nothing was, if it is damaged, or if it refers to what is gone."""
        target_context.refresh()
        with contextlib.suppress(Exception):
            if data := _cache.load(self.place, self.name):
                return compiler.CompileResult._rebuild(target_context, *pickle.loads(data))
        return None

    def save_overload(self, _: Any, result: Any) -> None:
        with contextlib.suppress(Exception):  # what cannot be kept is compiled again
            if self.place and not result.library.has_dynamic_globals:
                _cache.save(self.place, self.name, serialize.dumps(result._reduce()))


def kept(function: FunctionType, signature: str, place: str) -> tuple[Any, bool]:
    """A user's kernel for one signature, and whether it is there without a compiler."""
    made: Any = numba.njit(**OPTIONS)(function)
    declared = parse(signature)
    made._cache = Kept(place, declared, function.__module__, function.__qualname__)
    found = made._cache.load_overload(declared, made.targetctx)
    if found is not None:
        made._cache_hits[declared] += 1
        made.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
        made.add_overload(found)
        made.disable_compile()
    return made, found is not None


def make(kept: Any, signature: str) -> None:
    """Compile a user's kernel that was not there, unless another process has done so meanwhile."""
    with waiting(), _cache.alone(kept._cache.place, kept._cache.name):
        kept.compile(parse(signature))
    kept.disable_compile()
