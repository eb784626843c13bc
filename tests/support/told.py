"""What an account says, arm by arm, for tests that compare all arms at once."""

from __future__ import annotations

import math
from typing import Any

from truebest import Account, NoWinner, Open, Stopped, Suspended, Tied, Undecided
from truebest.experiment.settings import new_settings
from truebest.telling.answers import Answer
from truebest.telling.standings import Caveat, Lead, Progress, Promise, Role, Standing


def column(now: Account, name: str) -> dict[str, Any]:
    """A field of `Standing`, by arm."""
    return {one.arm: getattr(one, name) for one in now.standings}


def findings(now: Account) -> tuple[Any, ...]:
    """What was found, on which samples, whatever happened on the way."""
    rows = tuple(one._replace(pending=0, failures=0) for one in now.standings)
    return now.answer, rows, now.progress.samples, now.progress.rounds


def intervals(now: Account) -> dict[str, tuple[float, float]]:
    """By how much the leader is better than each other arm."""
    return {one.arm: one.lead.ends for one in now.standings if one.lead is not None}


def against_control(now: Account) -> dict[str, tuple[float, float]]:
    """By how much each other arm is better than the control."""
    return {one.arm: one.over_control.ends for one in now.standings if one.over_control is not None}


def won_and_lost(now: Account) -> dict[str, tuple[int, int]]:
    """How often the leader has won and lost against each other arm."""
    found = {one.arm: one.lead for one in now.standings if one.lead is not None}
    return {arm: (lead.won or 0, lead.lost or 0) for arm, lead in found.items()}


def ruled_out(now: Account) -> dict[str, int]:
    """After how many samples."""
    return {one.arm: one.out for one in now.standings if one.out is not None}


def in_the_race(now: Account) -> tuple[str, ...]:
    """The arms that may be the best."""
    return tuple(one.arm for one in now.standings if one.role is not Role.OUT)


def tied(now: Account) -> tuple[str, ...]:
    """The arms that are best together."""
    return now.answer.arms if isinstance(now.answer, Tied) else ()


def suspended(now: Account) -> str:
    """Why, or ""."""
    return now.answer.reason if isinstance(now.answer, Suspended) else ""


def stopped(now: Account) -> str | None:
    """Why, or None."""
    return now.answer.reason if isinstance(now.answer, Stopped) else None


def no_winner(now: Account) -> bool:
    """Whether it is found that there is none."""
    return isinstance(now.answer, NoWinner)


def made(
    arms: tuple[str, ...],
    answer: Answer | None = None,
    *,
    means: dict[str, float | None],
    ends: dict[str, tuple[float, float]],
    pulls: dict[str, int] | None = None,
    sd: dict[str, float | None] | None = None,
    pending: dict[str, int] | None = None,
    minimize: bool = False,
    caveats: tuple[Caveat, ...] = (),
    **far: Any,
) -> Account:
    """An account that nothing was done for; without an answer the last arm leads."""
    answer = answer or Undecided(arms[-1])
    leader = answer.leader if isinstance(answer, Open) else getattr(answer, "arm", None)
    samples = pulls or dict.fromkeys(arms, 100)

    def lead(arm: str) -> Lead | None:
        if arm == leader or leader is None:
            return None
        mine, its = means[leader], means[arm]
        known = mine is not None and its is not None
        estimate = (-1.0 if minimize else 1.0) * ((mine or 0.0) - (its or 0.0)) if known else None
        return Lead(estimate, *ends.get(arm, (-math.inf, math.inf)))

    def role(arm: str) -> Role:
        if arm == leader:
            return Role.LEADS if isinstance(answer, Open) else Role.BEST
        return Role.OUT if ends.get(arm, (0.0, 0.0))[0] > 0.0 else Role.RACING

    standings = tuple(
        Standing(
            arm,
            role(arm),
            samples[arm],
            (pending or {}).get(arm, 0),
            0,
            means[arm],
            (sd or {}).get(arm),
            None,
            lead(arm),
            None,
            None,
            None,
        )
        for arm in arms
    )
    settings = new_settings(
        arms, 0.05, bounds=(0, 1), strategy="tas-d", stopping="mixture", minimize=minimize
    )
    said = Promise(0.05, "wrong with probability at most 5%, assuming independent values in [0, 1]", caveats)
    return Account("x", settings, answer, standings, said, Progress(sum(samples.values()), **far))


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """An account as JSON, with what it says of the arms by arm, under the names of version 0.2."""
    rows, answer, settings = record["standings"], record["answer"], record["settings"]
    leader = answer.get("arm", answer.get("leader"))
    leads = {row["arm"]: row["lead"] or {} for row in rows if row["arm"] != leader}

    def each(name: str) -> dict[str, Any]:
        return {row["arm"]: row[name] for row in rows}

    return {
        **record,
        **settings,
        **record["progress"],
        "decision": record["best"],
        "leader": leader,
        "promise": record["promise"]["bound"],
        "assumes": record["promise"]["words"],
        "caveats": record["promise"]["caveats"],
        "pulls": each("samples"),
        "means": each("mean"),
        "deviations": each("sd"),
        "pending": each("pending"),
        "failures": each("failures"),
        "intervals": {arm: [lead.get("low"), lead.get("high")] for arm, lead in leads.items()},
        "wins": {
            arm: [lead["won"], lead["lost"]] for arm, lead in leads.items() if lead.get("won") is not None
        },
        "against_control": {row["arm"]: row["over_control"] for row in rows if row["over_control"]},
        "ruled_out": {row["arm"]: {"samples": row["out"]} for row in rows if row["out"] is not None},
        "tied": answer.get("arms", []),
        "stopped": answer["reason"] if answer["kind"] == "stopped" else None,
        "suspended": answer["reason"] if answer["kind"] == "suspended" else "",
        "no_winner": answer["kind"] == "no_winner",
    }
