"""What `import truebest` offers: the one list of public names.

Type checkers and editors read it as it stands; `__init__.py` reads it when a name is first used, and loads
that name from the module that is given here.
"""

from .errors import ArmError as ArmError
from .errors import InvalidInputError as InvalidInputError
from .errors import StoreError as StoreError
from .errors import SuspendedError as SuspendedError
from .errors import TruebestError as TruebestError
from .experiment.events import Event as Event
from .experiment.experiment import Experiment as Experiment
from .experiment.findings import RuledOut as RuledOut
from .experiment.forecast import Forecast as Forecast
from .experiment.pulls import Pull as Pull
from .experiment.status import Status as Status
from .questions.best import BestArm as BestArm
from .remote.service import connect as connect
from .running.identify import aidentify as aidentify
from .running.identify import identify as identify
from .running.race import race as race
from .running.result import Result as Result
from .running.standings import Race as Race
from .simulation.difference import Difference as Difference
from .simulation.plan import plan as plan
from .simulation.planned import Plan as Plan
from .simulation.results import Cell as Cell
from .simulation.results import Simulation as Simulation
from .simulation.runs import load_simulation as load_simulation
from .simulation.simulate import simulate as simulate
from .simulation.trace import Trace as Trace
from .simulation.trace import trace as trace
from .strategies import EBS as EBS
from .strategies import LUCB as LUCB
from .strategies import BestChallenger as BestChallenger
from .strategies import FrankWolfe as FrankWolfe
from .strategies import OpenEBS as OpenEBS
from .strategies import Racing as Racing
from .strategies import Strategy as Strategy
from .strategies import TopTwo as TopTwo
from .strategies import TrackAndStop as TrackAndStop
from .strategies import Uniform as Uniform
from .strategies import stopping_rule as stopping_rule
from .strategies import strategy as strategy
from .studies.comparison.compare import compare as compare
from .studies.comparison.results import Comparison as Comparison
from .studies.comparison.results import Standing as Standing
from .studies.comparison.suites import Bandit as Bandit
from .studies.comparison.suites import load_suite as load_suite
from .theory.complexity import ComplexityBounds as ComplexityBounds
from .theory.complexity import OptimalWeights as OptimalWeights
from .theory.complexity import characteristic_time as characteristic_time
from .theory.complexity import complexity_bounds as complexity_bounds
from .theory.complexity import lower_bound as lower_bound
from .theory.complexity import optimal_weights as optimal_weights
from .theory.exploration import ExplorationBiasedWeights as ExplorationBiasedWeights
from .theory.exploration import ExplorationCandidate as ExplorationCandidate
from .theory.exploration import exploration_biased_weights as exploration_biased_weights
from .theory.exploration import exploration_candidates as exploration_candidates
from .theory.guarantees import NonAsymptoticBound as NonAsymptoticBound
from .theory.guarantees import RegularityBounds as RegularityBounds
from .theory.guarantees import non_asymptotic_bound as non_asymptotic_bound
from .theory.guarantees import regularity_bounds as regularity_bounds
from .theory.mixture import Mixture as Mixture
from .theory.models import Bernoulli as Bernoulli
from .theory.models import Bounded as Bounded
from .theory.models import Exponential as Exponential
from .theory.models import Gaussian as Gaussian
from .theory.models import Model as Model
from .theory.models import Poisson as Poisson
from .theory.models import Student as Student
from .theory.ratios import Ratio as Ratio
from .theory.statistics import GLR as GLR
from .theory.statistics import confidence_width as confidence_width
from .theory.statistics import evidence_rate as evidence_rate
from .theory.statistics import g as g
from .theory.statistics import glr as glr
from .theory.stopping import GK16 as GK16
from .theory.stopping import KaufmannKoolen as KaufmannKoolen
from .theory.stopping import Practical as Practical
from .theory.stopping import Stopping as Stopping
from .theory.stopping import StoppingRule as StoppingRule
from .theory.student import StudentRule as StudentRule
from .theory.tilt import Tilt as Tilt

__version__: str
