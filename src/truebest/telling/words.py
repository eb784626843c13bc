"""Every sentence about an experiment, said once: what prints shows these, and words nothing itself.

Where words depend on what one sample is, the design has them; what is promised is worded in
`experiment/promise.py`, where it is counted.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_never

from .._text import begun, claimed, confidence, listed, moment, percent, plural, shortened
from .answers import (
    Answer,
    Best,
    NoWinner,
    Open,
    Stopped,
    Suspended,
    Tied,
    Undecided,
    UsedUp,
    Verdicts,
    Within,
)
from .numbers import judged_ends, judged_estimate, places_of
from .population import population_words
from .standings import VOIDS, Hold, Role, Setup, Standing, per_arm

if TYPE_CHECKING:
    from .account import Account

LONGEST_NAME = 80  # characters in a headline
MOST_NAMED = 3  # options that are best together, or open
MOST_JUDGED = 8  # options of which a sentence says that they pass
LONGEST_TITLE = 40  # characters of a name in the title of a column


# -- the answer ----------------------------------------------------------------------------------------


def verdict(answer: Answer, settings: Setup) -> str:
    """What is said of the leader: "is best"."""
    design = settings.design
    match answer:
        case Undecided() | UsedUp() | Stopped() | Suspended():
            return "leads"
        case Tied(arm, arms):
            others = ", ".join(one for one in arms if one != arm)
            return f"is best, tied with {others} on all {design.set_words}"
        case Within(_, tolerance):
            return design.within_words(tolerance)
        case Best(arm):
            rivals = [one for one in settings.arms if one != arm]
            return design.best_words(rivals[0] if len(rivals) == 1 else "each other arm")
        case NoWinner() | Verdicts():
            return "is not the best"
    assert_never(answer)


def beside(now: Account) -> str:
    """What is said of the arm that the others are compared with, in the place of an interval."""
    return verdict(now.answer, now.settings) if per_arm(now.settings) is None else str(Role.BASELINE)


def claim(answer: Answer, settings: Setup) -> str:
    """What was found, as a clause."""
    if isinstance(answer, NoWinner):
        return "there is no winner: each arm loses to another one"
    if isinstance(answer, Verdicts):
        return judged(answer, settings)
    leader = answer.arm if isinstance(answer, Best) else answer.leader
    return f"{leader} {verdict(answer, settings)}"


def decision(answer: Answer, settings: Setup) -> str | None:
    """What was found, in a table of experiments: the best arm, or which arms pass; None for nothing."""
    if isinstance(answer, Best):
        return answer.arm
    return judged(answer, settings) if isinstance(answer, Verdicts) else None


def judged(found: Verdicts, settings: Setup, most: int = 1000) -> str:
    """Which arms pass and which fail: "a, b are better than old; c is not better than old"; "" for none."""
    asked = per_arm(settings)
    assert asked is not None
    said = []
    for arms, passed in ((found.passed, True), (found.failed, False)):
        names = [shortened(arm, most) for arm in arms[:MOST_JUDGED]]
        more = f" and {len(arms) - MOST_JUDGED} more" if len(arms) > MOST_JUDGED else ""
        verb = "is" if len(arms) == 1 else "are"
        known = [shortened(arm, most) for arm in settings.arms]
        subject = asked.subject(f"{', '.join(names)}{more}", len(arms) > 1)
        said += [f"{subject} {verb} {asked.verdict(passed, known)}"] if arms else []
    return "; ".join(said)


def sentence(now: Account) -> str:
    """Where the experiment stands, in one sentence; with the failures."""
    return "; ".join([_standing(now), *(c.sentence for c in now.promise.caveats if c.code == "failed")])


def _standing(now: Account) -> str:
    answer, waiting = now.answer, now.progress.waiting
    match answer:
        case Suspended():
            return f"suspended: {answer.reason}"
        case Stopped():
            return f"stopped ({answer.reason}), undecided after {spent(now)}{_guess(now)}"
        case Undecided(None, so_far=None) | UsedUp(None, so_far=None):
            if waiting:
                return f"no result counts yet: {plural(waiting, 'result')} waiting for an earlier pull"
            return "no result yet"
        case Undecided() | UsedUp():
            hole = f"; {waiting} more waiting for an earlier pull" if waiting else ""
            done = ", all that there are" if isinstance(answer, UsedUp) else ""
            return f"undecided after {spent(now)}{done}{_guess(now)}{hole}"
        case Best() | NoWinner() | Verdicts():
            return f"{claim(answer, now.settings)}; {now.promise.words}; {spent(now)}"
    assert_never(answer)


def _guess(now: Account) -> str:
    if isinstance(now.answer, Open) and now.answer.so_far is not None:
        parts = [judged(now.answer.so_far, now.settings), *open_words(now)]
        return "".join(f"; {part}" for part in parts if part)
    if now.leader is None:
        return ""
    near = at_most(now)
    return f"; {claim(now.answer, now.settings)}" + (f" and {near}" if near else "")


def open_words(now: Account) -> list[str]:
    """Where those arms stand that have neither passed nor failed: a few of them."""
    asked, places = per_arm(now.settings), places_of(now)
    rows = [one for one in now.standings if one.role is Role.OPEN]
    if asked is None:
        return []
    found = [(one.arm, judged_estimate(one, places), judged_ends(now, one, places)) for one in rows]
    known = [one for one in found if one[1] or one[2]][:MOST_NAMED]
    shown = [asked.clause(*one, now.settings.arms, " so far") for one in known]
    more = len(rows) - len(shown)
    return shown + ([f"{more} more {'is' if more == 1 else 'are'} open"] if more and shown else [])


def headline(answer: Answer, settings: Setup, waiting: int) -> str:
    """The answer in a few words."""
    if isinstance(answer, Open) and answer.so_far is not None and not isinstance(answer, Suspended):
        return _open_headline(answer, answer.so_far, settings)
    match answer:
        case Verdicts():
            return judged(answer, settings, LONGEST_NAME)
        case NoWinner():
            return "No option wins against all others"
        case Tied(_, arms):
            names = [shortened(arm, LONGEST_NAME // 2) for arm in arms[:MOST_NAMED]]
            more = len(arms) - len(names)
            return f"{', '.join(names)}{f' and {more} more' if more else ''} are equally good, and the best"
        case Within(arm, tolerance):
            return f"{shortened(arm, LONGEST_NAME)} is {settings.design.near_words(tolerance)}"
        case Best(arm):
            return f"{shortened(arm, LONGEST_NAME)} is the best option"
        case Stopped(leader):
            return "Stopped undecided" + (f": {shortened(leader, LONGEST_NAME)} leads" if leader else "")
        case Suspended():
            return "Suspended: the values are not as assumed"
        case Undecided(None) | UsedUp(None):
            return "No result counts yet" if waiting else "There is no result yet"
        case UsedUp(leader):
            return f"Not decided, and no items left: {shortened(leader or '', LONGEST_NAME)} leads"
        case Undecided(leader):
            return f"Not decided yet: {shortened(leader or '', LONGEST_NAME)} leads"
    assert_never(answer)


def _open_headline(answer: Open, found: Verdicts, settings: Setup) -> str:
    asked, said = per_arm(settings), judged(found, settings, LONGEST_NAME)
    begins = {Stopped: "Stopped undecided", UsedUp: "No items left, and not decided"}
    first = begins.get(type(answer), "Not decided yet")
    if asked is None or not said:
        return first
    known = {*found.passed, *found.failed}
    left = [
        arm for a, arm in enumerate(settings.arms) if arm not in known and a != asked.reference(settings.arms)
    ]
    names = [shortened(arm, LONGEST_NAME) for arm in left[:MOST_NAMED]]
    names += [f"{len(left) - MOST_NAMED} more"] if len(left) > MOST_NAMED else []
    return f"{first} for {listed(names)}; {said}"


def paragraph(now: Account) -> str:
    """What was found, after how much, what it rests on, and how many pulls failed."""
    failed = [f" {begun(one.sentence)}." for one in now.promise.caveats if one.code == "failed"]
    return "".join([_paragraph(now), *failed])


def _paragraph(now: Account) -> str:
    answer, after = now.answer, f"after {spent(now)}"
    match answer:
        case NoWinner():
            return f"Decided {after}: each option loses to another one; {now.promise.words}."
        case Verdicts():
            return f"Decided {after}; {now.promise.words}."
        case Best():
            wins = not (now.settings.design.averages or isinstance(answer, Tied))
            more = f" It {verdict(answer, now.settings)}." if wins else ""
            return f"Decided {after}; {now.promise.words}.{more}"
        case Suspended():
            return f"{begun(answer.reason)}."
        case Undecided() | UsedUp() if not now.samples:
            some = plural(now.progress.waiting, "result")
            waits = f" {some} waiting for an earlier pull." if now.progress.waiting else ""
            return f"Nothing can be said before the first result counts.{waits}"
        case Undecided() | UsedUp() | Stopped():
            near = f" The leader {at_most(now)}." if at_most(now) else ""
            near += f" Open: {'; '.join(open_words(now))}." if open_words(now) else ""
            why = f" It was stopped by hand ({answer.reason})." if isinstance(answer, Stopped) else ""
            why = " There are no more items." if isinstance(answer, UsedUp) else why
            none = "It is not decided" if per_arm(now.settings) else "No option is proven to be the best"
            return f"{none} {after}.{near}{why}"
    assert_never(answer)


def spent(now: Account) -> str:
    """What it took so far."""
    took = now.settings.design.spent_words(now.samples, now.progress.rounds)
    return took + (f", with {listed(known(now.settings))} known" if known(now.settings) else "")


def known(settings: Setup) -> tuple[str, ...]:
    """The arms that are not asked, since their scores are known."""
    found: tuple[str, ...] = () if settings.known is None else settings.known.arms
    return found


def at_most(now: Account) -> str:
    """How far the leader can be from the best; "" if that is not known, or there is a decision."""
    within = now.answer.within if isinstance(now.answer, Open) else None
    side = "above" if now.settings.minimize else "below"
    return "" if within is None else now.settings.design.shortfall_words(within, side)


def compared(now: Account, one: Standing, said: str) -> str:
    """A number, and what it is of, for those who do not see the picture."""
    asked = per_arm(now.settings)
    if asked is not None:
        places = places_of(now)
        seen, between = judged_estimate(one, places), judged_ends(now, one, places)
        return asked.clause(one.arm, "" if asked.of_number else seen, between, now.settings.arms)
    return f"{now.leader} {now.settings.design.does} {said} against {one.arm}"


def colour_words(now: Account, things: str = "lines") -> str:
    """What the colours of a picture of intervals mean."""
    if per_arm(now.settings) is not None:
        return f"Green {things} are of options that have passed, red ones of options that have failed."
    return f"Green {things} are of options that are ruled out."


def spread(now: Account) -> str:
    """To which options samples went, as a caption."""
    went = "to the options that are hard to tell apart"
    if per_arm(now.settings) is not None:
        base = "" if now.centre is None or now.centre in known(now.settings) else f", and to {now.centre}"
        went = f"in turn to the options whose verdict was open{base}"
    elif now.settings.question.by_claims and now.settings.design.averages:
        went = "in turn to the options in the race"
    return f"Where the samples went: {went}."


def outlook(now: Account) -> str:
    """What the two ends of a forecast are."""
    what = (
        "the lead over the closest rival is one standard error (the usual size of chance) larger, or smaller,"
    )
    if per_arm(now.settings) is not None:
        what = (
            "what is open is one standard error (the usual size of chance) farther from the line, or nearer,"
        )
    return f"How much longer: the ends are what it takes if {what} than it looks."


def too_early(now: Account) -> str:
    """Why a forecast has no ends."""
    what = "the lead over the closest rival is within one standard error"
    if per_arm(now.settings) is not None:
        what = "what is open is within one standard error of the line"
    return f"{what}, the usual size of chance"


def page_titles(now: Account) -> dict[str, str]:
    """Headings that depend on what is asked."""
    asked = per_arm(now.settings)
    if asked is None:
        return {"race": "Options in the race", "rivals": "The leader against each other option"}
    return {"race": "Verdicts", "rivals": asked.about(now.settings.arms)}


# -- how sure that is ----------------------------------------------------------------------------------


def sureness(now: Account) -> list[str]:
    """How sure the answer is, and what must be true for it."""
    promise = now.promise
    if promise.bound is None:
        return [f"There is {promise.words}."]
    found = [f"The answer is {promise.words}."]
    if promise.certain:
        return found
    if isinstance(now.answer, Open):
        found = [f"An answer, once there is one, will be {promise.words}."]
        if isinstance(now.answer, Stopped | UsedUp):
            found = [f"It ended before there was an answer, which would have been {promise.words}."]
        if at_most(now):
            left = confidence(promise.bound)
            found.append(f"The statement about the leader holds with probability at least {left}.")
    return [
        *found,
        f"This holds however often the results are looked at. It also requires that "
        f"{now.settings.design.condition_words}, and that no result was left out because of its value.",
    ]


def chance(now: Account) -> tuple[str, str]:
    """The chance of a wrong answer in a few words, and what there is to say below it."""
    bound, asked = now.promise.bound, f"asked for: {percent(now.settings.delta)}"
    if bound is None:
        return "not proven", asked
    if now.promise.certain:
        return "none", f"all {now.settings.design.units.unit}s were used"
    return f"at most {percent(bound)}", asked


def notes(now: Account, beside_promise: bool) -> list[str]:
    """The caveats; beside the promise in words, without those that it already gives as its reasons."""
    return [c.sentence for c in now.promise.caveats if not (beside_promise and c.effect == VOIDS)]


def nothing_unusual(now: Account) -> str:
    """In place of the caveats that only inform."""
    if now.promise.caveats:
        return "Nothing but what is said above."
    return "Nothing unusual was recorded: no failure, no late answer, no correction."


def ends(now: Account) -> str:
    """How sure the intervals are; "" if none has an end, or nothing is proven.

    An end at 0 that says no more than the decision is as sure as the decision.
    """
    known = any(one.lead is not None and any(map(math.isfinite, one.lead.ends)) for one in now.standings)
    if now.promise.bound is None or now.promise.certain or not known:
        return ""
    besides = "besides the decision, " if now.decided else ""
    sure = f"at all times with probability at least {confidence(now.promise.bound)}"
    if per_arm(now.settings) is not None:
        several = sum(one.lead is not None for one in now.standings) > 1
        besides = "besides the verdicts, " if arms_in(now, Role.PASSED, Role.FAILED) else ""
        return f"{besides}{'all intervals hold together' if several else 'the interval holds'} {sure}"
    return f"{besides}each end of an interval holds by itself, {sure}"


def measured(now: Account) -> str:
    """What an interval in a picture is a measure of, and how sure it is."""
    asked, of = per_arm(now.settings), now.settings.design.measures
    if asked is not None:
        of = f"{asked.about(now.settings.arms)}, in the values' own units"
    return of + (f"; {ends(now)}" if ends(now) else "")


def measure(now: Account) -> str:
    """The same as the title of a column."""
    asked = per_arm(now.settings)
    if asked is not None:
        known = [shortened(arm, LONGEST_TITLE) for arm in now.settings.arms]
        return asked.measure(known)
    return f"{shortened(now.leader or 'leader', LONGEST_TITLE)} {now.settings.design.does}"


def bar_titles(now: Account, sign: str) -> tuple[str, ...]:
    """The same over a picture in which a sign stands for the line across, the longest first."""
    asked = per_arm(now.settings)
    if asked is None:
        return f"leader is better by ({sign} is 0)", "leader is better by", "leads by"
    what = measure(now)
    return f"{what} ({sign} is {claimed(asked.at)})", what, f"{sign} is {claimed(asked.at)}"


def scale(now: Account) -> str:
    """The same below an axis."""
    asked, of = per_arm(now.settings), now.settings.design.scale
    if asked is not None and asked.of_number:
        of = "in the values' units"
    return f"{'the leader is better by' if asked is None else measure(now)} ({of})"


def beside_picture(now: Account, one: Standing, said: str) -> str:
    """A number beside a picture, and what it is of; "" for none."""
    asked = per_arm(now.settings)
    if not said:
        return ""
    if asked is None:
        return f"{now.settings.design.behind} {said}"
    return f"{one.role}, {said}" if asked.of_number else f"{one.role}: {compared(now, one, said)}"


def line_words(now: Account) -> str:
    """What the line across a picture of intervals marks."""
    asked = per_arm(now.settings)
    if asked is None or asked.mark == 0.0:
        return "no difference"
    return f"{claimed(asked.at)}, where an option begins to pass"


def sought(settings: Setup, side: str) -> tuple[str, str]:
    """What is asked, as a row of a table: the smallest or the largest, or whether each option passes."""
    asked = per_arm(settings)
    if asked is None:
        return "looking for", settings.design.sought_words(side)
    return "asked", asked.asked("option", settings.arms)


def which_is_better(now: Account) -> str:
    """Which values are good, and what of them counts."""
    return now.settings.design.which_words("smaller" if now.settings.minimize else "larger")


def beyond(now: Account) -> list[str]:
    """What holds for items like these, as a sentence; nothing where that is not asked."""
    said = population_words(now)
    return [f"{begun(said)}."] if said else []


# -- arms ----------------------------------------------------------------------------------------------


def leads(now: Account) -> list[str]:
    """The arms that may still be the best, while nothing is decided."""
    return arms_in(now, Role.LEADS, Role.RACING)


def arms_in(now: Account, *roles: Role) -> list[str]:
    """The arms with one of these roles."""
    return [one.arm for one in now.standings if one.role in roles]


def out_words(one: Standing) -> str:
    """When an arm was ruled out."""
    return f"after {plural(one.out or 0, 'sample')}"


def out_notes(now: Account) -> list[str]:
    """The same as sentences."""
    rows = [one for one in now.standings if one.out is not None]
    if per_arm(now.settings) is not None:
        judged = [one for one in rows if one.role in (Role.PASSED, Role.FAILED)]
        return [f"{one.arm} {one.role} {out_words(one)}" for one in judged]
    return [f"{one.arm} was ruled out {out_words(one)}: it is not the best" for one in rows]


def better_than_control(now: Account) -> list[str] | None:
    """The arms that are proven to be better than the control, also by being the best; None if none can be."""
    if now.settings.control is None or now.promise.bound is None:
        return None
    best = now.best if best_is_better(now) else None
    rows = [(one.arm, one.over_control) for one in now.standings]
    return [arm for arm, over in rows if arm == best or (over is not None and over.low > 0.0)]


def versus_control(now: Account) -> str:
    """Which arms are better than the control; "" without one, or if nothing is proven."""
    better = better_than_control(now)
    if better is None:
        return ""
    named = ", ".join(better) or "no arm is proven to be"
    verb = " is" if len(better) == 1 else " are" if better else ""
    best = ", being the best" if better == [now.best] else ""
    return f"{named}{verb} better than the control {now.settings.control}{best}"


def control_sentence(now: Account) -> str:
    """The same as a sentence."""
    said = versus_control(now)
    return f"{begun(said) if not better_than_control(now) else said}." if said else ""


def best_is_better(now: Account) -> bool:
    """Whether the decision itself says that its option is better than the control."""
    return type(now.answer) is Best and now.answer.arm != now.settings.control


def control_measured(now: Account) -> str:
    """What an interval against the control is a measure of."""
    return f"By how much each other option is {now.settings.design.control_scale}."


def control_ends(now: Account) -> str:
    """How sure the intervals against the control are; "" if nothing is proven."""
    if now.promise.bound is None:
        return ""
    return (
        f"Apart from the answer above, all lower ends hold together with probability at least "
        f"{confidence(now.promise.bound)}, and so do all upper ends."
    )


# -- what is waited for --------------------------------------------------------------------------------


def hold(now: Account) -> str:
    """Which pull the decision waits for, who has it, and what to do; "" if it waits for none."""
    return "" if now.progress.waits_for is None else _held(now.progress.waits_for, now.name)


def _held(one: Hold, experiment: str) -> str:
    what = f"the decision waits for pull {one.pull} of arm {one.arm!r}"
    if not one.out:
        return f"{what}, which failed or lapsed; the next ask issues it again"
    who = "a worker without a name" if one.worker is None else one.worker
    by = "with no deadline" if one.until is None else f"until {moment(one.until)} unless renewed"
    only = "" if one.worker is None else f" --worker {shlex.quote(one.worker)}"
    return (
        f"{what}, which {who} has had since {moment(one.since)}, {by}; if that worker is gone, "
        f"`truebest reclaim {shlex.quote(experiment)}{only}` lets it be issued again at once"
    )


def decided(record: Mapping[str, Any]) -> str:
    """What a line of the log decides, from its data."""
    if record.get("best") is not None:
        return f"{record['best']} is best"
    kinds = (str(role) for role in (Role.PASSED, Role.FAILED))
    return "; ".join(f"{', '.join(record[kind])} {kind}" for kind in kinds if record.get(kind)) or "no winner"


# -- line by line --------------------------------------------------------------------------------------


def facts(now: Account) -> list[tuple[str, str]]:
    """Where it stands, as `truebest status` prints it above the table of arms."""
    answer, far, decided = now.answer, now.progress, now.decided
    lines = [("decision", claim(answer, now.settings) if decided else "none yet")]
    if per_arm(now.settings) is not None:
        kinds = ((role, arms_in(now, role)) for role in (Role.PASSED, Role.FAILED, Role.OPEN))
        lines += [(str(role), ", ".join(arms)) for role, arms in kinds if arms]
    elif not decided:
        lines.append(("leader", _leader_fact(now)))
    why = "came after the decision" if decided else "waiting for earlier pulls"
    lines.append(("samples", f"{far.samples}" + (f"; {far.waiting} more {why}" if far.waiting else "")))
    if isinstance(answer, Stopped):
        lines.append(("stopped", answer.reason))
    if far.waits_for is not None:
        lines.append(("waits for", hold(now).removeprefix("the decision waits for ")))
    lines += _evidence_fact(now)
    if per_arm(now.settings) is None:
        if not decided and now.promise.bound is not None:
            lines.append(("candidates", ", ".join(leads(now))))
        out = [f"{one.arm} {out_words(one)}" for one in now.standings if one.out is not None]
        lines += [("ruled out", "; ".join(out))] if out else []
    lines += [("control", versus_control(now))] if versus_control(now) else []
    lines.append(("promise", now.promise.words))
    lines += [("population", population_words(now))] if now.population is not None else []
    lines += [("SUSPENDED", answer.reason)] if isinstance(answer, Suspended) else []
    return lines + [("note", note) for note in notes(now, True)]


def _leader_fact(now: Account) -> str:
    if now.leader is not None:
        return f"{now.leader} (a guess, not a decision)" + (f" {at_most(now)}" if at_most(now) else "")
    if now.progress.waiting:
        return f"none yet, {now.progress.waiting} results wait for an earlier pull"
    return "none, there is no result yet"


def _evidence_fact(now: Account) -> list[tuple[str, str]]:
    """What the rule's statistic has come to, as long as that is of interest."""
    statistic, threshold = now.progress.statistic, now.progress.threshold
    if statistic is None or threshold is None:
        return []
    if not now.decided:
        return [("evidence", f"{evidence(now)[0]}: {max(statistic, 0.0):.1f} of {threshold:.1f}")]
    if any(one.code == "stops-itself" for one in now.promise.caveats):
        name = now.settings.strategy_name
        return [("evidence", f"{name} stopped by itself; the rule would need {threshold:.1f}")]
    return []


def evidence(now: Account) -> tuple[str, float]:
    """How far the statistic has come to its threshold, in words and as a part of 1."""
    z, beta = now.progress.statistic, now.progress.threshold
    if now.decided:
        return "enough", 1.0
    if z is None or beta is None:
        return "none yet", 0.0
    part = min(max(z / beta if beta > 0.0 else 1.0, 0.0), 1.0)
    return f"{math.floor(100.0 * part)} per cent of the way", part
