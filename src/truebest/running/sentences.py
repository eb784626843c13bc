"""What people are told of an experiment, in sentences: the answer, how sure it is, what is compared.

The report and the page of `truebest serve` say the same.
"""

from __future__ import annotations

from .._text import shortened
from ..experiment.overview import Overview
from ..experiment.promise import confidence
from ..experiment.status import Status, plural

LONGEST_NAME = 80  # characters in a headline
MOST_NAMED = 3  # options that are best together


def headline(status: Status | Overview) -> str:
    """The answer in a few words."""
    leader = "" if status.leader is None else shortened(status.leader, LONGEST_NAME)
    if status.no_winner:
        return "No option wins against all others"
    if status.decision is not None:
        return _best(status, leader)
    if status.stopped is not None:
        return f"Stopped undecided{f': {leader} leads' if leader else ''}"
    if status.suspended:
        return "Suspended: the values are not as assumed"
    if leader:
        return f"Not decided yet: {leader} leads"
    return "No result counts yet" if status.waiting else "There is no result yet"


def _best(status: Status | Overview, leader: str) -> str:
    if status.tied:
        names = [shortened(arm, LONGEST_NAME // 2) for arm in status.tied[:MOST_NAMED]]
        more = len(status.tied) - len(names)
        return f"{', '.join(names)}{f' and {more} more' if more else ''} are equally good, and the best"
    if not status.tolerance:
        return f"{leader} is the best option"
    near = f"{1.0 + status.tolerance:g} times" if status.compare == "wins" else f"{status.tolerance:g} of"
    return f"{leader} is within {near} the best"


def answer(status: Status) -> str:
    """What was found, after how much, what it rests on, and how many pulls failed."""
    failed = [f" {_begun(one.sentence)}." for one in status.caveats if one.code == "failed"]
    return "".join([_answer(status), *failed])


def _answer(status: Status) -> str:
    after = f"after {status.spent}"
    if status.no_winner:
        return f"Decided {after}: each option loses to another one; {status.assumes}."
    if status.decision is not None:
        wins = f" It {status.verdict}." if status.compare == "wins" and not status.tied else ""
        return f"Decided {after}; {status.assumes}.{wins}"
    if status.suspended and status.stopped is None:
        return f"{_begun(status.suspended)}."
    near = f" The leader is {status.at_most}." if status.at_most else ""
    why = f" It was stopped by hand ({status.stopped})." if status.stopped is not None else ""
    if not status.samples and not why:
        waits = f" {plural(status.waiting, 'result')} waiting for an earlier pull." if status.waiting else ""
        return f"Nothing can be said before the first result counts.{waits}"
    return f"No option is proven to be the best {after}.{near}{why}"


def sureness(status: Status) -> list[str]:
    """How sure the answer is, and what must be true for it."""
    if status.promise is None:
        return [f"There is {status.assumes}."]
    found = [f"The answer is {status.assumes}."]
    if not status.decided:
        found = [f"An answer, once there is one, will be {status.assumes}."]
        if status.stopped is not None:
            found = [f"It was stopped before there was an answer, which would have been {status.assumes}."]
        if status.at_most:
            left = confidence(status.promise)
            found.append(f"What is said above of the leader holds with probability at least {left}.")
    return [
        *found,
        f"This holds however often somebody looks at the results. It needs what is assumed to be true: that "
        f"{_assumed(status)}, and that no result was left out because of its value.",
    ]


def _assumed(status: Status) -> str:
    if status.rounds is None:
        return (
            "the samples of an option are independent of each other, that its mean does not change meanwhile"
        )
    if status.compare == "wins" and status.items is None:
        return (
            "all options of a round were measured under the same conditions, that rounds do not depend on "
            "each other"
        )
    return "all options of a round were measured on the same item, in the order in which items were drawn"


def measured(status: Status) -> str:
    """What an interval against the leader is a measure of, and how sure it is."""
    what = "By how much the leader is better than each other option, in the values' own units"
    if status.compare == "wins":
        what = (
            "How much likelier the leader is to win a round against each other option than to lose it: 1 if "
            "it always wins, 0 if it wins as often as it loses, -1 if it always loses"
        )
    return what + (f"; {status.ends}" if status.ends else "")


def control_ends(status: Status) -> str:
    """How sure the intervals against the control are, as a sentence; "" if nothing is proven."""
    if status.promise is None:
        return ""
    return (
        f"Apart from the answer above, all lower ends hold together with probability at least "
        f"{confidence(status.promise)}, and so do all upper ends."
    )


def which_is_better(status: Status) -> str:
    """Which values are good, and what of them counts."""
    side = "smaller" if status.minimize else "larger"
    if status.compare == "wins":
        return f"The {side} value wins a round; only who wins counts, not by how much, and not the mean."
    return f"A {side} mean is better."


def versus_control(status: Status) -> str:
    """Which options are better than the control, as a sentence; "" without one, or if nothing is proven."""
    words, better = status.versus_control, status.better_than_control or ()
    if words and best_is_better(status) and status.decision not in better:
        best = f"{status.decision} is better than the control {status.control}, being the best"
        return f"{best}; {words}." if better else f"{best}."
    if words and not better:
        return f"No option is proven to be better than the control {status.control}."
    return f"{words}." if words else ""


def best_is_better(status: Status) -> bool:
    """Whether the decision itself says that its option is better than the control."""
    exact = not status.tolerance and not status.tied
    return status.decision not in (None, status.control) and exact


def hold(status: Status) -> str:
    """Which pull the decision waits for, and what to do, as a sentence; "" if it waits for none."""
    return f"{_begun(status.hold)}." if status.hold else ""


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]
