"""`truebest.plan`: rounds on common items against a literal loop, both designs, the model, refusals."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import truebest
from support.refusals import refused_in_one_sentence
from truebest import InvalidInputError
from truebest._catalogue import DEFAULT_STRATEGY
from truebest.designs import Rounds, Wins
from truebest.kernels import paired as kernel
from truebest.kernels import wins
from truebest.kernels.random import open_stream, uniform
from truebest.kernels.round_claims import HEADS
from truebest.simulation.scores import POPULATION, make_items, model_correlation, spread_for

Floats = npt.NDArray[np.float64]
QUICK: dict[str, Any] = {"runs": 30, "seed": 7, "progress": False}


def literal_run(
    low: Floats, high: Floats, again: bool, run: int, tolerance: float = 0.0, longest: int = 10**6
) -> tuple[int, int, int, list[float]]:
    """One run as documented: calls, what is declared, what else leads, and the calls of each arm."""
    M, K = low.shape
    design, stream = Rounds(None if again else M), np.empty(2, np.uint64)
    params, (pairs, arms) = design.parameters(K, 0.05, tolerance), design.blank(K)
    open_stream(np.uint64(QUICK["seed"]), np.uint64(run), np.uint64(0), stream)
    left, calls, found = list(range(M)), 0, kernel.GO_ON
    for n in range(longest if again else min(M, longest)):
        if again:
            item = int(uniform(stream) * M)
        else:  # Fisher and Yates
            j = n + int(uniform(stream) * (M - n))
            left[n], left[j] = left[j], left[n]
            item = left[n]
        calls += int((arms[kernel.OUT_AFTER] == 0.0).sum())
        found = kernel.play_round(params, low[item], high[item], pairs, arms)
        if found != kernel.GO_ON:
            break
    led = -1 if found >= 0 else int(kernel.leading(pairs, arms))
    return calls, found, led, arms[kernel.ROUNDS].tolist()


def scores(kind: str, items: int = 300) -> Floats:
    """Three arms on common items: successes, or numbers between 0 and 1."""
    rng = np.random.default_rng(11)
    ease = rng.normal(size=(items, 1)) + 0.5 * rng.normal(size=(items, 3)) + [0.5, 0.1, -0.2]
    return np.asarray((ease > 0.0).astype(float) if kind == "0/1" else 1.0 / (1.0 + np.exp(-ease)))


@pytest.mark.parametrize("kind", ["0/1", "numbers"])
@pytest.mark.parametrize(
    "options",
    [{}, {"unlimited": True}, {"tolerance": 0.05}, {"unlimited": True, "max_rounds": 40}, {"max_rounds": 20}],
    ids=str,
)
def test_runs_are_those_of_a_literal_loop(kind: str, options: dict[str, Any]) -> None:
    """Calls, answers and pulls of every run, to the last one."""
    table = scores(kind)
    cell = truebest.plan(table, **QUICK, **options).paired
    assert cell is not None
    again, tolerance = options.get("unlimited", False), options.get("tolerance", 0.0)
    longest = options.get("max_rounds", 10**6)
    runs = [literal_run(table, table, again, run, tolerance, longest) for run in range(cell.runs)]
    assert cell.samples.tolist() == [calls for calls, *_ in runs]
    assert cell.recommended.tolist() == [max(found, -1) for _, found, *_ in runs]
    np.testing.assert_allclose(cell.mean_pulls, np.mean([pulls for *_, pulls in runs], axis=0), rtol=1e-12)
    if "max_rounds" in options:
        assert cell.censored > 0
        assert cell.leaders.tolist() == [led for _, _, led, _ in runs]
        assert cell.wrong_leaders == sum(led > 0 for _, _, led, _ in runs)


TIMES = np.exp(np.random.default_rng(3).normal([0.0, 0.5, 1.5], size=(200, 3)))


@pytest.mark.parametrize(
    "options", [{}, {"unlimited": True}, {"tolerance": 0.07}, {"unlimited": True, "max_rounds": 40}], ids=str
)
def test_rounds_by_wins_are_those_of_a_literal_loop(options: dict[str, Any]) -> None:
    """Calls and answers of every run, of times, of which the smallest is the best."""
    plan = truebest.plan(TIMES, minimize=True, compare="wins", **QUICK, **options)
    cell = plan.paired
    assert cell is not None
    assert cell.best == {0}
    assert plan.independent is None
    assert plan.complete
    again, found, K = options.get("unlimited", False), [], 3
    for run in range(cell.runs):
        design, stream, left = Wins(None if again else 200), np.empty(2, np.uint64), list(range(200))
        params, (pairs, arms) = design.parameters(K, 0.05, options.get("tolerance", 0.0)), design.blank(K)
        near, told = np.zeros_like(pairs), np.zeros((HEADS + K, K))
        answer = kernel.GO_ON
        open_stream(np.uint64(QUICK["seed"]), np.uint64(run), np.uint64(0), stream)
        for n in range(options.get("max_rounds", 50_000 if again else 200)):
            j = int(uniform(stream) * 200) if again else n + int(uniform(stream) * (200 - n))
            item = j if again else left[j]
            if not again:
                left[n], left[j] = left[j], left[n]
            answer = wins.play(params, -TIMES[item], -TIMES[item], pairs, near, arms, told)
            if answer != kernel.GO_ON:
                break
        found.append((int(arms[kernel.ROUNDS].sum()), max(answer, -1)))
    assert list(zip(cell.samples.tolist(), cell.recommended.tolist(), strict=True)) == found


def test_what_is_right_by_wins() -> None:
    """The arm that wins on most items; within the tolerance those near it; at its best what is missing."""
    assert Wins.best(-TIMES, -TIMES, 0.0) == {0}
    assert Wins.best(-TIMES, -TIMES, 1.0) == {0, 1}
    missing = np.where(np.arange(200)[:, None] < [0, 120, 0], np.inf, -TIMES)
    assert Wins.best(np.where(np.isinf(missing), -np.inf, missing), missing, 0.0) == {0, 1}
    circle = np.array([[3.0, 2.0, 1.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]])
    assert Wins.best(circle, circle, 0.0) == set()
    with pytest.raises(InvalidInputError, match="does not lose against any other one on most items"):
        truebest.plan(circle, compare="wins", **QUICK)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"means": [0.8, 0.7]}, "compare='wins' is planned with a table"),
        ({"table": TIMES - 1.0, "tolerance": 0.1}, "must be at least 0 where a tolerance is a factor"),
        ({"table": TIMES, "compare": "ranks"}, "compare must be "),
        ({"table": [[1.0, math.nan], [2.0, 1.0]]}, "failures='worst', or a score such as failures='loss'"),
    ],
)
def test_refusals_by_wins(given: dict[str, Any], words: str) -> None:
    """In one sentence."""
    with pytest.raises(InvalidInputError, match=words):
        truebest.plan(**{"compare": "wins", **given}, **QUICK)


def test_a_failure_may_be_a_loss() -> None:
    """A missing time is worse than all others."""
    table = np.where(np.arange(200)[:, None] % 4 < [1, 0, 0], np.nan, TIMES)
    last = np.where(np.isnan(table), 1e9, table)
    one, other = (
        truebest.plan(given, compare="wins", minimize=True, failures="loss", **QUICK).paired
        for given in (table, last)
    )
    assert one is not None
    assert other is not None
    assert one.samples.tolist() == other.samples.tolist()


def test_missing_scores_at_their_worst() -> None:
    """A missing score is 0 where it would help its arm, and 1 where it would hurt it."""
    table = scores("0/1", 120)
    table[::3, 0] = math.nan
    low, high = np.nan_to_num(table, nan=0.0), np.nan_to_num(table, nan=1.0)
    plan = truebest.plan(table, failures="worst", **QUICK)
    cell = plan.paired
    assert cell is not None
    assert cell.best == {0, 1}  # arm 1 may be better than what is known of arm 0
    assert "1, 2 are not known to be worse: each is a right answer." in plan.notes()
    runs = (literal_run(low, high, False, run) for run in range(cell.runs))
    found = [(calls, max(answer, -1)) for calls, answer, *_ in runs]
    assert list(zip(cell.samples.tolist(), cell.recommended.tolist(), strict=True)) == found
    counted = truebest.plan(table, failures=0.0, **QUICK).paired
    filled = truebest.plan(low, **QUICK).paired
    assert counted is not None
    assert filled is not None
    assert counted.samples.tolist() == filled.samples.tolist()


def test_the_result_does_not_depend_on_threads_and_begins_with_the_shorter_one() -> None:
    """A run is a function of (seed, run), of a table and of a model with several sets."""
    for given in ({"table": scores("0/1")}, {"means": [0.8, 0.7], "correlation": 0.5, "items": 60}):
        one, two, long = (
            truebest.plan(**given, runs=runs, seed=3, threads=threads, progress=False)
            for runs, threads in ((40, 1), (40, 3), (90, 2))
        )
        assert one.to_dict() == two.to_dict()
        assert one.paired is not None
        assert long.paired is not None
        assert one.paired.samples.tolist() == long.paired.samples[:40].tolist()
    assert truebest.plan(scores("0/1"), runs=40, seed=4, progress=False).to_dict() != one.to_dict()


def test_independent_samples_are_those_of_simulate() -> None:
    """Of the columns, with the strategy and the rule of a live experiment; and the same from a pilot."""
    table = scores("numbers")
    options: dict[str, Any] = {"model": truebest.Bounded(0, 1), "stopping": "tilt", "max_samples": 150_000}
    drawn = truebest.simulate(DEFAULT_STRATEGY, rewards=list(table.T), **options, **QUICK)
    expected = drawn.cells[0].to_dict()
    for found in (truebest.plan(table, **QUICK), truebest.plan(pilot=list(table.T), **QUICK)):
        assert found.independent is not None
        assert found.independent.to_dict() == expected
    assert truebest.plan(pilot=list(table.T), **QUICK).paired is None
    guessed = truebest.plan(means=[0.9, 0.5], **QUICK)
    assert guessed.to_dict()["paired"] is None
    rates = truebest.simulate(
        DEFAULT_STRATEGY, [0.9, 0.5], rewards="bernoulli", **{**options, "max_samples": 100_000}, **QUICK
    )
    assert guessed.paired is None
    assert guessed.independent is not None
    assert guessed.independent.to_dict() == rates.cells[0].to_dict()


def test_bounds_and_minimize_only_rename() -> None:
    """Scores from 1 to 5, the smallest of which is the best, take as many calls as what they map to."""
    table = scores("numbers", 64).round(3)
    table = np.round(table * 64) / 64  # so that mapping costs no bits
    same = truebest.plan(5.0 - 4.0 * table, bounds=(1, 5), minimize=True, tolerance=0.25, **QUICK)
    plain = truebest.plan(table, tolerance=0.0625, **QUICK)
    assert plain.paired is not None
    assert same.paired is not None
    assert same.paired.to_dict() == plain.paired.to_dict()
    assert same.independent is not None
    assert plain.independent is not None
    assert same.independent.to_dict() == plain.independent.to_dict()
    np.testing.assert_allclose(same.means, 5.0 - 4.0 * np.array(plain.means))


def test_a_closed_set_never_takes_more_than_everything_and_ties_are_right() -> None:
    """Two arms that are the best in as many items: either is right, and a note says so."""
    table = {"a": [1, 0] * 20, "b": [0, 1] * 20, "c": [0, 0, 1, 0] * 10}
    found = truebest.plan(table, max_rounds=200, **QUICK)
    assert found.paired is not None
    assert (found.paired.samples <= 120).all()
    assert (found.everything, found.paired.errors, found.paired.censored) == (120, 0, 0)
    assert any("a, b are tied for the best" in note for note in found.notes())
    assert found.independent is not None
    assert found.independent.censored > 0
    assert any("independent: 30 of 30 runs ended without an answer" in note for note in found.notes())


def test_what_a_plan_says() -> None:
    """One sentence, a table with a row for each design, plain numbers and a line for each."""
    found = truebest.plan({"old": [1, 0, 0, 0] * 25, "new": [1, 1, 1, 0] * 25}, **QUICK)
    assert str(found) == repr(found)
    assert str(found).startswith("At delta 0.05: paired ")
    assert str(found).endswith(", everything 200.")
    header, rows = found.table()
    assert [row[0] for row in rows] == ["paired", "independent", "everything"]
    assert all(len(row) == len(header) for row in rows)
    record = found.to_dict()
    assert (record["arms"], record["means"], record["items"]) == (["old", "new"], [0.25, 0.75], 100)
    assert record["correlation"] == pytest.approx(1 / 3)
    assert record["paired"]["runs"] == record["independent"]["runs"] == 30
    assert found.to_csv().count("\n") == 3
    constant = truebest.plan({"old": [0.0] * 20, "new": [1.0] * 20}, **QUICK)
    assert constant.correlation is not None
    assert math.isnan(constant.correlation)
    assert constant.to_dict()["correlation"] is None


@pytest.mark.parametrize("correlation", [0.0, 0.29, 0.64, 0.8])
def test_items_of_the_model_have_the_rates_and_the_correlation(correlation: float) -> None:
    """Rates exactly, the correlation of the two best within 5 standard errors, as is that of the model."""
    rates = np.array([0.64, 0.7415, 0.78])
    spread = spread_for(rates, correlation)
    assert model_correlation(rates, spread) == pytest.approx(correlation, abs=1e-9)
    table = make_items(rates, spread, POPULATION, 5, 0)
    np.testing.assert_array_equal(table.mean(axis=0), rates)
    assert abs(np.corrcoef(table[:, 1], table[:, 2])[0, 1] - correlation) < 5 / math.sqrt(POPULATION)
    assert set(np.unique(table)) == {0.0, 1.0}
    assert (make_items(rates, spread, 50, 5, 0) != make_items(rates, spread, 50, 5, 1)).any()


def test_correlation_saves_calls() -> None:
    """The stronger it is, the fewer; and fewer than independent samples take."""
    found = [
        truebest.plan(means=[0.7, 0.6, 0.5], correlation=phi, runs=200, seed=1, progress=False)
        for phi in (0.1, 0.5, 0.75)
    ]
    calls = [one.paired.mean_samples for one in found if one.paired is not None]
    assert calls[0] > 1.3 * calls[1] > 1.3**2 * calls[2]
    assert found[1].independent is not None
    assert found[1].independent.mean_samples > 1.3 * calls[1]


UNCOMPILED = """
import truebest
found = truebest.plan(means=[0.9, 0.5, 0.4], correlation=0.3, items=40, runs=4, seed=3, progress=False)
print(found.to_dict())
"""


@pytest.mark.slow
def test_a_plan_is_the_same_uncompiled() -> None:
    """Without Numba, the same source gives the same numbers, without a warning."""
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", UNCOMPILED],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "TRUEBEST_JIT": jit},
        ).stdout
        for jit in ("0", "1")
    ]
    assert outputs[0] == outputs[1]


def test_an_interruption_returns_the_longest_prefix() -> None:
    """After Ctrl-C in the first design: its first runs, none of the second, and a note."""
    table = scores("0/1")
    whole = truebest.plan(table, runs=200, seed=2, progress=False)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    cut = truebest.plan(table, runs=200, seed=2, threads=1, progress=stop)
    assert cut.paired is not None
    assert whole.paired is not None
    assert 0 < cut.paired.runs < 200
    assert cut.paired.samples.tolist() == whole.paired.samples[: cut.paired.runs].tolist()
    assert (cut.complete, cut.independent) == (False, None)
    assert "Interrupted" in str(cut)


TABLE = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
HOLE = [[1.0, 0.0], [math.nan, 1.0], [0.0, math.nan]]
BAD: list[tuple[str, Callable[[], object]]] = [
    ("give one of table, means and pilot, got none", lambda: truebest.plan()),
    ("got table and means", lambda: truebest.plan(TABLE, means=[0.5, 0.6])),
    ("of at least two arms", lambda: truebest.plan([0.5, 0.6])),
    ("of at least two arms", lambda: truebest.plan({"a": [1.0]})),
    ("of at least two arms", lambda: truebest.plan(pilot=3)),
    ("must be real numbers", lambda: truebest.plan([["a", "b"]])),
    ("items must be a whole number from 1", lambda: truebest.plan(np.zeros((0, 2)))),
    ("columns of one length, or pilot=", lambda: truebest.plan({"a": [1, 0], "b": [1]})),
    ("got 2 without, the first for '1' on item 2", lambda: truebest.plan(HOLE)),
    ("failures must be 'repeat', 'worst'", lambda: truebest.plan(HOLE, failures="best")),
    ("must lie in [0, 1], got 2 for failures", lambda: truebest.plan(HOLE, failures=2)),
    ("got none for '2'", lambda: truebest.plan([[1.0, math.nan]] * 3, failures="worst")),
    ("must lie in [0, 1], got 3 for '2'", lambda: truebest.plan([[1.0, 0.0], [1.0, 3.0]])),
    ("must lie in [0, 1], got inf for '1'", lambda: truebest.plan([[math.inf, 0.0]])),
    ("lo < hi", lambda: truebest.plan(TABLE, bounds=(1, 0))),
    ("lo < hi", lambda: truebest.plan(TABLE, bounds=1)),  # type: ignore[arg-type]
    ("correlation belongs to means", lambda: truebest.plan(TABLE, correlation=0.5)),
    ("items belongs to means", lambda: truebest.plan(TABLE, items=5)),
    ("unlimited belongs to a table", lambda: truebest.plan(means=[0.5, 0.6], unlimited=True)),
    ("failures belong to a table", lambda: truebest.plan(means=[0.5, 0.6], failures="worst")),
    ("needs the correlation", lambda: truebest.plan(means=[0.5, 0.6], items=5)),
    ("rates of success strictly between 0 and 1", lambda: truebest.plan(means=[0.5, 1.6])),
    ("rates of success strictly between 0 and 1", lambda: truebest.plan(means=[0.5, 0.6], bounds=(0, 2))),
    ("correlation must lie between 0 and", lambda: truebest.plan(means=[0.5, 0.6], correlation=1.0)),
    ("correlation must lie between 0 and", lambda: truebest.plan(means=[0.5, 0.6], correlation=-0.1)),
    ("items must be a whole", lambda: truebest.plan(means=[0.5, 0.6], correlation=0.1, items=0)),
    ("got none for '2'", lambda: truebest.plan(pilot=[[1.0], []])),
    ("got NaN for '1'", lambda: truebest.plan(pilot=[[math.nan], [1.0]])),
    ("delta must lie", lambda: truebest.plan(TABLE, 1.0)),
    ("tolerance must be", lambda: truebest.plan(TABLE, tolerance=-1)),
    ("runs must be", lambda: truebest.plan(TABLE, runs=0)),
    ("seed must be", lambda: truebest.plan(TABLE, seed=-1)),
    ("max_rounds must be", lambda: truebest.plan(TABLE, max_rounds=0)),
    ("threads must be", lambda: truebest.plan(TABLE, threads=0)),
    ("at most 200 arms", lambda: truebest.plan(np.zeros((2, 201)))),
]


@pytest.mark.parametrize(("part", "call"), BAD)
def test_bad_input_is_refused_in_one_sentence(part: str, call: Callable[[], object]) -> None:
    """What was given, what is allowed, what to do."""
    refused_in_one_sentence(part, call)


def test_a_question_is_planned() -> None:
    """In both designs: right or wrong is told by the question's own kernel."""
    table = (np.random.default_rng(3).random((200, 3)) < (0.9, 0.6, 0.5)).astype(float)
    question = truebest.BestArm(pairs=True)
    found = truebest.plan(table, 0.1, question=question, runs=20, progress=False)
    for _, cell in found.designs():
        assert (cell.errors, cell.censored, sorted(cell.best)) == (0, 0, [0])
    with pytest.raises(truebest.InvalidInputError, match="asked of means, got compare='wins'"):
        truebest.plan(table, 0.1, question=question, compare="wins", runs=2, progress=False)
    with pytest.raises(truebest.InvalidInputError, match="knows no tolerance"):
        truebest.plan(table, 0.1, question=question, tolerance=0.1, runs=2, progress=False)


