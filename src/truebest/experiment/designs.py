"""Which state an experiment has: by its design, which says what one sample is."""

from __future__ import annotations

from .independent import Independent
from .rounds import Rounds
from .settings import Settings
from .state import Recall, State
from .wins import Wins


def new_state(settings: Settings, *, steers: bool = True, recall: Recall | None = None) -> State:
    """The state of an experiment before the first line of its log; see `State` for the arguments."""
    kind: type[State] = Independent
    if settings.design is not None:
        kind = Wins if settings.design.wins else Rounds
    return kind(settings, steers=steers, recall=recall)
