"""Suites: lists of bandits that strategies are compared on. Built in, drawn at random, or read from a file.

The bandits of a suite have names of their own, and the seed of a bandit's rewards follows from its name: what
is found on it does not depend on what else is in the suite.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _args
from ..._catalogue import MODELS
from ...errors import InvalidInputError
from ...simulation.rewards import KINDS, make_rewards
from ...theory.models import Bounded, Gaussian, Model
from ..paper.published import BANDITS

Numbers = npt.NDArray[np.float64]
PerArm = float | tuple[float, ...]


@dataclass(frozen=True)
class Bandit:
    """Arms with their rewards, and what is assumed of them; as `simulate` takes them.

    Attributes
    ----------
    name
        its own within a suite
    means
        (K,)
    rewards
        "gaussian", "bernoulli", "beta", ...
    noise
        standard deviation or half-width of a reward, one number or one per arm
    sigma
        the scale to assume, one number or one per arm; model: any model of values
    groups
        what tables put together, such as "K=5"

    Raises
    ------
    InvalidInputError
    """

    name: str
    means: tuple[float, ...]
    rewards: str = "gaussian"
    noise: PerArm = 1.0
    sigma: PerArm | None = None
    model: Model | None = None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidInputError(f"the name of a bandit must be a text, got {self.name!r:.60}; give one.")
        for field in ("means", "noise", "sigma"):
            given = getattr(self, field)
            if isinstance(given, list | np.ndarray):
                object.__setattr__(self, field, tuple(given))
        try:
            make_rewards(self.rewards, self.means, self.noise)
        except InvalidInputError as error:
            raise InvalidInputError(f"bandit {self.name!r}: {error}") from None

    @property
    def num_arms(self) -> int:
        """K."""
        return len(self.means)

    def arguments(self) -> dict[str, Any]:
        """Those of `simulate` and `trace` that say what the arms are."""
        names = ("means", "rewards", "noise", "sigma", "model")
        return {name: getattr(self, name) for name in names}

    def seed(self, seed: int) -> int:
        """Of its rewards, in a comparison with this seed."""
        digest = hashlib.sha256(f"{seed}:{self.name}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def order(self, seed: int) -> tuple[int, ...]:
        """In which its arms are played in a comparison with this seed, so that none gains by its place."""
        return tuple(np.random.default_rng(self.seed(seed)).permutation(self.num_arms).tolist())

    def in_order(self, order: Sequence[int]) -> Bandit:
        """The same arms, the i-th of them now number order[i]."""

        def moved(given: Any) -> Any:
            return tuple(given[a] for a in order) if isinstance(given, tuple) else given

        model = self.model
        if isinstance(model, Gaussian):
            model = Gaussian(moved(model.sigma))
        fields = {name: moved(getattr(self, name)) for name in ("means", "noise", "sigma")}
        return replace(self, **fields, model=model)


# -- built in ------------------------------------------------------------------------------------------


def shapes(K: int, gap: float = 0.2) -> dict[str, Numbers]:
    """Distances to the best arm of the other K-1, in units of sigma; least the same for all but clear."""
    from scipy.special import ndtri

    i = np.arange(1, K)
    return {
        "equal": np.full(K - 1, gap),
        "rival": np.where(i == 1, gap, 5 * gap),  # one close rival
        "linear": gap * i,
        "pack": np.where(i <= (K + 1) // 3, gap, 4 * gap),  # a third of the arms are near-ties
        "bell": gap * (high := ndtri((K - 0.5) / K) - ndtri((K - i - 0.5) / K)) / high[0],  # normal quantiles
        "clear": np.linspace(1.0, 2.0, K - 1),  # one clear winner
    }


def _below(gaps: Numbers) -> tuple[float, ...]:
    """Means from the worst arm to the best, which is at 0."""
    return (*(-gaps[::-1]).tolist(), 0.0)


def standard() -> list[Bandit]:
    """46 bandits: six for every K from 2 to 50, the paper's, and six with rewards of 0 or 1."""
    found = [Bandit(f"K=2 gap {g:g}", (-g, 0.0), groups=("K=2",)) for g in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)]
    for K in (3, 5, 10, 20, 50):
        found += [
            Bandit(f"K={K} {shape}", _below(gaps), groups=(f"K={K}", shape))
            for shape, gaps in shapes(K).items()
        ]
    successes: dict[str, tuple[float, ...]] = {
        "A/B": (0.45, 0.55),
        "conversion": (0.06, 0.07, 0.07, 0.10),
        "models": (0.4, 0.6, 0.8, 0.85, 0.9),
        "prompts": (*np.linspace(0.5, 0.74, 9).tolist(), 0.8),
        "near-ties": (0.6,) * 9 + (0.78,) * 10 + (0.85,),
        "settings": (*np.linspace(0.2, 0.5, 49).tolist(), 0.7),
    }
    found += paper()
    return found + [Bandit(f"0/1 {name}", mu, "bernoulli", groups=("0/1",)) for name, mu in successes.items()]


