"""What is asked of arms: which claims a wrong answer needs, and when claims are proven."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from truebest import BestArm, Bounded, Gate, Gaussian
from truebest.kernels import best, claims, rules
from truebest.kernels._types import Array
from truebest.kernels.claims import allowed
from truebest.kernels.decision import take
from truebest.kernels.layout import LEVEL, MEANS, OUT, PULLS, SETTLED
from truebest.kernels.questions import BEATEN, FIRST, is_answered, is_right, label
from truebest.questions import QUESTIONS, Question, Winner
from truebest.theory.models import Model, Student
from truebest.theory.stopping import StoppingRule
from truebest.theory.student import StudentRule

PAIRS = BestArm(pairs=True)


def every_proof(num_arms: int) -> list[Array]:
    """Every set of claims that may be proven, also such as go round in a circle."""
    claims = list(itertools.permutations(range(num_arms), 2))
    found = []
    for chosen in itertools.product((0.0, 1.0), repeat=len(claims)):
        proven = np.zeros((num_arms, num_arms))
        for (b, i), so in zip(claims, chosen, strict=True):
            proven[b, i] = so
        proven[np.diag_indices(num_arms)] = proven.max(axis=0)
        found.append(proven)
    return found


def answer(question: Question, standing: Array, proven: Array) -> int | None:
    """The arm that is named, -1 for none; None where the question is open."""
    ask, labels = np.array(question.told()), np.empty(len(proven))
    label(ask, standing, proven, labels)
    return question.named(labels.tolist()) if is_answered(ask, proven, labels) else None


@pytest.mark.parametrize("num_arms", [2, 3, 4])
def test_a_wrong_best_arm_needs_a_claim_against_the_best(num_arms: int) -> None:
    """Of K - 1 claims, whatever else was proven and however the arms stand."""
    wrong = 0
    for proven in every_proof(num_arms):
        for standing in (np.arange(num_arms), -np.arange(num_arms)):
            found = answer(PAIRS, standing.astype(np.float64), proven)
            if found not in (None, 0):  # arm 0 is the best
                wrong += 1
                assert proven[1:, 0].any()
    assert wrong > 0
    assert PAIRS.false_claims(num_arms) == num_arms - 1


def false_claims_of_winners(wins: Array) -> list[tuple[int, int]]:
    """Claims of which every wrong answer needs one, where row b says against whom b wins."""
    K = len(wins)
    winner = next((b for b in range(K) if wins[b].sum() == K - 1), None)
    if winner is not None:
        return [(b, winner) for b in range(K) if b != winner]
    return [(b, next(i for i in range(K) if i != b and not wins[b, i])) for b in range(K)]


def test_a_wrong_winner_needs_one_of_k_claims() -> None:
    """Whether one arm wins against all others, some are even, or preferences go round in a circle."""
    K, wrong = 3, 0
    for outcomes in itertools.product((1, 0, -1), repeat=3):  # of the pairs 0 1, 0 2, 1 2
        wins = np.zeros((K, K))
        for (b, i), outcome in zip(itertools.combinations(range(K), 2), outcomes, strict=True):
            wins[b, i], wins[i, b] = outcome == 1, outcome == -1
        truth = next((b for b in range(K) if wins[b].sum() == K - 1), -1)
        needed = false_claims_of_winners(wins)
        assert len(needed) <= Winner().false_claims(K)
        for proven in every_proof(K):
            found = answer(Winner(), np.zeros(K), proven)
            if found is not None and found != truth:
                wrong += 1
                assert any(proven[claim] for claim in needed)
    assert wrong > 0


@pytest.mark.parametrize("margin", [0.1, 0.0, -0.1])
def test_of_both_verdicts_of_a_gate_one_is_right(margin: float) -> None:
    """A wrong answer has a false claim, one for each arm but the baseline; also at equality."""
    gate, wrong = Gate(1, margin), 0
    ask = np.array(gate.told())
    for ahead in itertools.product((-0.2, -0.1, 0.0, 0.1, 0.2), repeat=2):
        truth = np.array([ahead[0], 0.0, ahead[1]])
        false = [
            (1, c) if (truth[c] >= -margin if margin > 0.0 else truth[c] > -margin) else (c, 1)
            for c in (0, 2)
        ]
        assert all(
            (truth[b] - truth[i]) <= (margin if i == c else -margin)
            for (b, i), c in zip(false, (0, 2), strict=True)
        )
        for times in itertools.product((0.0, 1.0, 2.0), repeat=4):
            proven, labels = np.zeros((3, 3)), np.empty(3)
            proven[0, 1], proven[1, 0], proven[2, 1], proven[1, 2] = times
            label(ask, np.zeros(3), proven, labels)
            if is_answered(ask, proven, labels) and not is_right(ask, truth, labels):
                wrong += 1
                assert any(proven[claim] for claim in false)
    assert wrong > 0
    assert gate.false_claims(3) == 2


@pytest.mark.parametrize(("means", "margin"), [((0.8, 0.75), 0.05), ((0.5, 0.5), 0.0), ((0.95, 0.97), -0.02)])
def test_a_gate_errs_within_delta_where_it_is_hardest(means: tuple[float, float], margin: float) -> None:
    """At equality, at delta 0.2, so that errors are seen: their rate is below delta; runs are cut off."""
    options: dict[str, Any] = {"rewards": "bernoulli", "stopping": "tilt", "runs": 300, "seed": 5}
    found = truebest.simulate("uniform", means, 0.2, question=Gate(0, margin), max_samples=4000, **options)
    assert 0 < found.cells[0].errors < 0.2 * 300


def test_a_gate_decides_in_few_samples() -> None:
    """0.80 against 0.80 with a margin of 0.05, and 0.90 against 0.80 for superiority, at delta 0.05."""
    options: dict[str, Any] = {"rewards": "bernoulli", "stopping": "tilt", "runs": 100, "seed": 1}
    for means, margin, most in (((0.8, 0.8), 0.05, 3100), ((0.8, 0.9), 0.0, 620)):
        found = truebest.simulate("uniform", means, 0.05, question=Gate(0, margin), **options).cells[0]
        assert found.samples.mean() < most
        assert found.errors == 0


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_a_question_is_stored_and_found_again(name: str) -> None:
    """With its version; another version is refused."""
    from truebest.questions import BEST, question_record, recall_question

    for question in (QUESTIONS[name](*[0.5] * name.startswith("At")), PAIRS):
        record = question_record(question)
        assert recall_question(record) == question
        assert (record is None) == (question == BEST)
        if record is not None:
            with pytest.raises(truebest.StoreError, match=r"version 99 of the question .* knows 1;"):
                recall_question({**record, "version": 99})


RULES: list[tuple[StoppingRule | str, Model]] = [
    ("tilt", Bounded(0.0, 1.0)),
    ("tilt", Gaussian(0.5)),
    ("mixture", Gaussian(0.5)),
    ("kaufmann-koolen", Bounded(0.0, 1.0)),
    ("student", Student()),
]


@pytest.mark.parametrize(("name", "model"), RULES)
def test_claims_are_proven_when_their_pair_exceeds_the_level(name: str, model: Model) -> None:
    """After every sample, for whichever arm is in front; who is beaten is out, and the last is the answer."""
    K, rng = 4, np.random.default_rng(3)
    rule = truebest.stopping_rule(name).asking(PAIRS)
    params, state = rule.parameters(model, K, 0.2), rule.blank(model, K)
    beaten: set[int] = set()
    for n in range(3000):
        arm = n if n < K else allowed(params, state, n % K)
        take(params, state, arm, 1.0, float(np.clip(rng.normal((0.8, 0.6, 0.5, 0.3)[arm], 0.2), 0.0, 1.0)))
        if n < K - 1:
            continue
        stops = best.stops_after(params, state, n + 1.0, arm)
        while True:
            left = [a for a in range(K) if a not in beaten]
            first = max(left, key=lambda a: (state[MEANS, a], -a))
            bound = rules.threshold(params, n + 1.0)
            out = {
                i
                for i in left
                if i != first
                and state[MEANS, first] > state[MEANS, i]
                and rules.pair_evidence(params, state, first, i, 0.0, -math.inf) > bound
            }
            beaten |= out
            if not out:
                break
        assert {a for a in range(K) if state[OUT, a] > 0.0} == beaten
        assert (state[SETTLED] > 0.0).tolist() == [a in beaten or len(beaten) == K - 1 for a in range(K)]
        assert stops == (len(beaten) == K - 1)
        if stops:
            break
    assert beaten == {1, 2, 3}
    assert best.verdict(params, state)[0] == math.inf
    assert claims.answers_rightly(params, state, np.array([0.8, 0.6, 0.5, 0.3]))
    assert not claims.answers_rightly(params, state, np.array([0.5, 0.6, 0.5, 0.3]))
    assert state[PULLS, 0] >= state[PULLS].max()


def test_a_level_is_of_as_many_claims_as_the_question_needs() -> None:
    """K - 1 for the best arm: for rules whose level is a union over pairs, that which they have anyway."""
    for name, model in RULES:
        rule = truebest.stopping_rule(name)
        asked, plain = (
            one.parameters(model, 5, 0.1)[LEVEL] for one in (rule.asking(PAIRS), rule.form_for(2))
        )
        if name == "student":  # whose own level holds for pairs that share the best arm
            assert asked == pytest.approx(StudentRule.former[0]().level(5, 0.1))
        else:
            assert asked == plain
    with pytest.raises(truebest.InvalidInputError, match="'gk16' cannot answer BestArm"):
        truebest.stopping_rule("gk16").asking(PAIRS)


def test_spaced_looks_cost_few_samples() -> None:
    """In a simulation every arm has a time of its own when it is looked at again."""
    options: dict[str, Any] = {
        "runs": 100,
        "rewards": "bernoulli",
        "question": PAIRS,
        "seed": 2,
        "progress": False,
    }
    means = [0.8, 0.6, 0.5, 0.5, 0.4]
    spaced = truebest.simulate("uniform", means, 0.1, stopping="tilt", **options).cells[0]
    always = truebest.simulate("uniform", means, 0.1, stopping=truebest.Tilt(), **options).cells[0]
    assert 1.0 <= spaced.samples.mean() / always.samples.mean() < 1.01
    assert spaced.error_rate == always.error_rate == 0.0


def test_labels_name_the_unbeaten_arm_in_front() -> None:
    """What is proven comes first, then how arms stand, then the index; in a circle nobody is named."""
    proven, labels, ask = np.zeros((3, 3)), np.empty(3), np.array(PAIRS.told())
    label(ask, np.array([0.3, 0.5, 0.5]), proven, labels)
    assert (labels[1], PAIRS.named(labels.tolist())) == (FIRST, 1)
    proven[0, 1] = proven[1, 1] = 7.0
    label(ask, np.array([0.3, 0.5, 0.5]), proven, labels)
    assert (labels[1], PAIRS.named(labels.tolist())) == (BEATEN, 2)
    proven[0, 0] = proven[2, 2] = 8.0
    label(ask, np.array([0.3, 0.5, 0.5]), proven, labels)
    assert labels.tolist() == [BEATEN] * 3
    assert PAIRS.named(labels.tolist()) == -1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"question": Winner()}, "only wins count"),
        ({"question": PAIRS, "tolerance": 0.1}, "knows no tolerance"),
        ({"question": "best"}, "one of truebest's own"),
        ({"question": PAIRS, "stopping": "gk16"}, "cannot answer"),
    ],
)
def test_what_is_not_asked_together_is_refused(arguments: dict[str, Any], words: str) -> None:
    """In a sentence, by simulations and live experiments alike."""
    with pytest.raises(truebest.InvalidInputError, match=words):
        truebest.simulate("uniform", [0.5, 0.2], **arguments)
    with pytest.raises(truebest.InvalidInputError, match=words):
        truebest.Experiment.create("memory:", "x", ["a", "b"], sigma=1.0, **arguments)


def test_only_sampling_in_turn_answers_other_questions() -> None:
    """A strategy that looks for the best arm is refused; live, sampling in turn is the default."""
    with pytest.raises(truebest.InvalidInputError, match="choose 'uniform'"):
        truebest.simulate("ebs-d", [0.5, 0.2], question=PAIRS)
    with pytest.raises(truebest.InvalidInputError, match="choose 'uniform'"):
        truebest.Experiment.create("memory:", "x", ["a", "b"], sigma=1.0, question=PAIRS, strategy="tas-d")
    made = truebest.Experiment.create("memory:", "x", ["a", "b"], sigma=1.0, question=PAIRS)
    assert made.settings.strategy_name == "uniform"
    with pytest.raises(truebest.InvalidInputError, match="asked of means, got compare='wins'"):
        truebest.Experiment.create("memory:", "y", ["a", "b"], compare="wins", question=PAIRS)


def test_a_gate_that_cannot_be_asked_is_refused() -> None:
    """No such baseline; a margin that no difference exceeds; likewise in an experiment."""
    with pytest.raises(
        truebest.InvalidInputError, match="baseline must be a number from 0 to 1, got 2; it is the arm"
    ):
        truebest.simulate("uniform", [0.5, 0.2], question=Gate(2, 0.1))
    with pytest.raises(truebest.InvalidInputError, match="smaller than the distance between the bounds, 1"):
        truebest.simulate("uniform", [0.5, 0.2], question=Gate(0, -1.0), rewards="bernoulli", stopping="tilt")
    with pytest.raises(truebest.InvalidInputError, match="smaller than the distance between the bounds, 1"):
        truebest.Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1), question=Gate("b", 1.0))
    with pytest.raises(truebest.InvalidInputError, match="must be one of the arms a, b, got 'c'"):
        truebest.Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1), question=Gate("c", 0.1))


def old_or_new(item: object = None) -> float:
    """Of two equal functions."""
    return 1.0


@pytest.mark.parametrize(
    ("old", "new", "more", "words"),
    [
        (
            "old",
            "new",
            {"margin": 0.1},
            "^new must be a function that returns one value, or name",
        ),
        (old_or_new, [old_or_new], {"margin": 0.1}, "^new must be a function that returns one value"),
        (old_or_new, {"old": old_or_new}, {"margin": 0.1}, "^the name 'old' is that of the first function"),
        ([1.0] * 9, old_or_new, {"margin": 0.1}, "without items=; give items=, a list, a file or a number"),
        (old_or_new, old_or_new, {}, "^give margin=, by how much a new one may be worse"),
        (old_or_new, old_or_new, {"at_least": 2.0, "items": 9}, "^at_least, or minus the margin, .*got 2;"),
    ],
)
def test_what_truebest_gate_cannot_compare_is_refused(
    old: Any, new: Any, more: dict[str, Any], words: str
) -> None:
    """Each in a sentence about its own arguments."""
    with pytest.raises(truebest.InvalidInputError, match=words):
        truebest.gate(old, new, **more)


def often(rng: np.random.Generator) -> bool:
    return bool(rng.random() < 0.95)


def test_truebest_check_asks_whether_a_mean_is_at_least_a_number() -> None:
    """The same run as by `identify`, of one function or several, under a name of its own."""
    asked: dict[str, Any] = {"max_samples": 2000, "rng": 3}
    alone = truebest.check(often, at_least=0.8, **asked)
    assert alone.answer == truebest.Verdicts(passed=("often",), failed=())
    assert alone.name == "check"
    same = truebest.identify([often], question=truebest.AtLeast(0.8), bounds=(0, 1), **asked)
    assert same.standings == alone.standings
    both = truebest.check({"a": often, "b": lambda rng: rng.random() < 0.3}, 0.1, at_least=0.8, **asked)
    assert both.answer == truebest.Verdicts(passed=("a",), failed=("b",))
    tenfold = truebest.check(lambda rng: 10 * often(rng), at_least=8.0, bounds=(0, 10), **asked)
    assert tenfold.answer == truebest.Verdicts(passed=("arm 1",), failed=())
    exact = truebest.check(lambda item: item % 10 < 8, at_least=0.8, items=100, rng=1)
    assert exact.answer == truebest.Verdicts(passed=("arm 1",), failed=())
    failures = truebest.check(lambda item: item % 10 >= 8, at_most=0.2, items=100, rng=1)
    assert failures.answer == exact.answer
    assert failures.sentence.startswith("the mean of arm 1 is at most 0.2; certain")
    above = truebest.check(lambda item: item % 10 >= 7, at_most=0.2, items=100, rng=1)
    assert above.sentence.startswith("the mean of arm 1 is above 0.2; wrong")


@pytest.mark.parametrize(
    ("arms", "more", "words"),
    [
        (3, {"at_least": 0.8}, "^arms must be functions by name, got 3;"),
        ({}, {"at_least": 0.8}, "^arms must be functions by name, got {};"),
        (often, {"at_least": "x"}, "^at_least must be one real number, got 'x'"),
        (often, {"at_least": 2.0}, "above 0, and at most 1"),
        (often, {}, "one number, got at_least=None and at_most=None; give one of them"),
        (often, {"at_least": 0.5, "at_most": 0.5}, "got at_least=0.5 and at_most=0.5; give one of them"),
        (often, {"at_most": 1.0}, "at least 0, and below 1"),
        (often, {"at_least": 0.5, "question": truebest.AtLeast(0.5)}, "^check asks a question of its own"),
    ],
)
def test_what_truebest_check_cannot_ask_is_refused(arms: Any, more: dict[str, Any], words: str) -> None:
    """Each in a sentence about its own arguments."""
    with pytest.raises(truebest.InvalidInputError, match=words):
        truebest.check(arms, **more)


def test_the_warning_of_a_gate_without_a_budget_points_at_the_caller() -> None:
    """As that of identify does."""
    with pytest.warns(UserWarning, match="with an arm that is exactly at the margin a run never") as found:
        truebest.gate(old_or_new, old_or_new, margin=0.5)
    assert [Path(one.filename) for one in found] == [Path(__file__)]


def test_a_gate_names_its_baseline_and_its_margin_in_several_ways() -> None:
    """By name or number; as a margin, as what must be gained, or as a part of a mean that is known."""
    assert Gate("old", 0.02).bound(["new", "old"]) == Gate(1, 0.02)
    assert Gate(1).bound(["new", "old"]) == Gate(1, 0.0) == Gate(1, -0.0)
    assert Gate("old", at_least=0.01).bound(["old", "new"]) == Gate(0, -0.01)
    assert Gate("old", "5%").bound(["old", "new"], {"old": -2.0}.get) == Gate(0, 0.1)
    assert Gate(0, "-5%").bound(2, {"0": 2.0}.get) == Gate(0, -0.1)
    assert Gate(0, 0.2).placed(10.0, -2.0) == Gate(0, 0.1)
    for known in (None, {"new": 0.8}.get):
        with pytest.raises(
            truebest.InvalidInputError, match="must be known for sure, and the mean of old is"
        ):
            Gate("old", margin="5%").bound(["old", "new"], known)
    for wrong, words in (
        ({"margin": 0.1, "at_least": 0.1}, "either margin or at_least"),
        ({"at_least": 0.0}, "at_least must be positive"),
        ({"margin": "5"}, "a part of the baseline's mean such as '5%'"),
        ({"margin": "nan%"}, "such as '5%'"),
        ({"baseline": -1}, "baseline must be a whole number"),
    ):
        with pytest.raises(truebest.InvalidInputError, match=words):
            Gate(**wrong)


def test_a_plan_knows_the_arms_by_name_and_bounds_of_any_kind() -> None:
    """The same table in other units, turned round, is planned in the same runs."""
    table = np.random.default_rng(3).integers(0, 2, (200, 2)).astype(float)
    options: dict[str, Any] = {"runs": 20, "seed": 1, "progress": False}
    plain = truebest.plan({"new": table[:, 0], "old": table[:, 1]}, question=Gate("old", 0.1), **options)
    moved = {"new": 9.0 - 4.0 * table[:, 0], "old": 9.0 - 4.0 * table[:, 1]}
    other = truebest.plan(moved, bounds=(5, 9), minimize=True, question=Gate(1, 0.4), **options)
    assert plain.paired is not None
    assert other.paired is not None
    assert plain.paired.samples.tolist() == other.paired.samples.tolist()
