"""Independent pulls: each sample is a value of one arm, which a strategy chooses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .._catalogue import FAMILY_RULE
from ..errors import InvalidInputError
from ..theory.stopping import StoppingRule, find_rule
from .base import WINS, Design, Terms


@dataclass(frozen=True)
class Independent(Design):
    """A value of one arm by itself."""

    state = "independent", "IndependentState"
    only_asked, steered = False, True

    @classmethod
    def is_meant(cls, kept: Mapping[str, Any]) -> bool:
        """Whether settings, by field, are of this design."""
        return kept.get("items") is None and kept.get("compare") != WINS

    @classmethod
    def of(cls, settings: Terms) -> Independent:  # noqa: ARG003
        """The design of these settings."""
        return cls()

    def complete(self, settings: Terms, given: Collection[str]) -> StoppingRule:
        """The stopping rule: the one that was given, or one that knows the model."""
        refuse_direct(settings)
        if settings.failures != self.failures:
            raise InvalidInputError(
                f"failures={settings.failures!r} needs items=, on which all arms are compared; a failed pull "
                f"of an independent design is repeated."
            )
        rule, model = settings.stopping, settings.model
        assert rule is not None
        if "stopping" not in given and model.rule is not None:
            rule = find_rule(model.rule)
        elif "stopping" not in given and not rule.knows(model):
            rule = find_rule(FAMILY_RULE)
        rule.seen(model)  # refuses a model with which it cannot compute
        return rule

    def assumes(self, settings: Terms) -> str:
        """For which values the promise holds."""
        return settings.model.words + " whose durations do not depend on them" * (settings.order == "arrival")


def refuse_direct(settings: Terms) -> None:
    """Refuse to look for who wins against whom where wins do not count."""
    if settings.direct:
        raise InvalidInputError(
            "direct=True needs compare='wins': among means there always is a best one; leave direct out."
        )
