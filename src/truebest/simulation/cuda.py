"""The same runs on a GPU: the kernels made again as device functions, for one model, rule and strategy.

No strategy, rule, model or generator is written twice: `kernels._jit.twins` makes every kernel again from
its source, and `kernels._specialise` puts in what is known beforehand, so that a GPU's program has no branch
that its runs never take. Arithmetic rounds as it does on a processor (nothing is fused); logarithms and
exponentials may differ in the last bit.

Runs are done in launches of about a second, or longer where single runs take long; their size is bounded by
memory. A launch can be cancelled: what is complete up to the first incomplete run is kept.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import InvalidInputError, TruebestError
from ..kernels import best, layout, rules, steps
from ..kernels._jit import twins
from ..kernels._numba import ENABLED, available
from ..kernels._specialise import made_for
from ..kernels.tracking import leading_arm
from . import engine
from .job import Job, bad_action
from .progress import Reporter
from .runs import Collected
from .special import known_of
from .threads import interruptible
from .work import Part

THREADS = 128  # lanes of a block
RESIDENT = 2048  # lanes that a multiprocessor can hold
LOCAL = 2**19 - 2**14  # bytes of a lane's own arrays: half a MiB, less what the compiler needs besides
LAUNCH_BYTES = 2**29  # for the results of one launch
LAUNCH_SECONDS = 1.0  # how long a launch should take, see `runs_for`
LOOK, WAIT = 0.1, 0.005  # seconds between two looks at how far a launch is, and at whether it has ended

PROGRAMS: dict[tuple[object, ...], Program] = {}


def run_on_gpu(work: Sequence[Collected[Any]], reporter: Reporter) -> bool:
    """Do all runs, job by job; False if interrupted.

    Raises  InvalidInputError if there is no GPU, too many arms for it, or not a `Job`; TruebestError if it
            fails
    """
    if not all(isinstance(one.job, Job) for one in work):
        raise InvalidInputError(
            "device='cuda' does runs on independent samples, got rounds on common items; leave device out."
        )
    lanes = _load()
    programs = [_program(lanes, one.job) for one in work]
    for one, program in zip(work, programs, strict=True):
        signals = np.zeros((1, engine.SIGNALS), dtype=np.int64)
        launches = Launches(lanes, program, one, signals[0], reporter)
        if not interruptible([launches.run], signals, one.job.endless):
            return False
    return True


@dataclass
class Program:
    """A GPU's program for the jobs of one strategy, model, rule and number of arms.

    lanes  how many runs it does at a time
    users  whether the strategy is a function of a user's
    """

    kernel: Any
    lanes: int
    users: bool

    def launch(self, stream: Any, runs: int, arguments: tuple[Any, ...]) -> None:
        """Start it, with a lane for each run, up to as many as the GPU holds."""
        blocks = -(-min(runs, self.lanes) // THREADS)
        with _compiling(), warnings.catch_warnings():
            # A small grid is meant to be small; the simulator's arithmetic modulo 2**64 would warn
            warnings.simplefilter("ignore")
            self.kernel[blocks, min(THREADS, runs), stream](*arguments)


class Launches:
    """The runs of one job, launch by launch."""

    def __init__(
        self, lanes: Any, program: Program, work: Collected[Job], signals: Any, reporter: Reporter
    ) -> None:
        self.lanes, self.cuda, self.program = lanes, lanes.cuda, program
        self.work, self.signals, self.reporter = work, signals, reporter
        K, levels = work.job.problem.num_arms, len(work.job.deltas)
        self.most = max(1, LAUNCH_BYTES // (levels * 8 * (2 + K)))
        self.told = 0
        self.busy = self.taken = 0.0  # seconds of the last launch, see `runs_for`

    def run(self) -> None:
        """All of them, or until the signals cancel it; in a thread of its own."""
        job = self.work.job
        if self.program.users:
            job.part(self.work.first, 1, job.room(self.signals))  # first where indices are checked
        with _failures(job.strategy.name):
            stream, beside = self.cuda.stream(), self.cuda.stream()
            p = job.problem
            given = [
                np.ascontiguousarray(x) for x in (*p.source[1:], job.levels, job.params, job.blank, job.truth)
            ]
            nature, pool, levels, params, blank, truth = (
                self.cuda.to_device(x if x.size else np.zeros(1), stream=stream) for x in given
            )
            size = min(self.program.lanes, self.most)
            while not self.signals[engine.CANCEL]:
                first, runs = self.work.give(size)
                if runs <= 0:
                    return
                head = (job.strategy.stops_itself, first, np.uint64(job.seed), p.source[0], nature, pool)
                fixed = (*head, levels, float(p.max_samples), params, blank, truth)
                self.work.add(self._launch(first, runs, fixed, stream, beside))
                wanted = runs_for(runs, self.busy, self.taken)
                size = min(max(wanted, self.program.lanes), 4 * size, self.most)

    def _launch(self, first: int, runs: int, fixed: tuple[Any, ...], stream: Any, beside: Any) -> Part:
        """So many runs; fewer if it is cancelled."""
        cuda, job = self.cuda, self.work.job
        shape = (runs, len(job.deltas))
        samples, arms = (cuda.device_array(shape, dtype=np.int64, stream=stream) for _ in range(2))
        ended = cuda.device_array((*shape, job.problem.num_arms), dtype=np.float64, stream=stream)
        queue = cuda.to_device(np.zeros(self.lanes.PLACES, dtype=np.int64), stream=stream)
        end, start = cuda.event(), time.monotonic()
        self.program.launch(stream, runs, (*fixed, queue, samples, arms, ended))
        end.record(stream)
        handed_out = self._watch(end, runs, queue, beside)
        stream.synchronize()
        self.taken = time.monotonic() - start
        self.busy = min(handed_out - start, self.taken)
        found, answers = samples.copy_to_host(stream=stream), arms.copy_to_host(stream=stream)
        stream.synchronize()
        complete = self._prefix(first, found, answers, int(queue.copy_to_host()[self.lanes.NEXT]))
        total = cuda.to_device(np.zeros(ended.shape[1:]), stream=stream)
        if complete:
            blocks = -(-min(complete, 2**14) // THREADS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.lanes.add_up[blocks, THREADS, stream](ended, complete, total)
        pulls = total.copy_to_host(stream=stream)
        stream.synchronize()
        self._tell(self.work.runs + complete)
        return Part(first, found[:complete], answers[:complete], pulls)

    def _watch(self, end: Any, runs: int, queue: Any, beside: Any) -> float:
        """Wait for the end of a launch of so many runs; show how far it is, and pass on a cancellation.

        Returns when it was first seen that the last run was begun; inf if that was not before the end.
        """
        ended: Callable[[], bool] = getattr(end, "query", lambda: True)  # simulated, it has ended
        begun, waited, looked, cancelled = self.work.runs, 0.0002, time.monotonic(), False
        handed_out = math.inf
        while not ended():
            waited = min(2.0 * waited, WAIT)
            time.sleep(waited)
            if time.monotonic() - looked < LOOK:
                continue
            looked = time.monotonic()
            seen = queue.copy_to_host(stream=beside)
            beside.synchronize()
            if seen[self.lanes.NEXT] >= runs:
                handed_out = min(handed_out, looked)
            self.signals[engine.SAMPLES] = seen[self.lanes.LONGEST]
            self._tell(begun + int(seen[self.lanes.DONE]))
            if self.signals[engine.CANCEL] and not cancelled:
                raised = np.ones(1, dtype=np.int64)
                queue[self.lanes.CANCEL : self.lanes.CANCEL + 1].copy_to_device(raised, stream=beside)
                beside.synchronize()
                cancelled = True
        return handed_out

    def _prefix(self, first: int, samples: Any, arms: Any, given: int) -> int:
        """How many runs from the first on are complete."""
        last = samples[: min(given, len(samples)), -1]
        for run in np.flatnonzero(last == self.lanes.FAULT)[:1]:
            job = self.work.job
            raise bad_action(job.strategy, int(arms[run, -1]), first + int(run), job.problem.num_arms)
        missing = np.flatnonzero(last <= 0)
        return int(missing[0]) if missing.size else last.size

    def _tell(self, done: int) -> None:
        """So many runs are done; it may be fewer than were once seen, if those beyond a gap do not count."""
        self.signals[engine.RUNS] = done
        if done > self.told:
            self.reporter.add(done - self.told)
            self.told = done


def runs_for(runs: int, busy: float, taken: float) -> int:
    """How many runs the next launch should have, where so many took so long.

    Its lanes are busy until the last run is begun, then only the longest runs go on, which more runs would
    not make longer: so it should be busy for LAUNCH_SECONDS, or for as long as it waits for them.
    """
    return int(runs * max(LAUNCH_SECONDS, taken - busy) / max(busy, 1e-6))


def _load() -> Any:
    """The module of lanes, if there is a GPU."""
    if not ENABLED:
        raise InvalidInputError(
            "device 'cuda' needs compiled kernels, got TRUEBEST_JIT=0 in the environment; unset it."
        )
    if not available():
        raise InvalidInputError(
            "device 'cuda' needs Numba, which cannot be loaded here; simulate with device='cpu'."
        )
    if not _simulated() and find_spec("numba_cuda") is None:
        raise InvalidInputError(
            "device 'cuda' needs the package numba-cuda, which is not installed; pip install "
            "'truebest[cuda]', or simulate with device='cpu'."
        )
    from . import lanes

    if not lanes.SIMULATED and not lanes.cuda.is_available():
        raise InvalidInputError(
            "device 'cuda' needs an NVIDIA GPU with its driver, and numba-cuda finds none here; simulate "
            "with device='cpu'."
        )
    return lanes


def _program(lanes: Any, job: Job) -> Program:
    """The program for a job, made or found; InvalidInputError if there is no room for so many arms."""
    rows, K = job.blank.shape
    remembered, family = job.strategy.memory_rows(K), job.problem.source[0]
    multiprocessors = _refuse_too_many(lanes, K, 8 * (rows + remembered + 2))
    known = known_of(job.params, family, "UNSHOWN")
    key = (job.select, rows, remembered, K, known)
    if key not in PROGRAMS:
        device = partial(lanes.cuda.jit, device=True)
        found = twins(lambda plain, _: device(made_for(plain, known)))
        searches = job.params[layout.RULE] in rules.SEARCHES
        select = found.get(job.select) or _twin_of_users(job.select, found, device)
        used = (steps.begin, steps.step, leading_arm, best.searches_exceed)
        loop = lanes.make_lanes(*(found[one] for one in used), select, searches, rows, remembered, K)
        options = {} if lanes.SIMULATED else {"lto": False}
        count = 16 if lanes.SIMULATED else multiprocessors * RESIDENT
        PROGRAMS[key] = Program(lanes.cuda.jit(**options)(loop), count, job.select not in found)
    return PROGRAMS[key]


def _refuse_too_many(lanes: Any, num_arms: int, bytes_per_arm: int) -> int:
    """Refuse more arms than a GPU has room for; else how many multiprocessors it has."""
    multiprocessors, room = 1, LOCAL
    if not lanes.SIMULATED:
        with _failures():
            multiprocessors = int(lanes.cuda.get_current_device().MULTIPROCESSOR_COUNT)
            free = int(lanes.cuda.current_context().get_memory_info()[0]) - 2 * LAUNCH_BYTES
        room = min(room, max(free, 0) // (multiprocessors * RESIDENT))
    most = room // bytes_per_arm
    if num_arms > most:
        raise InvalidInputError(
            f"device 'cuda' has room for {most} arms of this strategy, model and rule, got {num_arms}; "
            f"simulate with device='cpu'."
        )
    return multiprocessors


def _twin_of_users(select: Any, found: dict[object, object], device: Callable[..., Any]) -> Any:
    """A user's function, and the functions that it calls, as device functions."""
    made: dict[object, object] = {}

    def twin(value: Any) -> Any:
        if isinstance(value, ModuleType) and value.__name__.startswith("truebest."):
            shadow = ModuleType(value.__name__)
            shadow.__dict__.update({name: twin(item) for name, item in vars(value).items() if _known(item)})
            return shadow
        if not _known(value):
            return value
        if value not in found and value not in made:
            plain = value.py_func
            space = dict(plain.__globals__)
            cells = [CellType(twin(cell.cell_contents)) for cell in plain.__closure__ or ()]
            remade = FunctionType(plain.__code__, space, plain.__name__, plain.__defaults__, tuple(cells))
            made[value] = device(remade)
            for name in plain.__code__.co_names:
                if name in space:
                    space[name] = twin(space[name])
        return found.get(value) or made[value]

    def _known(value: Any) -> bool:
        return isinstance(value, ModuleType) or hasattr(value, "py_func")

    return twin(select)