# -- known scores --------------------------------------------------------------------------------------


def similar(items: int = 300) -> dict[str, np.ndarray]:
    """A new arm that is a little better than the old one, and two others like them."""
    rng = np.random.default_rng(5)
    ease = rng.normal(0.0, 2.0, items)
    return {
        name: (rng.random(items) < 1.0 / (1.0 + np.exp(-ease - lift))).astype(float)
        for name, lift in (("new", 0.7), ("old", 0.2), ("m1", 0.0), ("m2", 0.4))
    }


def test_a_known_arm_takes_no_calls_and_saves_some() -> None:
    """Of its own, and of the other; more with the scores of models that are no arms."""
    table = similar()
    two = {name: table[name] for name in ("new", "old")}
    both = truebest.plan(two, runs=200, threads=1)
    alone = truebest.plan(two, known="old", runs=200, threads=1)
    beside = truebest.plan(table, known=["old"], proxies=["m1", "m2"], runs=200, threads=1)
    calls = [one.paired.mean_samples for one in (beside, alone, both) if one.paired is not None]
    assert calls[0] < calls[1] < 0.5 * calls[2]
    assert alone.everything == 300
    assert (alone.independent, alone.known, beside.arms) == (None, ("old",), ("new", "old"))
    gate = truebest.plan(two, known="old", question=truebest.Gate("old", "5%"), runs=50, threads=1)
    assert gate.paired
    assert gate.paired.mean_samples < 300


