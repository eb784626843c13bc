"""Every arm gets a verdict: against a control, alone or as a list, and against a number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import truebest
from truebest import Against, AtLeast, AtMost, Bounded, Gate, Gaussian
from truebest.designs.rounds import Rounds
from truebest.kernels import claims, number, paired, round_claims
from truebest.kernels._types import Array
from truebest.kernels.decision import take
from truebest.kernels.layout import ABOUT_ONE, HEADS, LABELS, LEVEL, OUT, PULLS, SETTLED
from truebest.kernels.questions import FAILED, OPEN, PASSED, is_answered, is_right, label
from truebest.questions import Question
from truebest.theory.models import Model, Student

DELTA = 0.1


def labelled(question: Question, proven: Array) -> tuple[Array, bool]:
    """What would be answered, and whether it is final."""
    ask, labels = np.array(question.told()), np.empty(proven.shape[1])
    label(ask, np.zeros(labels.size), proven, labels)
    return labels, bool(is_answered(ask, proven, labels))


@pytest.mark.parametrize("question", [AtLeast(0.5), AtMost(0.5)])
def test_a_wrong_verdict_about_a_number_needs_one_claim_of_its_arm(question: AtLeast) -> None:
    """Whatever else was proven, and in which order; also where a mean is exactly the number."""
    wrong, ask = 0, np.array(question.told())
    for truth in itertools.product((0.4, 0.5, 0.6), repeat=2):
        above = [mean > 0.5 or (mean == 0.5 and question == AtLeast(0.5)) for mean in truth]
        false = [(3 if side else 2, a) for a, side in enumerate(above)]  # a row of claims
        for times in itertools.product((0.0, 1.0, 2.0), repeat=4):
            proven = np.zeros((2 + ABOUT_ONE, 2))
            proven[2:] = np.reshape(times, (2, 2))
            labels, final = labelled(question, proven)
            assert final == (OPEN not in labels)
            if final and not is_right(ask, np.array(truth), labels):
                wrong += 1
                assert any(proven[claim] for claim in false)
    assert wrong > 0
    assert question.false_claims(2) == len(false)


def every_order(values: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
    """Each of them once, as each is as likely as another."""
    yield from set(itertools.permutations(values))


SETS = [(1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0), (0.0, 0.25, 0.5, 1.0, 1.0, 0.75), (1.0,) * 5 + (0.0,)]


@pytest.mark.parametrize("values", SETS)
@pytest.mark.parametrize("off", [0.0, 0.02, 0.3])
def test_evidence_about_a_number_has_a_mean_of_one_over_all_orders_of_a_set(
    values: tuple[float, ...], off: float
) -> None:
    """Of the claim that is false, after every row: one at most; and it is ever above 1/δ with δ at most."""
    mean, items, level = sum(values) / len(values), len(values), math.log(4.0)
    for above in (True, False):
        threshold = mean + off if above else mean - off
        if not 0.0 < threshold <= 1.0:
            continue
        design = Rounds(items, question=AtLeast(threshold))
        params, total, high = design.parameters(1, 0.25), np.zeros(items), 0
        orders = list(every_order(values))
        for order in orders:
            _, arms = design.blank(1)
            ever = False
            for n, value in enumerate(order):
                row = np.array([value])
                number.take_value(params, row, row, arms, 0, items - float(n))
                paired.take_row(params, arms, 0, items - float(n))
                found = number.evidence_of_rounds(params, arms, 0, threshold, above)
                total[n] += math.exp(found)
                ever = ever or found > level
            high += ever
        assert (total / len(orders) <= 1.0 + 1e-9).all()
        assert high / len(orders) <= 0.25
        if off == 0.0:  # then the first factor has a mean of 1
            assert total[0] / len(orders) == pytest.approx(1.0, abs=1e-9)


def test_with_an_item_too_many_left_the_evidence_is_too_large() -> None:
    """The negative control of the law above: what is left is spread over one item more than there are."""
    values, items, kappa = SETS[0], len(SETS[0]), 2.0
    orders, products = list(every_order(values)), []
    for order in orders:
        seen, product = 0.0, 1.0
        for n, value in enumerate(order):
            rest = (sum(values) - seen) / (items - n + 1)
            product *= (1.0 + kappa * value) / (1.0 + kappa * min(rest, 1.0))
            seen += value
        products.append(product)
    assert np.mean(products) > 1.5


@pytest.mark.parametrize(
    ("successes", "items", "threshold"),
    [(57, 100, 0.57), (7, 100, 0.07), (799, 1000, 0.8), (800, 1000, 0.8), (801, 1000, 0.8), (3, 3, 1.0)],
)
def test_the_sum_of_a_set_that_is_used_up_says_it_exactly(
    successes: int, items: int, threshold: float
) -> None:
    """At least the number at equality, although 100 * 0.57 is 56.99999999999999 and 100 * 0.07 is above 7.

    And so of failures, which are at most the rest.
    """
    for question in (AtLeast(threshold), AtMost(1.0 - threshold)):
        used_up(question, successes, items, threshold)


def used_up(question: AtLeast, successes: int, items: int, threshold: float) -> None:
    """See above."""
    design = Rounds(items, question=question)
    params, (pairs, arms), told = design.parameters(1, 1e-9), design.blank(1), round_claims.room(1)
    values = np.zeros(items)
    values[:successes] = 1.0
    values = values if question.upwards else 1.0 - values
    values = np.random.default_rng(0).permutation(values)
    passes = successes >= round(threshold * items)
    for n, value in enumerate(values):
        assert told[round_claims.ROUND_LABELS, 0] == (0.0 if n == 0 else OPEN)
        row = np.array([value])
        round_claims.take_cell(params, row, row, pairs, arms, told, 0)
        round_claims.judge(params, pairs, arms, told)
        if told[round_claims.ROUND_LABELS, 0] != OPEN:  # what is left can change nothing
            left = items - n - 1
            had = values[: n + 1] if question.upwards else 1.0 - values[: n + 1]
            sure = had.sum() + (0 if passes else left)
            assert (sure >= round(threshold * items)) == passes
            assert successes != round(threshold * items) or left == 0 or passes
            break
    assert told[round_claims.ROUND_LABELS, 0] == (PASSED if passes else FAILED)
    assert arms[paired.OUT_AFTER, 0] > 0.0


def test_missing_values_pass_only_if_they_do_whatever_they_are() -> None:
    """And fail only if they fail even so; else a set that is used up leaves it open."""
    for known, missing, label_then in ((8, 2, PASSED), (5, 2, FAILED), (7, 2, OPEN)):
        design = Rounds(10, question=AtLeast(0.8))
        params, (pairs, arms), told = design.parameters(1, 1e-9), design.blank(1), round_claims.room(1)
        low = np.array([1.0] * known + [0.0] * (10 - known))
        high = low.copy()
        high[-missing:] = 1.0
        for down, up in zip(low, high, strict=True):
            if told[round_claims.ROUND_LABELS, 0] in (0.0, OPEN) and arms[paired.OUT_AFTER, 0] == 0.0:
                cell = np.array([down]), np.array([up])
                round_claims.take_cell(params, *cell, pairs, arms, told, 0)
                round_claims.judge(params, pairs, arms, told)
        assert told[round_claims.ROUND_LABELS, 0] == label_then


@pytest.mark.parametrize("model", [Bounded(0.0, 1.0), Bounded(-2.0, 6.0), Gaussian(2.0)])
def test_evidence_of_pulls_is_an_average_of_tilts(model: Model) -> None:
    """As it is written down, in any units; of a side to which the values lie it grows, else it falls."""
    rng, rule = np.random.default_rng(1), truebest.stopping_rule("tilt").asking(AtLeast(0.4))
    low, high = model.limits or (-1.0, 1.0)
    values = low + (high - low) * rng.random(60) ** 0.5
    threshold = low + 0.4 * (high - low)
    params, state = rule.parameters(model, 1, DELTA), rule.blank(model, 1)
    for value in values:
        take(params, state, 0, 1.0, float(value))
    sizes, weights = 8.0 * 0.5 ** np.arange(16), number.PRIOR
    for above in (True, False):
        if model.limits is None:
            sign = 1.0 if above else -1.0
            steps = 0.5 * sizes / model.unit
            exponents = sign * steps * (values - threshold).sum() - values.size * sizes**2 / 8.0
        else:
            x, y = (values - low) / (high - low), (threshold - low) / (high - low)
            x, y = (x, y) if above else (1.0 - x, 1.0 - y)
            kappa = np.expm1(sizes)
            exponents = np.log1p(kappa * x[:, None]).sum(axis=0) - values.size * np.log1p(kappa * y)
        expected = math.log(1.0 - weights.sum() + float((weights * np.exp(exponents)).sum()))
        found = number.evidence(params, state, 0, threshold / model.unit, above)
        assert found == pytest.approx(expected, rel=1e-9)
        assert (found > 0.0) == above


def test_verdicts_about_a_number_are_given_when_the_evidence_exceeds_the_level() -> None:
    """In a simulation, in turn among the arms that are open; arms leave as soon as they have one."""
    question, K, rng = AtLeast(0.6), 3, np.random.default_rng(2)
    rule = truebest.stopping_rule("tilt").asking(question)
    model = Bounded(0.0, 1.0)
    params, state = rule.parameters(model, K, DELTA), rule.blank(model, K)
    assert params[LEVEL] == pytest.approx(math.log(K / DELTA))
    given: dict[int, float] = {}
    labels = state[-K - ABOUT_ONE - HEADS + LABELS]
    for n in range(4000):
        arm = n if n < K else claims.allowed(params, state, n % K)
        assert arm not in given
        take(params, state, arm, 1.0, float(rng.random() < (0.8, 0.65, 0.3)[arm]))
        if n < K - 1:
            continue
        done = claims.judge(params, state, n + 1.0, arm)
        theta = question.placed(0.0, model.unit).threshold
        for a in set(range(K)) - set(given):
            above, below = (number.evidence(params, state, a, theta, side) for side in (True, False))
            if max(above, below) > params[LEVEL]:
                given[a] = PASSED if above > below else FAILED
        assert labels.tolist() == [given.get(a, OPEN) for a in range(K)]
        assert (
            (state[OUT] > 0.0).tolist() == (state[SETTLED] > 0.0).tolist() == [a in given for a in range(K)]
        )
        assert done == (len(given) == K)
        if done:
            break
    assert given == {0: PASSED, 1: PASSED, 2: FAILED}
    assert claims.statistic(params, state) == math.inf


# -- a list ------------------------------------------------------------------------------------------------


def closure(evidence: dict[int, float], off: set[int], delta: float) -> set[int]:
    """Which are rejected at once, of those not yet: in all sets of others the mean is above 1/delta."""
    others, found = sorted(set(evidence) - off), set()
    for a in others:
        rest = [j for j in others if j != a]
        sets = (set(some) | {a} for n in range(len(rest) + 1) for some in itertools.combinations(rest, n))
        if all(np.mean([evidence[j] for j in one]) > 1.0 / delta for one in sets):
            found.add(a)
    return found


def rejected(evidence: dict[int, float], off: set[int], delta: float) -> set[int]:
    """All that are rejected at one moment, those before included."""
    off = set(off)
    while more := closure(evidence, off, delta):
        off |= more
    return off


@pytest.mark.parametrize("seed", range(4))
def test_a_list_of_rounds_is_the_closure_over_all_sets(seed: int) -> None:
    """After every complete row, by both lists; the evidence of an arm with the other verdict counts as 0."""
    rng, K, delta = np.random.default_rng(seed), 5, 0.2
    design = Rounds(None, question=Against(0, only="better"))
    params, (pairs, arms), told = design.parameters(K, delta), design.blank(K), round_claims.room(K)
    assert params[paired.ROUND_PAIR_LEVEL] == pytest.approx(math.log(1.0 / delta))
    means, better, worse = rng.permutation([0.45, 0.6, 0.7, 0.5, 0.5]), set[int](), set[int]()
    sizes = set()
    for _ in range(1500):
        row = (rng.random(K) < means).astype(float)
        takes = [
            a for a in range(K) if round_claims.takes(params, arms, told, int(arms[paired.ROUNDS].max()), a)
        ]
        for a in takes:
            round_claims.take_cell(params, row, row, pairs, arms, told, a)
        seen = {
            (b, i): math.exp(paired.pair_evidence(params, pairs, arms, b, i, 0.0))
            for b, i in itertools.permutations(range(K), 2)
        }
        up = {a: 0.0 if a in worse else seen[a, 0] for a in range(1, K)}
        down = {a: 0.0 if a in better else seen[0, a] for a in range(1, K)}
        round_claims.judge(params, pairs, arms, told)
        before = len(better), len(worse)
        better, worse = rejected(up, better, delta), rejected(down, worse, delta)
        sizes |= {*zip(before, (len(better), len(worse)), strict=True)}
        labels = told[round_claims.ROUND_LABELS]
        assert {a for a in range(1, K) if labels[a] == PASSED} == better
        assert {a for a in range(1, K) if labels[a] == FAILED} == worse
        if len(better) + len(worse) == K - 1:
            break
    assert len(better) + len(worse) >= 2


def test_a_list_of_pulls_is_the_closure_over_all_sets() -> None:
    """Up to what is left out of a bar: evidence below 1, or 4 nats below the level, counts as none."""
    rng, K, delta = np.random.default_rng(7), 4, 0.2
    rule, model = truebest.stopping_rule("tilt").asking(Against(0, only="better")), Bounded(0.0, 1.0)
    params, state = rule.parameters(model, K, delta), rule.blank(model, K)
    means, given = (0.5, 0.8, 0.75, 0.3), dict[int, float]()
    labels = state[-K - ABOUT_ONE - HEADS + LABELS]
    level = params[LEVEL]
    assert level == pytest.approx(math.log(1.0 / delta))
    for n in range(3000):
        arm = n if n < K else claims.allowed(params, state, n % K)
        take(params, state, arm, 1.0, float(rng.random() < means[arm]))
        if n < K - 1:
            continue
        done = claims.judge(params, state, n + 1.0, arm)
        for passing, verdict in ((True, PASSED), (False, FAILED)):
            found = {}
            for a in range(1, K):
                b, i = (a, 0) if passing else (0, a)
                there = given.get(a, verdict) == verdict
                value = claims.evidence_for(params, state, b, i, 0.0, -math.inf) if there else 0.0
                found[a] = math.exp(value) if value > max(level - claims.FAR, 0.0) else 0.0
            off = {a for a, one in given.items() if one == verdict}
            for a in rejected(found, off, delta):
                given.setdefault(a, verdict)
        assert labels[1:].tolist() == [given.get(a, OPEN) for a in range(1, K)]
        if done:
            break
    assert given == {1: PASSED, 2: PASSED, 3: FAILED}


def test_bars_are_between_the_level_and_that_of_a_union() -> None:
    """And the level itself for the last arm that is not on the list."""
    for found in itertools.product((0.0, 0.5, 2.0, 30.0), repeat=3):
        delta, e = 0.1, dict(enumerate(found))
        for a in rejected(e, set(), delta):
            assert e[a] > 1.0 / delta
        assert {a for a in e if e[a] > len(e) / delta} <= rejected(e, set(), delta)
    assert rejected({0: 1e9, 1: 10.1}, set(), 0.1) == {0, 1}


# -- one control, other words --------------------------------------------------------------------------------


def test_a_control_is_a_gate_whose_margin_has_the_other_sign() -> None:
    """Claims, levels and what is right are the same; only the words are others."""
    assert Against(1, 0.2).told() == Gate(1, -0.2).told()
    assert Against("old").bound(["new", "old"]) == Against(1)
    assert Against(0).false_claims(7) == 6
    assert Against(0, only="better").false_claims(7) == 1
    assert Against(0, 0.2, "better").placed(1.0, -2.0) == Against(0, 0.1, "better")


def test_a_control_is_sampled_more_often_than_each_of_several() -> None:
    """√k times as often as each of k arms that are open; with one, as often."""
    for candidates in (1, 4, 9):
        K = candidates + 1
        rule = truebest.stopping_rule("tilt").asking(Against(2 % K))
        model = Bounded(0.0, 1.0)
        params, state = rule.parameters(model, K, 1e-6), rule.blank(model, K)
        state[PULLS] = 1.0
        for n in range(3000):
            state[PULLS, claims.allowed(params, state, n % K)] += 1.0
        others = np.delete(state[PULLS], 2 % K)
        assert others.max() - others.min() <= 1.0
        assert state[PULLS, 2 % K] == pytest.approx(math.sqrt(candidates) * others.mean(), abs=2.0)


@pytest.mark.parametrize(
    ("question", "arguments", "words"),
    [
        (Against(0, only="better"), {"stopping": "student"}, "'student' cannot be averaged over arms"),
        (Against(0, only="better"), {"stopping": "practical"}, "leave only out, or choose another rule"),
        (Against(0, only="better"), {"stopping": "kaufmann-koolen"}, "cannot be averaged"),
        (AtLeast(0.3), {"stopping": "practical"}, "'practical' cannot answer AtLeast"),
        (AtLeast(1.3), {"rewards": "bernoulli", "stopping": "tilt"}, "above 0, and at most 1, as values are"),
        (AtLeast(0.0), {"rewards": "bernoulli", "stopping": "tilt"}, "needs a number that is above 0"),
        (AtLeast(math.inf), {"stopping": "tilt"}, "needs a number that is finite"),
        (AtMost(1.0), {"rewards": "bernoulli", "stopping": "tilt"}, "at least 0, and below 1, as values are"),
        (
            Against(0, 1.0),
            {"rewards": "bernoulli", "stopping": "tilt"},
            "smaller than the distance between the",
        ),
        (Against(2), {"stopping": "tilt"}, "baseline must be a number from 0 to 1, got 2"),
        (Against(0), {"stopping": "gk16"}, "'gk16' cannot answer Against"),
        (Against(0), {"strategies": "ebs-d"}, "choose 'uniform'"),
        (AtLeast(0.3), {"tolerance": 0.1, "stopping": "tilt"}, "knows no tolerance"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    question: Question, arguments: dict[str, Any], words: str
) -> None:
    """In a sentence that says what to do."""
    options = {"strategies": "uniform", "means": [0.5, 0.2], "model": None, **arguments}
    if options.get("stopping") == "student":
        options["model"] = Student()
    with pytest.raises(truebest.InvalidInputError, match=words):
        truebest.simulate(question=question, max_samples=10, progress=False, **options)


def test_questions_that_cannot_be_are_refused() -> None:
    """As they are made; and a plan in which the smallest mean is best has no use for a number."""
    for make, words in (
        (lambda: Against(0, -0.1), "ask Gate\\(0, margin=0.1\\)"),
        (lambda: Against(0, only="worse"), "only must be one of 'better'"),
        (lambda: Against(-1), "baseline must be a whole number"),
        (lambda: AtLeast("many"), "threshold must be one real number"),  # type: ignore[arg-type]
        (
            lambda: truebest.plan(means=[0.5], question=AtLeast(0.4), minimize=True),
            "ask for at most 0.4 instead",
        ),
        (lambda: truebest.plan(means=[0.5]), "at least two arms"),
        (lambda: truebest.simulate("uniform", [0.5]), "at least two arms"),
    ):
        with pytest.raises(truebest.InvalidInputError, match=words):
            make()
    with pytest.raises(truebest.InvalidInputError, match="arms must be at least two, got 1"):
        truebest.Experiment.create("memory:", "x", ["a"], bounds=(0, 1))
    with pytest.raises(truebest.InvalidInputError, match="arms must be at least two, got 0"):
        truebest.Experiment.create("memory:", "x", [], bounds=(0, 1))


def test_a_single_arm_is_simulated_traced_and_planned() -> None:
    """With 0/1 values, normal ones, and a table of one column."""
    options: dict[str, Any] = {"question": AtLeast(0.5), "stopping": "tilt", "seed": 1}
    bernoulli = truebest.trace("uniform", [0.9], rewards="bernoulli", **options)
    assert bernoulli.right is True
    assert bernoulli.recommended is None
    assert bernoulli.statistic[-1] > bernoulli.threshold[-1] == pytest.approx(math.log(20.0))
    assert (np.diff(bernoulli.pulls[:, 0]) == 1.0).all()
    found = truebest.simulate("uniform", [-0.5], runs=20, progress=False, **options).cells[0]
    assert (found.errors, found.censored) == (0, 0)
    plan = truebest.plan({"agent": [1.0] * 180 + [0.0] * 20}, question=AtLeast(0.8), runs=20, progress=False)
    assert plan.paired is not None
    assert plan.paired.errors == 0
    assert plan.paired.mean_samples < 150


def test_what_is_open_where_a_run_is_cut_off_is_not_wrong() -> None:
    """Wrong so far are only verdicts that were given; errors are those of runs that end."""
    options: dict[str, Any] = {"rewards": "bernoulli", "runs": 60, "seed": 3, "progress": False}
    number: Any = {"question": AtLeast(0.8), "stopping": "tilt", "max_samples": 40, **options}
    cut = truebest.simulate("uniform", [0.8, 0.1], 0.2, **number).cells[0]
    assert cut.censored > 50
    assert cut.wrong_leaders is not None
    assert 0 <= cut.wrong_leaders < 10
    assert "The answer so far was wrong in " in " ".join(truebest.Simulation((cut,)).notes())