def _simulated() -> bool:
    """Whether Numba simulates a GPU, which is slow, and needs none."""
    return bool(import_module("numba").config.ENABLE_CUDASIM)


@contextmanager
def _compiling() -> Iterator[None]:
    """What Numba has no option for.

    No fused multiply-add, which rounds once where a processor rounds twice. Tables in global memory: constant
    memory serves lanes that ask for different words one after the other, which took half of a step.
    """
    if _simulated():
        yield
        return
    nvvm: Any = import_module("numba.cuda.cudadrv.nvvm")
    usual, constant = nvvm.compile_ir, nvvm.ADDRSPACE_CONSTANT
    nvvm.compile_ir, nvvm.ADDRSPACE_CONSTANT = partial(usual, fma=False), nvvm.ADDRSPACE_GLOBAL
    try:
        yield
    finally:
        nvvm.compile_ir, nvvm.ADDRSPACE_CONSTANT = usual, constant


@contextmanager
def _failures(what: str = "this") -> Iterator[None]:
    """What goes wrong on the GPU, or in compiling for it, in one sentence."""
    try:
        yield
    except (TruebestError, MemoryError):
        raise
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = next((line for line in lines if not line.startswith("Failed in")), "")
        said = f"{type(error).__name__}: {said[:200]}"
        if "driver" in type(error).__module__ or "cuda.core" in type(error).__module__:
            raise TruebestError(
                f"the GPU failed ({said}); see that nothing else uses up its memory, or simulate with "
                f"device='cpu'."
            ) from error
        raise InvalidInputError(
            f"the strategy {what!r} does not compile for device 'cuda' ({said}); use only numbers, loops, "
            f"arrays and math in it, or simulate with device='cpu'."
        ) from error