def paper() -> list[Bandit]:
    """The four bandits of the paper."""
    return [Bandit(name, means, groups=("paper",)) for name, means in BANDITS.items()]


def practice() -> list[Bandit]:
    """Twelve that practitioners meet: successes, scores between 0 and 1, and known, unequal noise."""
    rates = {
        "click rates": (0.020, 0.022, 0.030),
        "defects": (0.90, 0.95, 0.97, 0.99),
        "pass rates": (0.55, 0.60, 0.62, 0.64, 0.70),
        "many prompts": (*np.linspace(0.60, 0.72, 19).tolist(), 0.78),
    }
    scores: dict[str, tuple[tuple[float, ...], PerArm]] = {
        "graded answers": ((0.60, 0.62, 0.66, 0.70), 0.25),
        "near the top": ((0.90, 0.93, 0.95), (0.10, 0.08, 0.05)),
        "small noise": ((0.50, 0.51, 0.52, 0.53), 0.05),
        "many models": ((*np.linspace(0.50, 0.70, 14).tolist(), 0.74), 0.20),
    }
    uneven: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
        "noisy best": ((-0.6, -0.4, -0.3, 0.0), (0.3, 0.3, 0.3, 1.5)),
        "noisy rival": ((-1.0, -0.8, -0.3, 0.0), (0.5, 0.5, 2.0, 0.5)),
        "mixed": ((-0.8, -0.6, -0.4, -0.3, 0.0), (0.5, 1.0, 2.0, 0.5, 1.0)),
        "ten sensors": (_below(np.linspace(0.3, 1.2, 9)), tuple(np.geomspace(0.3, 1.5, 10).tolist())),
    }
    found = [Bandit(f"0/1 {name}", mu, "bernoulli", groups=("rates",)) for name, mu in rates.items()]
    for name, (mu, noise) in scores.items():
        found.append(Bandit(f"beta {name}", mu, "beta", noise, groups=("scores",)))
    for name, (mu, spread) in uneven.items():
        found.append(Bandit(f"uneven {name}", mu, noise=spread, sigma=spread, groups=("uneven noise",)))
    return found


def random_bandits(number: int = 24, seed: int = 3) -> list[Bandit]:
    """Bandits drawn at random, on which nothing was chosen or tuned; a longer list begins with the shorter.

    K is 3 to 60 and the least gap 0.15 to 0.6 sigma, both even in their logarithms. Of the other gaps, the
    widest is 1.1 to 11 times as large, and between these they crowd at one end or the other:
    gap (1 + s u^p), u uniform, s from 0.1 to 10 and p from 1/3 to 3, even in their logarithms.
    """
    return [_random_bandit(i, seed) for i in range(number)]


def _random_bandit(i: int, seed: int) -> Bandit:
    draw = np.random.default_rng([seed, i])
    K = round(_between(3, 60, draw.random()))
    gap, spread = _between(0.15, 0.6, draw.random()), _between(0.1, 10.0, draw.random())
    power = _between(1 / 3, 3.0, draw.random())
    others = np.sort(draw.random(K - 2))
    gaps = gap * (1.0 + spread * np.concatenate([[0.0], others**power]))
    return Bandit(f"random {seed}.{i + 1} K={K}", _below(gaps), groups=("random",))


def _between(low: float, high: float, u: float) -> float:
    return float(low * (high / low) ** u)


SUITES: dict[str, Callable[[], list[Bandit]]] = {"standard": standard, "paper": paper, "practice": practice}
RANDOM = "random"

# -- by name, or from a file ---------------------------------------------------------------------------


