"""Tolerances, sums and the number of items meet as the numbers that were written, on small closed sets."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from support.told import against_control, intervals, tied
from truebest import Against, AtLeast, AtMost, Gate, Verdicts
from truebest.designs import Rounds, Wins
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.experiment import Experiment
from truebest.experiment.settings import new_settings
from truebest.experiment.store.memory import MemoryStore
from truebest.experiment.totals import Totals
from truebest.experiment.verification import verify
from truebest.kernels import paired
from truebest.kernels.wins import near_difference
from truebest.questions import PerArm, Question
from truebest.telling import words

SIZES = (1, 2, 3, 7, 10, 57, 100, *(pytest.param(n, marks=pytest.mark.slow) for n in (99, 101, 120)))


@pytest.mark.parametrize("items", SIZES)
def test_a_tolerance_of_hundredths_is_exact_when_items_are_used_up(items: int) -> None:
    """All wins of the other arm, all numbers of missing values of the leader, all tolerances k/100."""
    for k in range(101):
        settings = new_settings(
            ["b", "i"], items=items, bounds=(0, 1), tolerance=k / 100, failures="worst", seed=1
        )
        totals = Totals(settings)
        for missing in range(items + 1):
            for wins in {0, items, items - missing, *range(max(0, items - 8), items)}:
                totals.sums = [(Decimal(items - missing), Decimal(items)), (Decimal(wins), Decimal(wins))]
                lead = totals.lead(0, 1), totals.lead(1, 0)
                best = 0 if lead[0] >= lead[1] else 1
                within = Fraction(int(lead[best])) >= -Fraction(k, 100) * items
                assert totals.verdict([0, 1]) == (best if within else paired.UNDECIDED)


@pytest.mark.parametrize("items", [7, 57, 100])
def test_equality_is_never_certain(items: int) -> None:
    """A difference that what is left can just reach is possible; one hundredth of the items less is not."""
    design = Rounds(items)
    params = design.parameters(2, 0.05)
    pairs, arms = design.blank(2)
    for n in range(1, items + 1):
        arms[paired.ROUNDS] = n
        arms[paired.SPAN] = sum(items / (items - r) for r in range(n))
        for lead in range(-n, n + 1):
            pairs[paired.LEAD, 1] = lead
            just = lead - (items - n)
            assert paired.pair_evidence(params, pairs, arms, 0, 1, just / items) < math.inf
            assert paired.pair_evidence(params, pairs, arms, 0, 1, (just - 1) / items) == math.inf


def expected(mine: str, best: str, k: int) -> float:
    """D within a factor 1 + k/100, of the decimals; smaller is better."""
    left, right = Fraction(mine), (1 + Fraction(k, 100)) * Fraction(best)
    return float((left < right) - (left > right))


@pytest.mark.parametrize("rounding", [True, False])
def test_a_factor_of_hundredths_is_exact(rounding: bool) -> None:
    """All tolerances k/100 and values of 1 to 120 tenths, at, below and above the factor; and the control."""
    wrong = 0
    for k in range(1, 101):
        params = Wins().parameters(2, 0.05, k / 100)
        if not rounding:
            params[paired.ROUNDING] = 0.0
        for tenths in range(1, 121):
            best = str(Decimal(tenths) / 10)
            at = Decimal(best) * (100 + k) / 100
            for mine in (str(at - Decimal("1e-6")), str(at), str(at + Decimal("1e-6"))):
                values = np.array([-float(mine), -float(best)])
                wrong += near_difference(params, values, values, 0, 1) != expected(mine, best, k)
    assert (wrong == 0) == rounding


def test_infinite_values_are_compared_as_before() -> None:
    """A failure is worse than every value, and two are a tie."""
    params = Wins().parameters(2, 0.05, 0.07)
    for mine, best, d in ((-np.inf, -1.0, -1.0), (-1.0, -np.inf, 1.0), (-np.inf, -np.inf, 0.0)):
        values = np.array([mine, best])
        assert near_difference(params, values, values, 0, 1) == d


def played(version: int, a: list[float], b: list[float], **given: object) -> Experiment:
    """An experiment on as many items as there are values, of a version of the decisions."""
    record = new_settings(["a", "b"], 1e-9, items=len(a), seed=3, **given).to_record()  # type: ignore[arg-type]
    store = MemoryStore()
    store.create("x", Entry(CREATED, data={**record, "decisions": version}))
    experiment, values = Experiment.open(store, "x"), {"a": a, "b": b}
    while pulls := experiment.ask():
        assert pulls[0].item is not None
        experiment.tell(pulls[0], values[pulls[0].arm][pulls[0].item])
    assert verify(store, "x").sound
    return experiment


def test_decimals_that_sum_to_the_same_are_tied() -> None:
    """Also where binary sums differ: .1 + .2 and .3."""
    found = played(3, [0.1, 0.2, 0.7], [0.3, 0.6, 0.1], bounds=(0, 1)).status()
    assert (found.best, set(tied(found))) == ("a", {"a", "b"})


@pytest.mark.parametrize("minimize", [False, True])
def test_a_difference_that_rounds_away_decides(minimize: bool) -> None:
    """A hundredth on one of 20 items within a range of 1e9; version 2 called these arms tied."""
    same = [float(1000 * i) for i in range(20)]
    more = [*same[:7], same[7] + 0.01, *same[8:]]
    now = played(3, same, more, bounds=(0, 1e9), minimize=minimize).status()
    assert (now.best, tied(now)) == ("a" if minimize else "b", ())
    before = played(2, same, more, bounds=(0, 1e9), minimize=minimize).status()
    assert set(tied(before)) == {"a", "b"}


def test_equal_totals_are_not_better_than_the_control() -> None:
    """Nor is an arm whose lead is what what is left can just make up for; binary says otherwise."""
    even = played(3, [0.1, 0.2], [0.3, 0.0], bounds=(0, 1), control="b").status()
    assert (words.better_than_control(even), intervals(even)) == ([], {"b": (0.0, 0.0)})
    experiment = Experiment.create(
        MemoryStore(), "x", ["a", "b"], 0.05, bounds=(0, 7), items=4, control="b", seed=3
    )
    for scores in ({"a": 4.9, "b": 4.2}, {"a": 6.3, "b": 5.6}, {"a": 7.0, "b": 1.4}):
        experiment.tell([(pull, scores[pull.arm]) for pull in experiment.ask(2)])
    assert experiment.status().progress.rounds == 3
    assert words.better_than_control(experiment.status()) == []
    assert against_control(experiment.status())["a"][0] == 0.0


@pytest.mark.parametrize("minimize", [False, True])
def test_any_difference_is_better_than_the_control_in_the_end(minimize: bool) -> None:
    """And is shown, though it is lost beside the bounds."""
    same = [float(1000 * i) for i in range(20)]
    more = [*same[:7], same[7] + 0.01, *same[8:]]
    good, bad = (same, more) if minimize else (more, same)
    found = played(3, good, bad, bounds=(0, 1e9), minimize=minimize, control="b").status()
    assert words.better_than_control(found) == ["a"]
    assert against_control(found) == {"a": (0.0005, 0.0005)}
    assert intervals(found) == {"b": (0.0005, 0.0005)}


VERDICTS: dict[str, tuple[Question, tuple[float, float], str, str, Verdicts]] = {
    "a tie far from 0": (Gate("a"), (100000, 100001), "2547", "3546", Verdicts((), ("b",))),
    "a tie far from 0, of a list": (
        Against("a", only="better"),
        (100000, 100001),
        "2547",
        "3546",
        Verdicts((), ("b",)),
    ),
    "the margin far from 0": (Gate("a", 0.1), (20000, 20001), "6666", "5555", Verdicts(("b",), ())),
    "worse by more": (Gate("a", 0.1), (20000, 20001), "6666", "5554", Verdicts((), ("b",))),
    "just better, within wide bounds": (Gate("a"), (0, 1e12), "2547", "2548", Verdicts(("b",), ())),
    "a number far from 0": (AtLeast(100000.6), (100000, 100001), "378", "666", Verdicts(("a", "b"), ())),
    "a number far from 0, at most": (
        AtMost(100000.6),
        (100000, 100001),
        "468",
        "666",
        Verdicts(("a", "b"), ()),
    ),
    "just above a number": (AtMost(0.6), (-1e12, 1e12), "666", "667", Verdicts(("a",), ("b",))),
    "just below a number": (AtLeast(0.6), (-1e12, 1e12), "666", "665", Verdicts(("a",), ("b",))),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_verdicts_on_a_set_that_is_used_up_are_those_of_exact_sums(case: str) -> None:
    """Tenths, and bounds at which rounding would decide otherwise; the interval says the same."""
    question, bounds, mine, others, answer = VERDICTS[case]
    at = bounds[0] if bounds[0] > 0 else 0
    experiment = Experiment.create(
        MemoryStore(), "x", ["a", "b"], 1e-9, bounds=bounds, items=len(mine), question=question, seed=1
    )
    values = {
        "a": [float(f"{at}.{digit}") for digit in mine],
        "b": [float(f"{at}.{digit}") for digit in others],
    }
    while pulls := experiment.ask():
        assert pulls[0].item is not None
        experiment.tell(pulls[0], values[pulls[0].arm][pulls[0].item])
    account, asked = experiment.status(), question.bound(["a", "b"])
    assert isinstance(asked, PerArm)
    assert account.answer == answer
    for arm in answer.passed:
        lead = account[arm].lead
        assert lead is not None
        assert lead.low == lead.high
        assert lead.low == asked.mark or (lead.low > asked.mark) is asked.upwards
    for arm in answer.failed:
        lead = account[arm].lead
        assert lead is not None
        assert lead.low == lead.high
        assert lead.low == asked.mark or (lead.low < asked.mark) is asked.upwards


@pytest.mark.parametrize("hair", [-1e-14, 0.0, 1e-14])
@pytest.mark.parametrize(
    ("question", "high"), [(Gate("a", 0.05), 0.4), (Gate("a", -0.05), 0.6), (AtLeast(0.3), 0.6)]
)
def test_what_is_missing_leaves_open_by_exact_sums_what_rounded_ones_would_decide(
    question: PerArm, high: float, hair: float
) -> None:
    """The least that b can have is at the margin, or a hair off it: exact sums say whether it passes."""
    experiment = Experiment.create(
        MemoryStore(),
        "x",
        ["a", "b"],
        1e-9,
        bounds=(0, 1),
        items=2,
        failures="worst",
        question=question,
        seed=1,
    )
    values = {"a": [0.5, 0.0], "b": [high + hair, 0.0]}
    while pulls := experiment.ask():
        assert pulls[0].item is not None
        if pulls[0].arm == "b" and pulls[0].item == 1:
            experiment.fail(pulls[0], "no answer")
        else:
            experiment.tell(pulls[0], values[pulls[0].arm][pulls[0].item])
    passes = hair >= 0.0 if question.passes_at_mark else hair > 0.0
    row = next(one for one in experiment.status().standings if one.arm == "b")
    assert str(row.role) == ("passed" if passes else "open")
    assert experiment.verify().sound
