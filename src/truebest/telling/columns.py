"""The one table of arms: what each of its cells says, and the table as text, Markdown, HTML and records."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from .._html import Cell
from .._html import table as html_table
from .._records import frame
from .._text import aligned, begun, cell_of_markdown, harmless, markdown_table, shortened
from . import words
from .answers import Best, Within
from .numbers import is_at, judged_ends, judged_text, low_end, number, observed, places_of
from .standings import Interval, Role, Standing, per_arm

if TYPE_CHECKING:
    from .account import Account


def table(now: Account, between: bool = False, since: bool = True) -> tuple[list[str], list[list[str]]]:
    """Header and rows, see `in_order`; without columns that have nothing to say.

    between  whether to show where the means lie, where that is known
    since    whether to say since when an arm is ruled out
    """
    rows, control, places = now.standings, now.settings.control, places_of(now)
    asked = per_arm(now.settings)
    of_number = asked is not None and asked.of_number
    repeated = asked is not None and control is not None and words.measure(now) == better_than(control)
    columns: list[tuple[str, bool, Callable[[Standing], str]]] = [
        ("arm", True, lambda one: one.arm),
        ("verdict", asked is not None, lambda one: str(one.role)),
        ("samples", True, partial(samples_text, now)),
        ("pending", any(pending_text(now, one) for one in rows), partial(pending_text, now)),
        ("failed", any(one.failures for one in rows), lambda one: str(one.failures or "")),
        ("mean", True, lambda one: mean_text(one, places)),
        (
            "mean between",
            (between or of_number) and any(one.between is not None for one in rows),
            lambda one: _between(now, one, places),
        ),
        ("sd", True, sd_text),
        (
            f"{words.measure(now)}{' is' * of_number}",
            not of_number,
            lambda one: lead_text(now, one, places, since),
        ),
        (
            better_than(control or ""),
            control is not None and not repeated,
            lambda one: control_text(now, one, places),
        ),
    ]
    kept = [(title, text) for title, shown, text in columns if shown]
    return [title for title, _ in kept], [[text(one) for _, text in kept] for one in in_order(now)]


def better_than(control: str) -> str:
    """The title of the column that compares with a control."""
    return f"better than {shortened(control, words.LONGEST_TITLE)} by"


def in_order(now: Account) -> list[Standing]:
    """The leader, then the others by mean; or the arms as they are, where each is asked about by itself."""
    if per_arm(now.settings) is not None:
        return list(now.standings)
    sign = -1.0 if now.settings.minimize else 1.0
    return sorted(now.standings, key=lambda one: (one.arm != now.leader, -sign * (one.mean or 0.0)))


# -- cells ---------------------------------------------------------------------------------------------


def samples_text(now: Account, one: Standing) -> str:
    """How many; of an arm whose scores are known, that."""
    return "known" if one.arm in words.known(now.settings) else str(one.samples)


def mean_text(one: Standing, places: int | None) -> str:
    """With a digit more than a difference has."""
    return "" if one.mean is None else number(one.mean, None if places is None else places + 1)


def _between(now: Account, one: Standing, places: int | None) -> str:
    """Between which ends the mean of an arm lies."""
    asked = per_arm(now.settings)
    if asked is not None and asked.of_number:
        return judged_ends(now, one, places)
    return "" if one.between is None else " to ".join(number(end, places) for end in one.between)


def pending_text(now: Account, one: Standing) -> str:
    """Its pulls without a value, as long as these are waited for."""
    return "" if now.over else str(one.pending or "")


def sd_text(one: Standing) -> str:
    """The observed standard deviation, to three digits."""
    return "" if one.sd is None else f"{one.sd:.3g}"


def lead_text(now: Account, one: Standing, places: int | None, since: bool = True) -> str:
    """By how much the leader is better: what was observed, and between which ends it lies.

    Until there is a decision, an arm that is out has no ends: it is not the best, whatever they say.
    """
    if per_arm(now.settings) is not None:
        return judged_text(now, one, places)
    if one.lead is None or not one.lead.known:
        return _out(now, one) if one.lead is not None and since else ""
    said = observed(one.lead, _floor(now), places)
    if one.out is not None and not now.decided and one.lead.estimate is not None:
        said = number(one.lead.estimate, places)
    said = now.settings.design.lead_words(said, one.lead.won, one.lead.lost)
    return f"{said}, {_out(now, one)}" if since and _out(now, one) else said


def ends_text(now: Account, one: Standing, places: int | None) -> str:
    """The same beside a picture that has what was observed: the ends alone."""
    lead = one.lead
    if per_arm(now.settings) is not None:
        judged = [] if one.role is Role.BASELINE else [str(one.role), judged_ends(now, one, places)]
        return ", ".join(filter(None, judged))
    if lead is None or not lead.known:
        return "ruled out" if one.out is not None else ""
    if one.out is not None and not now.decided:
        return "ruled out"
    said = f"up to {number(lead.high, places)}"
    if lead.low == lead.high:
        said = number(lead.low, places)
    elif not is_at(lead, _floor(now)):
        said = f"{number(low_end(lead), places)} to {number(lead.high, places)}"
    if not now.settings.design.averages:
        said = f"wins {now.settings.design.lead_words(said, lead.won, lead.lost)}"
    return said


def control_text(now: Account, one: Standing, places: int | None) -> str:
    """By how much an arm is better than the control."""
    if one.over_control is None or not one.over_control.known:
        return ""
    best = words.best_is_better(now) and one.arm == now.best
    return observed(one.over_control, 0.0 if best else None, places)


def _out(now: Account, one: Standing) -> str:
    """Since when an arm is no longer sampled, unless that is the end."""
    over = now.decided and one.out == now.samples
    return "" if one.out is None or over else f"ruled out {words.out_words(one)}"


def _floor(now: Account) -> float | None:
    """What the decision itself says of the lower ends: they are above this; None if it says nothing."""
    match now.answer:
        case Within(_, tolerance):
            return -tolerance
        case Best():
            return 0.0
    return None


# -- the whole -----------------------------------------------------------------------------------------


def below(now: Account) -> list[str]:
    """An empty line and how sure the intervals of a table are; nothing where it has none."""
    return ["", f"{begun(words.ends(now))}."] if words.ends(now) else []


def as_text(now: Account) -> str:
    """The sentence, and the table below it."""
    header, rows = table(now, True)
    lines = aligned(list(map(harmless, header)), [list(map(harmless, row)) for row in rows])
    said = map(harmless, [now.sentence, *words.beyond(now)])
    return "\n".join([*said, "", *lines, *below(now)])


def as_markdown(now: Account) -> str:
    """The same in Markdown."""
    rest = "".join(f"\n{line}\n" for line in below(now)[1:])
    said = "\n\n".join(map(cell_of_markdown, [now.sentence, *words.beyond(now)]))
    return f"{said}\n\n{markdown_table(*table(now, True))}{rest}"


def as_html(now: Account) -> str:
    """The same in HTML, with whatever was given escaped."""
    header, rows = table(now, True)
    cells = [[Cell(_escaped(text), "style='text-align:left'") for text in row] for row in rows]
    titles = [Cell(_escaped(text), "style='text-align:left'") for text in header]
    rest = "".join(f"<p>{_escaped(line)}</p>" for line in below(now)[1:])
    said = "".join(f"<p>{_escaped(line)}</p>" for line in [now.sentence, *words.beyond(now)])
    return f"{said}{html_table(titles, cells)}{rest}"


def as_frame(now: Account) -> Any:
    """A pandas DataFrame, one row per arm, in the order of the arms."""
    return frame(records(now)).set_index("arm")


def records(now: Account) -> list[dict[str, Any]]:
    """A record per arm, in the order of the arms, with the names of `Standing`; what is not known is None."""
    return [
        {
            "arm": one.arm,
            "role": str(one.role),
            "samples": one.samples,
            "pending": one.pending,
            "failures": one.failures,
            "mean": one.mean,
            "sd": one.sd,
            **_ends("mean", one.between),
            "lead": one.lead and one.lead.estimate,
            **_ends("lead", one.lead and one.lead.ends),
            "won": one.lead and one.lead.won,
            "lost": one.lead and one.lead.lost,
            "over_control": one.over_control and one.over_control.estimate,
            **_ends("over_control", one.over_control and one.over_control.ends),
            "out": one.out,
            "beaten_by": one.beaten_by,
        }
        for one in now.standings
    ]


def _ends(what: str, ends: Interval | None) -> dict[str, float | None]:
    low, high = (None, None) if ends is None else (end if math.isfinite(end) else None for end in ends)
    return {f"{what}_at_least": low, f"{what}_at_most": high}


def _escaped(text: str) -> str:
    return f"<bdi>{escape(harmless(text))}</bdi>"