def load_suite(given: str | os.PathLike[str] | Bandit | Sequence[Any]) -> list[Bandit]:
    """The bandits of a suite.

    Parameters
    ----------
    given
        "standard", "paper", "practice", "random:24:3" (24 bandits of seed 3; "random" is the same), the path
        of a JSON file, a Bandit, or several of all these

    Raises
    ------
    InvalidInputError
    """
    items = list(given) if isinstance(given, list | tuple) else [given]
    found = [bandit for item in items for bandit in _one(item)]
    names = [bandit.name for bandit in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None or not found:
        got = "nothing" if twice is None else f"two called {twice!r}"
        raise InvalidInputError(
            f"a suite must have one or more bandits with different names, got {got}; rename or add one."
        )
    return found


def _one(item: Any) -> list[Bandit]:
    if isinstance(item, Bandit):
        return [item]
    if isinstance(item, os.PathLike):
        return read_suite(item)
    if not isinstance(item, str):
        raise InvalidInputError(
            f"a suite must be a name, a file or a list of bandits, got {_args.short(item)}; give 'standard', "
            f"or truebest.Bandit('two', (0.0, 0.5))."
        )
    if item in SUITES:
        return SUITES[item]()
    if item.partition(":")[0] == RANDOM:
        return _random_suite(item)
    if item.endswith(".json") or os.sep in item:
        return read_suite(item)
    _args.choice("suite", item, (*SUITES, RANDOM, "a .json file"))
    raise AssertionError  # it was refused


def _random_suite(text: str) -> list[Bandit]:
    words = text.split(":")[1:]
    if len(words) > 2 or not all(word.isascii() and word.isdigit() for word in words):
        raise InvalidInputError(
            f"a random suite must be random, random:NUMBER or random:NUMBER:SEED, got {text!r}; write "
            f"random:24:3."
        )
    numbers = [int(word) for word in words]
    if numbers:
        _args.whole("the number of random bandits", numbers[0], 1, 10_000, "write random:24:3")
    return random_bandits(*numbers)


FIELDS = ("name", "means", "rewards", "noise", "sigma", "bounds", "model", "group")


def read_suite(path: str | os.PathLike[str]) -> list[Bandit]:
    """The bandits of a JSON file: {"bandits": [{"name": ..., "means": [...], ...}, ...]}, or the list alone.

    Of a bandit, name and means are needed. rewards, noise and sigma are as in `simulate`; bounds is
    [low, high] and model the name of one without parameters, in place of sigma; group is one text or several.
    Raises  InvalidInputError
    """
    file = os.fspath(path)
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(
            f"cannot read the suite {file!r}: {error.strerror}; give a JSON file, or one of "
            f"{', '.join((*SUITES, RANDOM))}."
        ) from None
    except ValueError as error:
        raise InvalidInputError(
            f"the suite {file!r} must be JSON, got something else ({error}); fix it."
        ) from None
    rows = body.get("bandits") if isinstance(body, dict) else body
    if not isinstance(rows, list) or not rows:
        raise InvalidInputError(
            f"the suite {file!r} must have a list of bandits, got {_args.short(rows)}; write "
            f'{{"bandits": [{{"name": "two", "means": [0, 0.5]}}]}}.'
        )
    found = []
    for i, row in enumerate(rows, 1):
        try:
            found.append(_bandit(row))
        except InvalidInputError as error:
            raise InvalidInputError(f"number {i} of the suite {file!r}: {error}") from None
    return found


def _bandit(row: Any) -> Bandit:
    if not isinstance(row, Mapping) or not {"name", "means"} <= set(row):
        raise InvalidInputError(
            f"a bandit must be an object with a name and means, got {_args.short(row)}; write "
            f'{{"name": "two", "means": [0, 0.5]}}.'
        )
    for key in row:
        _args.choice("a field", key, FIELDS)
    told = [key for key in ("sigma", "bounds", "model") if row.get(key) is not None]
    if len(told) > 1:
        raise InvalidInputError(
            f"give one of sigma, bounds and model, got {' and '.join(told)}; leave one out."
        )
    means = _numbers("means", row["means"], alone=False)
    noise = _numbers("noise", row.get("noise", 1.0))
    sigma = None if row.get("sigma") is None else _numbers("sigma", row["sigma"])
    rewards = _args.choice("rewards", row.get("rewards", "gaussian"), tuple(KINDS))
    groups = row.get("group", ())
    groups = (groups,) if isinstance(groups, str) else groups
    if not isinstance(groups, list | tuple) or not all(isinstance(one, str) for one in groups):
        raise InvalidInputError(f'group must be a text or several, got {_args.short(groups)}; write "web".')
    assert isinstance(means, tuple)
    return Bandit(row["name"], means, rewards, noise, sigma, _model(row), tuple(groups))


def _numbers(name: str, given: Any, alone: bool = True) -> Any:
    """One number, where that is allowed, or a tuple."""
    array = _args.numbers(name, given)
    if array.ndim > 1 or (array.ndim == 0 and not alone):
        raise InvalidInputError(
            f"{name} must be a list of numbers, got {_args.short(given)}; write [0, 0.5]."
        )
    return tuple(array.tolist()) if array.ndim else float(array)


def _model(row: Mapping[str, Any]) -> Model | None:
    """What is assumed, where it is not sigma."""
    if row.get("bounds") is not None:
        ends = _numbers("bounds", row["bounds"], alone=False)
        if len(ends) != 2 or not all(map(math.isfinite, ends)):
            raise InvalidInputError(
                f"bounds must be two numbers, got {_args.short(row['bounds'])}; write [0, 1]."
            )
        return Bounded(*ends)
    if row.get("model") is None:
        return None
    free = tuple(name for name in MODELS if name not in ("Gaussian", "Bounded"))
    made: Model = MODELS[_args.choice("model", row["model"], free)].make()
    return made
