"""bestarm: which of K noisy options is the best, with a guarantee and few samples.

Importing the package is cheap and loads no other module: a name is loaded, with NumPy, Numba and the
compiled kernels behind it, when it is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers know the name; to import it would take longer than all of this

if TYPE_CHECKING:
    from .errors import ArmError, BestarmError, InvalidInputError, StoreError, SuspendedError
    from .experiment.events import Event
    from .experiment.experiment import Experiment
    from .experiment.forecast import Forecast
    from .experiment.pulls import Pull
    from .experiment.status import Status
    from .running.identify import aidentify, identify
    from .running.result import Result
    from .simulation.results import Cell, Simulation
    from .simulation.runner import simulate
    from .simulation.trace import Trace, trace
    from .strategies import (
        EBS,
        LUCB,
        Racing,
        Strategy,
        TrackAndStop,
        Uniform,
        strategy,
    )
    from .theory.complexity import (
        ComplexityBounds,
        OptimalWeights,
        characteristic_time,
        complexity_bounds,
        lower_bound,
        optimal_weights,
    )
    from .theory.exploration import (
        ExplorationBiasedWeights,
        ExplorationCandidate,
        exploration_biased_weights,
        exploration_candidates,
    )
    from .theory.guarantees import (
        NonAsymptoticBound,
        RegularityBounds,
        non_asymptotic_bound,
        regularity_bounds,
    )
    from .theory.statistics import GLR, confidence_width, g, glr
    from .theory.stopping import (
        GK16,
        KaufmannKoolen,
        Mixture,
        Practical,
        Stopping,
        StoppingRule,
        stopping_rule,
    )

_HOME = {
    "errors": ("ArmError", "BestarmError", "InvalidInputError", "StoreError", "SuspendedError"),
    "experiment.events": ("Event",),
    "experiment.experiment": ("Experiment",),
    "experiment.forecast": ("Forecast",),
    "experiment.pulls": ("Pull",),
    "experiment.status": ("Status",),
    "running.identify": ("aidentify", "identify"),
    "running.result": ("Result",),
    "simulation.results": ("Cell", "Simulation"),
    "simulation.runner": ("simulate",),
    "simulation.trace": ("Trace", "trace"),
    "strategies": ("EBS", "LUCB", "Racing", "Strategy", "TrackAndStop", "Uniform", "strategy"),
    "theory.complexity": (
        "ComplexityBounds",
        "OptimalWeights",
        "characteristic_time",
        "complexity_bounds",
        "lower_bound",
        "optimal_weights",
    ),
    "theory.exploration": (
        "ExplorationBiasedWeights",
        "ExplorationCandidate",
        "exploration_biased_weights",
        "exploration_candidates",
    ),
    "theory.guarantees": (
        "NonAsymptoticBound",
        "RegularityBounds",
        "non_asymptotic_bound",
        "regularity_bounds",
    ),
    "theory.statistics": ("GLR", "confidence_width", "g", "glr"),
    "theory.stopping": (
        "GK16",
        "KaufmannKoolen",
        "Mixture",
        "Practical",
        "Stopping",
        "StoppingRule",
        "stopping_rule",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "EBS",
    "GK16",
    "GLR",
    "LUCB",
    "ArmError",
    "BestarmError",
    "Cell",
    "ComplexityBounds",
    "Event",
    "Experiment",
    "ExplorationBiasedWeights",
    "ExplorationCandidate",
    "Forecast",
    "InvalidInputError",
    "KaufmannKoolen",
    "Mixture",
    "NonAsymptoticBound",
    "OptimalWeights",
    "Practical",
    "Pull",
    "Racing",
    "RegularityBounds",
    "Result",
    "Simulation",
    "Status",
    "Stopping",
    "StoppingRule",
    "StoreError",
    "Strategy",
    "SuspendedError",
    "Trace",
    "TrackAndStop",
    "Uniform",
    "__version__",
    "aidentify",
    "characteristic_time",
    "complexity_bounds",
    "confidence_width",
    "exploration_biased_weights",
    "exploration_candidates",
    "g",
    "glr",
    "identify",
    "lower_bound",
    "non_asymptotic_bound",
    "optimal_weights",
    "regularity_bounds",
    "simulate",
    "stopping_rule",
    "strategy",
    "trace",
]


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'bestarm' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
