"""Which state an experiment has: by its design, which says what one sample is."""

from __future__ import annotations

from .independent import Independent
from .rounds import Rounds
from .settings import Settings
from .state import Recall, State


def new_state(settings: Settings, *, steers: bool = True, recall: Recall | None = None) -> State:
    """The state of an experiment before the first line of its log; see `State` for the arguments."""
    kind = Independent if settings.design is None else Rounds
    return kind(settings, steers=steers, recall=recall)
