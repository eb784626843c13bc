"""Independent pulls: each sample is a value of one arm, which a strategy chooses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .._catalogue import FAMILY_RULE
from .._text import exactly
from ..errors import InvalidInputError
from ..questions import Question
from ..strategies import Strategy
from ..theory.models import Model
from ..theory.stopping import StoppingRule, find_rule
from .base import WINS, Design, Terms
from .units import ITEMS


@dataclass(frozen=True)
class Independent(Design):
    """A value of one arm by itself."""

    state = "independent", "IndependentState"
    runs = "job", "make_works"
    only_asked, steered = False, True

    @classmethod
    def is_meant(cls, kept: Mapping[str, Any]) -> bool:
        return kept.get("items") is None and kept.get("compare") != WINS

    @classmethod
    def of(cls, settings: Terms) -> Independent:  # noqa: ARG003
        return cls()

    def complete(self, settings: Terms, given: Collection[str]) -> StoppingRule:
        """The stopping rule: the one that was given, or one that knows the model."""
        refuse_direct(settings)
        refuse_sampled(settings)
        refuse_epochs(settings)
        refuse_known(settings)
        refuse_unmeant(settings.question, settings.chosen.strategy)
        if settings.failures != self.failures:
            raise InvalidInputError(
                f"failures={settings.failures!r} needs items=, on which all arms are compared; a failed pull "
                f"of an independent design is repeated."
            )
        rule, model = settings.stopping, settings.model
        assert rule is not None
        if "stopping" not in given:
            rule = usual_rule(rule, model)
        rule.model_for(model)  # refuses a model with which it cannot compute
        refuse_question(settings.question, rule, settings.tolerance)
        return rule

    def assumes(self, settings: Terms) -> str:
        """For which values the promise holds."""
        arrival = " whose durations do not depend on them" * (settings.order == "arrival")
        return f"assuming {settings.model.words}{arrival}"


def usual_rule(rule: StoppingRule, model: Model) -> StoppingRule:
    """This rule, or the one for a model that has its own, or which it does not know."""
    if model.rule is not None:
        return find_rule(model.rule)
    return rule if rule.knows(model) else find_rule(FAMILY_RULE)


def refuse_question(question: Question, rule: StoppingRule | None, tolerance: float) -> None:
    """Refuse a question beside what it is not asked with; the rule is None for a design's own."""
    if rule is not None:
        rule.asking(question)  # refuses a rule that cannot answer it
    if question.by_claims and not question.by_means:
        raise InvalidInputError(
            f"{question} is asked of rounds in which only wins count, got means; say compare='wins' and "
            f"direct=True, or ask another question."
        )
    if question.by_claims and tolerance > 0.0:
        raise InvalidInputError(
            f"{question} knows no tolerance, got tolerance={exactly(tolerance)}; leave one of them out."
        )


def refuse_unmeant(question: Question, strategy: Strategy | None) -> None:
    """Refuse a strategy that looks for the best arm where something else is asked."""
    if question.by_claims and not (strategy is not None and strategy.in_turn):
        name = "one of your own" if strategy is None else repr(strategy.name)
        raise InvalidInputError(
            f"{question} is answered by sampling in turn the arms about which something is open, got the "
            f"strategy {name}; choose 'uniform'."
        )


def refuse_epochs(settings: Terms) -> None:
    """Refuse several answers to an item, and clusters, where there are no items, or no means."""
    if settings.epochs > 1:
        raise InvalidInputError(
            f"epochs={settings.epochs} lets every arm answer each item so often, and compares the means of "
            f"these answers; give items=, and leave compare out, or leave epochs out."
        )
    if settings.items is not None and settings.items.clusters is not None:
        raise InvalidInputError(
            "cluster= compares the means of clusters of items, got compare='wins' too; leave one of them out."
        )
    refuse_weights(settings)


def refuse_weights(settings: Terms) -> None:
    """Refuse what is about clusters where there are none."""
    if settings.weigh != ITEMS or settings.largest is not None:
        given = f"largest={settings.largest}" if settings.weigh == ITEMS else f"weigh={settings.weigh!r}"
        raise InvalidInputError(f"{given} is about clusters of items; give cluster= too, or leave it out.")


def refuse_sampled(settings: Terms) -> None:
    """Refuse to say what holds for items like these where there is no closed set of them, or no means."""
    if settings.sampled:
        raise InvalidInputError(
            "sampled=True says what else holds for items like those of a closed set, on which means are "
            "compared; give items= as a list, a file or a number, or leave sampled out."
        )


def refuse_known(settings: Terms, also: str = "") -> None:
    """Refuse scores that are known where they could not be compared item by item."""
    if settings.known is not None:
        raise InvalidInputError(
            f"known= needs the means of a closed set of items, on which all arms are compared, got "
            f"{settings.known} without that; give items=, a list, a file or a number{also}."
        )


def refuse_direct(settings: Terms) -> None:
    """Refuse to look for who wins against whom where wins do not count."""
    if settings.direct:
        raise InvalidInputError(
            "direct=True needs compare='wins': among means there always is a best one; leave direct out."
        )
