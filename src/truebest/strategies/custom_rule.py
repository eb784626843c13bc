"""A user's own stopping rule: a plain function of the statistics, compiled, for simulations.

The engine asks its own rules without a call, and a call in its loop would slow all of them down. So it does
not know users' rules: a rule and a strategy become one kernel, which asks the rule, and then the strategy,
like that of a strategy that stops by itself (`Stopped`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._args import Array
from ..errors import InvalidInputError
from ..kernels import rules
from ..kernels.layout import DELTA, MEANS, PULLS, VARIANCES, Select  # noqa: F401
from ..theory.models import Model
from ..theory.stopping import StoppingRule, find_rule
from ._admit import IN_ORDER, Arguments, Form, admit, kernel_of, taken
from ._base import Strategy
from ._inspect import Fault
from .uniform import Uniform

# What a user's rule may take, by name: the type, and where it is found among a kernel's arguments.
ARGUMENTS: Arguments = {
    "params": ("const(f8[::1])", "params"),
    "state": ("const(f8[:, ::1])", "state"),
    "t": ("f8", "t"),
    "leader": ("i8", "leader"),
    "pulls": ("const(f8[::1])", "state[PULLS]"),
    "means": ("const(f8[::1])", "state[MEANS]"),
    "variances": ("const(f8[::1])", "state[VARIANCES]"),
    "delta": ("f8", "params[DELTA]"),
}
ROWS_ALONE = len(Uniform.rows) + 1  # of memory, where a rule is asked outside of a run
_UNCHECKED = "unchecked"  # the last row of memory: 1 first if the rule is not asked after this pull

_KERNEL = """
def {name}({arguments}):
    K, own = state.shape[1], memory.shape[0] - 1
    if memory[own, 0] == 0.0 and inner({call}):
        return K + leader
    action = choose(t, last, leader, state, params, memory[:own], random)
    memory[own, 0] = 1.0 if action < 0 else 0.0
    return action + K if action >= K else action
"""


class RuleForm(Form):
    """The arguments of a user's rule, and the kernel that asks it before a strategy chooses."""

    kind = "stopping rule"
    answer = "True or False"

    def __init__(self, arguments: Arguments, choose: Any) -> None:
        super().__init__(arguments)
        self.beside = (choose,)

    def answers(self, answer: Any, types: Any) -> bool:
        return isinstance(answer, types.Boolean)

    def advice(self, fault: Fault) -> str:
        return "decide by the statistics alone" if fault.draws else super().advice(fault)

    def kernel(self, function: Any, name: str) -> Any:
        text = _KERNEL.format(name=name, arguments=", ".join(IN_ORDER), call=self.call)
        space: dict[str, Any] = {**globals(), "inner": function, "choose": self.beside[0]}
        exec(compile(text, __file__, "exec", dont_inherit=True), space)  # as in `Form.kernel`
        return space[name]


@dataclass(frozen=True)
class CustomRule(StoppingRule):
    """What `stopping_rule` makes of a function."""

    name: str = "custom"
    proof: str | None = None
    models: tuple[type[Model], ...] = (Model,)  # type: ignore[misc]
    function: Callable[..., bool] = field(default=lambda: False, repr=False, compare=False)
    _kernels: dict[Select, Select] = field(default_factory=dict, init=False, repr=False, compare=False)

    code = rules.CUSTOM
    unites = False

    def __reduce__(self) -> tuple[Any, ...]:  # for another process, which compiles the function itself
        return CustomRule, (self.name, self.proof, self.models, self.function)

    @property
    def reference(self) -> str:
        return "no proof" if self.proof is None else f"{self.proof} (its author's claim)"

    def proven_for(self, model: Model) -> bool:
        """Whether the author says so."""
        return self.proof is not None and self.knows(model)

    def level(self, num_arms: int, delta: float) -> float:
        return float("inf")  # the function decides, and may have no threshold

    def decides(
        self,
        params: Array,
        states: Array,
        statistic: Array,
        leader: npt.NDArray[np.int64],
        threshold: Array,
    ) -> npt.NDArray[np.bool_]:
        kernel, K, random = self.before(Uniform()), states.shape[2], np.zeros(2, dtype=np.uint64)
        said = np.empty(len(states), dtype=np.bool_)
        for i, state in enumerate(states):
            t, memory = float(state[PULLS].sum()), np.zeros((ROWS_ALONE, K))
            said[i] = kernel(t, -1, int(leader[i]), state, params, memory, random) >= K
        return said

    def _intervals(self, *_: Any, **__: Any) -> tuple[Array, Array]:
        raise InvalidInputError(
            f"intervals must come from one of truebest's own rules, got {self.name!r}, which says only when "
            f"to stop; ask 'mixture' for them, say."
        )

    def before(self, strategy: Strategy) -> Select:
        """The kernel that asks this rule, and if it goes on, the strategy."""
        choose = kernel_of(strategy)
        if choose not in self._kernels:
            form = RuleForm(taken(self.function, ARGUMENTS, RuleForm.kind), choose)
            self._kernels[choose] = admit(self.function, form, self.name)
        return self._kernels[choose]