def test_units_of_several_answers_are_planned() -> None:
    """Epochs beside independent answers, clusters alone, and known scores with epochs; calls are answers."""
    table = similar()
    two = {name: table[name] for name in ("new", "old")}
    often = truebest.plan(two, epochs=3, runs=20, threads=1)
    assert often.paired is not None
    assert often.independent is not None
    assert (often.items, often.everything, often.to_dict()["one_round"]) == (100, 600, "item, 3 epochs each")
    assert (often.paired.samples % 3 == 0).all()
    clusters = truebest.plan(two, clusters=[i // 5 for i in range(300)], runs=20, threads=1)
    assert clusters.paired is not None
    assert (clusters.items, clusters.everything, clusters.independent) == (300, 600, None)
    assert (clusters.paired.samples % 10 == 0).all()
    known = truebest.plan(two, epochs=3, known="old", runs=20, threads=1)
    assert known.everything == 300
    by_cluster = truebest.plan(two, clusters=["a"] * 299 + ["b"], weigh="clusters", runs=2, threads=1)
    want = [(table[name][:299].mean() + table[name][299]) / 2 for name in two]
    assert list(by_cluster.means) == pytest.approx(want)


def test_times_and_costs_stand_beside_calls() -> None:
    """Of every design and of everything, in the table, the sentence and the record."""
    found = truebest.plan(similar(), seconds_per_call=2.0, cost_per_call=0.5, runs=20, threads=1)
    header, rows = found.table()
    assert header[:4] == ["design", "calls", "time", "cost"]
    assert [row[0] for row in rows] == ["paired", "independent", "everything"]
    assert rows[2][1:4] == ["1200", "40 min", "600.00"]
    assert "everything 1200 (40 min, 600.00)" in str(found)
    assert (found.to_dict()["seconds_per_call"], found.to_dict()["cost_per_call"]) == (2.0, 0.5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"known": "other"}, "known and proxies must be different columns of the table"),
        ({"known": "old", "proxies": ["old"]}, "known and proxies must be different columns of the table"),
        ({"proxies": ["m1"]}, "known must be one or more of the arms, and not all of them, got none"),
        ({"known": ["new", "old", "m1", "m2"]}, "known must be one or more of the arms, and not all of them"),
        ({"known": "old", "unlimited": True}, "known scores need a table of means of a closed set"),
        ({"known": "old", "compare": "wins"}, "known scores need a table of means of a closed set"),
        ({"known": 7}, "known must be names of columns"),
        ({"known": "old", "clusters": ["a"] * 20}, "known needs rounds of one item each"),
        ({"epochs": 0}, "epochs must be a whole number from 1"),
        ({"seconds_per_call": 0.0}, "seconds_per_call must be positive and finite, got 0"),
        ({"cost_per_call": math.inf}, "cost_per_call must be"),
    ],
)
def test_known_scores_that_cannot_be_are_refused(given: dict[str, Any], words: str) -> None:
    """In a sentence."""
    with pytest.raises(InvalidInputError, match=words):
        truebest.plan(similar(20), runs=2, **given)
