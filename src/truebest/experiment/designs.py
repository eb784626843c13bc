"""Which state an experiment has: by its design, which says what one sample is."""

from __future__ import annotations

from importlib import import_module

from .settings import Settings
from .state import Recall, State


def new_state(settings: Settings, *, steers: bool = True, recall: Recall | None = None) -> State:
    """The state of an experiment before the first line of its log; see `State` for the arguments."""
    module, name = settings.design.place
    kind: type[State] = getattr(import_module(f".{module}", __package__), name)
    return kind(settings, steers=steers, recall=recall)