class Stopped(Strategy):
    """A strategy under a user's rule, as the engine sees it: one that stops by itself."""

    uses_delta = stops_itself = True

    def __init__(self, strategy: Strategy, rule: CustomRule) -> None:
        self.strategy, self.rule = strategy, rule
        self.rows = (*strategy.rows, _UNCHECKED)  # type: ignore[misc]

    @property
    def name(self) -> str:
        return self.strategy.name

    @property
    def in_words(self) -> str:
        return f"{self.strategy.in_words} or the stopping rule {self.rule.name!r}"

    @property
    def select(self) -> Select:
        return self.rule.before(self.strategy)

    def memory_rows(self, num_arms: int) -> int:
        return self.strategy.memory_rows(num_arms) + 1

    def evidence_left(self, num_arms: int, delta: float) -> float | None:
        return self.strategy.evidence_left(num_arms, delta)

    def placed(self, offset: float, sign: float = 1.0) -> Strategy:
        return Stopped(self.strategy.placed(offset, sign), self.rule)

    def parameters(self, num_arms: int, sigma: float) -> Array:
        return self.strategy.parameters(num_arms, sigma)

    def returned(self, action: int, num_arms: int) -> int:
        """What the strategy returned, of what the kernel did: its own stop is no stop of the rule's."""
        return action - num_arms if action >= 2 * num_arms else action


def stopped_by(rule: StoppingRule, strategy: Strategy) -> Strategy:
    """A strategy as a rule stops it: itself, but for a user's rule.

    Raises  InvalidInputError if the strategy needs more of a rule than to be told when to stop
    """
    if not isinstance(rule, CustomRule):
        return strategy
    if strategy.stops_itself:
        raise InvalidInputError(
            f"the strategy {strategy.name!r} stops by itself and does not ask the stopping rule, got "
            f"{rule.name!r}, a rule of your own; choose another strategy, or one of truebest's own rules."
        )
    if strategy.open_only:
        raise InvalidInputError(
            f"the strategy {strategy.name!r} samples only arms that the rule has not settled, got "
            f"{rule.name!r}, a rule of your own, which settles none; choose another strategy, or one of "
            f"truebest's own rules."
        )
    return Stopped(strategy, rule)


@overload
def stopping_rule(rule: str | StoppingRule) -> StoppingRule: ...
@overload
def stopping_rule(
    rule: Callable[..., bool],
    *,
    name: str | None = None,
    proof: str | None = None,
    models: type[Model] | Sequence[type[Model]] = Model,
) -> CustomRule: ...
@overload
def stopping_rule(
    *,
    name: str | None = None,
    proof: str | None = None,
    models: type[Model] | Sequence[type[Model]] = Model,
) -> Callable[[Callable[..., bool]], CustomRule]: ...
def stopping_rule(
    rule: str | StoppingRule | Callable[..., bool] | None = None,
    *,
    name: str | None = None,
    proof: str | None = None,
    models: type[Model] | Sequence[type[Model]] = Model,
) -> Any:
    """A stopping rule by its name; or, as a decorator, of a plain function that says when to stop.

    Once each arm has been pulled once, the function is called before every pull. It takes whichever of these
    it needs, in any order, and may only read them:

        params     what `truebest.kernels.layout` names: delta, tolerance, the model of values
        state      (rows, K) the statistics, whose rows are named there
        t          number of samples so far, a float
        leader     the arm with the largest mean; among ties the lowest index
        pulls      (K,) how often each arm was pulled, floats
        means      (K,) empirical means in units of sigma
        variances  (K,) the variance of one value, in squared units: 1 unless scales differ
        delta      the accepted probability of a wrong answer

    and returns True to stop and recommend the leader, else False. It is compiled by Numba and inspected as a
    strategy is: nothing that it is given can be changed, and it draws no random numbers. `simulate`, `trace`
    and `evaluate` take such a rule; a live experiment does not, for it could not find it again.

    Parameters
    ----------
    rule
        a name, or a rule, which is returned as it is
    name
        shown in tables; the function's own by default
    proof
        where it is proven that the error probability is at most delta; without it the rule is unproven
    models
        the models of values that the rule, and its proof, can compute with; others are refused

    Raises
    ------
    InvalidInputError
    """
    if rule is not None and not inspect.isfunction(rule):
        return find_rule(rule)  # type: ignore[arg-type]
    if proof is not None and not (isinstance(proof, str) and proof.strip()):
        raise InvalidInputError(
            f"proof must say where the proof is, got {proof!r:.60}; write proof='Theorem 2 of ...', or leave "
            f"it out if there is none."
        )
    known = _models(models)

    def decorate(plain: Callable[..., bool]) -> CustomRule:
        taken(plain, ARGUMENTS, RuleForm.kind)
        made = CustomRule(name or plain.__name__, proof, known, plain)
        made.before(Uniform())  # refuses what does not compile
        return made

    return decorate if rule is None else decorate(rule)


def _models(given: type[Model] | Sequence[type[Model]]) -> tuple[type[Model], ...]:
    listed = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not listed or not all(isinstance(one, type) and issubclass(one, Model) for one in listed):
        raise InvalidInputError(
            f"models must be classes of models of values, got {given!r:.60}; write models=truebest.Gaussian, "
            f"say."
        )
    return listed
