"""Experiments in rounds in which arms may rest: a decision is a function of the table alone, here too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import truebest
from truebest import Against, AtLeast, BestArm, Experiment, Gate, Verdicts
from truebest.designs.rounds import Rounds
from truebest.experiment.cells import CellsState
from truebest.experiment.snapshots import as_dict, from_dict
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels import paired, round_claims
from truebest.questions import Question
from truebest.simulation import rounds
from truebest.simulation.engine import SIGNALS
from truebest.simulation.rounds import ItemScores, RoundsJob
from truebest.simulation.work import Ways, make_works

PAIRS, ARMS, ITEMS = BestArm(pairs=True), ("a", "b", "c"), 60
RESTING = range(4, 14)  # rounds of the others in which c rests in `rests`


def table(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    hard = rng.random((ITEMS, 1))
    return (0.5 * hard + 0.5 * rng.random((ITEMS, 3)) < np.array([0.8, 0.5, 0.45])).astype(float)


def run(values: Any, ahead: int, seed: int = 0, **given: Any) -> Experiment:
    """With so many pulls under way, told in any order; some fail, and now and then a new process goes on."""
    store, rng = MemoryStore(), np.random.default_rng(seed)
    out: list[truebest.Pull] = []
    given = {"bounds": (0, 1), "seed": 5, "items": ITEMS, "question": PAIRS, **given}
    experiment = Experiment.create(store, "x", list(ARMS), 0.1, **given)
    while pulls := experiment.ask(max(1, ahead - len(out))) or out:
        out += [pull for pull in pulls if pull not in out]
        pull = out.pop(int(rng.integers(len(out))))
        if rng.random() < 0.1 * (ahead > 1):
            experiment.fail(pull, "no answer")
        else:
            assert pull.item is not None
            experiment.tell(pull, float(values[pull.item % len(values), ARMS.index(pull.arm)]))
        if rng.random() < 0.05:
            experiment = Experiment.open(store, "x")
        if experiment.status().decided:
            break
    return experiment


def rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let c rest for some rounds, as a question would that asks nothing about it for now."""
    usual = round_claims.judge

    def judge(params: Any, pairs: Any, arms: Any, told: Any) -> None:
        usual(params, pairs, arms, told)
        if int(paired.rounds_taken(arms)) in RESTING and not arms[paired.OUT_AFTER, 2]:
            told[round_claims.RESTS, 2] = 1.0

    monkeypatch.setattr(round_claims, "judge", judge)


def seen(experiment: Experiment) -> Any:
    status = experiment.status()
    return status.best, status.pulls, status.means, status.progress.rounds, status.progress.statistic


@pytest.mark.parametrize("resting", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_in_which_results_come_changes_nothing(
    seed: int, resting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers at different speeds, failures, new processes; also where an arm rests and catches up."""
    if resting:
        rests(monkeypatch)
    values = table(seed)
    one, other = run(values, 1), run(values, 12, seed)
    assert seen(one) == seen(other)
    assert one.status().best == "a"
    assert one.verify().sound
    assert other.verify().sound


def test_an_arm_that_rests_is_not_asked_for_and_catches_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are kept meanwhile, and no others; then it is asked for the rounds that it has missed."""
    rests(monkeypatch)
    values, store = table(1), MemoryStore()
    settings: dict[str, Any] = {"bounds": (0, 1), "seed": 5, "items": ITEMS, "question": PAIRS}
    experiment = Experiment.create(store, "x", list(ARMS), 1e-9, **settings)
    asked = []
    for _ in range(75):
        (pull,) = experiment.ask()
        asked.append((pull.round, pull.arm))
        experiment.tell(pull, float(values[pull.item, ARMS.index(pull.arm)]))
        state = experiment._journal.known
        assert isinstance(state, CellsState)
        taken = state.arms[paired.ROUNDS]
        assert {n for n, _ in state.values} <= set(range(int(taken.min()) + 1, int(taken.max()) + 2))
        assert as_dict(from_dict(state.settings, as_dict(state))) == as_dict(state)
    of_c = [asked.index((number, "c")) for number in range(4, 15)]
    assert of_c == sorted(of_c)
    assert asked.index((5, "c")) > asked.index((RESTING[-1], "a"))
    assert asked.index((16, "c")) < asked.index((17, "a"))


def test_a_retraction_leaves_no_trace() -> None:
    """The evidence is built again from the log, and is what it would be without the mistake."""
    values = table(2)
    right, first = run(values, 1), run(values, 1)
    pull = next(entry for entry in first.history() if entry.kind == "told")
    assert pull.pull is not None
    first.retract(pull.pull, "a slip", 1.0 - float(pull.value or 0.0))
    first.retract(pull.pull, "it was right", float(pull.value or 0.0))
    assert seen(first) == seen(right)
    assert first.verify().sound


def test_a_simulated_run_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Round by round on the same items in the same order; the simulation answers rightly, not with an arm."""
    values = table(1)
    live = run(values, 1)
    state = live._journal.known
    assert isinstance(state, CellsState)
    assert state.order is not None
    ordered = values[state.order]
    scores = ItemScores(ordered, ordered, ITEMS, False)
    job = RoundsJob(Rounds(ITEMS, question=PAIRS), scores, 0.1, 0.0, 1)
    monkeypatch.setattr(rounds, "claim_run", rounds.claim_run.py_func)  # type: ignore[attr-defined]
    monkeypatch.setattr(rounds, "next_item", lambda again, n, items, order, stream: n)
    room = job.room(np.zeros(SIGNALS, np.int64))
    monkeypatch.setattr(RoundsJob, "loop", property(lambda _: rounds.rounds_runs.py_func))  # type: ignore[attr-defined]
    part = job.part(0, 1, room)
    assert (part.samples[0, 0], part.arms[0, 0]) == (live.status().samples, 0)
    assert part.pulls[0].tolist() == list(live.status().pulls.values())


@pytest.mark.parametrize("items", [ITEMS, 40, np.inf])
@pytest.mark.parametrize(
    "question",
    [
        Gate("b", margin=0.25),
        Gate("b"),
        Gate("b", at_least=0.1),
        Against("b", only="better"),
        AtLeast(0.6),
    ],
)
def test_verdicts_are_a_function_of_the_table(question: Question, items: float) -> None:
    """In whatever order results come, in a closed set to its end or not; the log leads to the decision."""
    values = np.tile(table(3), (40, 1)) if items == np.inf else table(3)[: int(items)]
    given: dict[str, Any] = {"question": question, "items": items}
    one, other = run(values, 1, **given), run(values, 12, 3, **given)
    assert seen(one) == seen(other)
    assert one.status().answer == other.status().answer
    assert one.verify().sound
    assert other.verify().sound


def test_a_simulated_gate_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Round by round on the same items in the same order: the same values, and verdicts that are right."""
    gate, values = Gate("b", margin=0.05), table(1)
    live = run(values, 1, question=gate)
    state = live._journal.known
    assert isinstance(state, CellsState)
    assert state.order is not None
    ordered = values[state.order]
    scores = ItemScores(ordered, ordered, ITEMS, False)
    job = RoundsJob(Rounds(ITEMS, question=gate.bound(ARMS)), scores, 0.1, 0.0, 1)
    monkeypatch.setattr(rounds, "claim_run", rounds.claim_run.py_func)  # type: ignore[attr-defined]
    monkeypatch.setattr(rounds, "next_item", lambda again, n, items, order, stream: n)
    monkeypatch.setattr(RoundsJob, "loop", property(lambda _: rounds.rounds_runs.py_func))  # type: ignore[attr-defined]
    part = job.part(0, 1, job.room(np.zeros(SIGNALS, np.int64)))
    assert part.samples[0, 0] == live.status().samples
    assert part.pulls[0].tolist() == list(live.status().pulls.values())
    means = values.mean(axis=0)
    passed = tuple(
        arm for arm, mean in zip(ARMS, means, strict=True) if arm != "b" and mean - means[1] >= -0.05
    )
    assert live.status().answer == Verdicts(passed, tuple({"a", "c"} - set(passed)))


def test_what_was_observed_of_an_arm_is_on_the_items_of_both() -> None:
    """An arm with a verdict is compared on the items that it had, though the baseline goes on."""
    values = table(3)
    live = run(values, 1, question=Gate("b", margin=0.1))
    order, now = getattr(live._journal.known, "order", None), live.status()
    assert order is not None
    assert now["a"].samples < now["b"].samples
    for arm in ("a", "c"):
        rows = values[order[: now[arm].samples]]
        lead = now[arm].lead
        assert lead is not None
        assert lead.estimate == pytest.approx((rows[:, ARMS.index(arm)] - rows[:, 1]).mean())


@pytest.mark.parametrize("weigh", ["items", "clusters"])
def test_a_simulated_gate_of_clusters_is_the_same(weigh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of clusters of unequal sizes, each item answered twice: the same samples of each arm, and verdicts."""
    answers, labels = table(4), [str(i * i // 60) for i in range(ITEMS // 2)]
    gate = Gate("b", margin=0.05)
    given: dict[str, Any] = {"bounds": (0, 1), "epochs": 2, "cluster": "text", "weigh": weigh}
    items = [{"text": label, "number": i} for i, label in enumerate(labels)]
    live = Experiment.create(MemoryStore(), "x", list(ARMS), 0.1, seed=5, items=items, question=gate, **given)
    while pulls := live.ask(1):
        (pull,) = pulls
        assert pull.item is not None
        assert pull.epoch is not None
        live.tell(pull, float(answers[2 * pull.item + pull.epoch - 1, ARMS.index(pull.arm)]))
    order = getattr(live._journal.known, "order", None)
    assert order is not None
    ways: Ways = {"rewards": list(answers.T), "items": ITEMS // 2, "question": gate.bound(ARMS)}
    ways |= {"epochs": 2, "clusters": labels, "weigh": weigh}
    (job,) = make_works("simulate", None, [None], 0.1, 1, ways).jobs[0]
    monkeypatch.setattr(rounds, "claim_run", rounds.claim_run.py_func)  # type: ignore[attr-defined]
    monkeypatch.setattr(rounds, "next_item", lambda again, n, items, known, stream: int(order[n]))
    monkeypatch.setattr(RoundsJob, "loop", property(lambda _: rounds.rounds_runs.py_func))  # type: ignore[attr-defined]
    part = job.part(0, 1, job.room(np.zeros(SIGNALS, np.int64)))
    assert part.pulls[0].tolist() == list(live.status().pulls.values())
    assert part.samples[0, 0] == live.status().samples
    assert part.arms[0, 0] == 0


@pytest.mark.parametrize(
    ("ahead", "margin", "passes"), [(7, 0.07, True), (8, 0.07, False), (7, 0.0, False), (0, 0.0, False)]
)
def test_a_set_that_is_used_up_says_it_exactly(ahead: int, margin: float, passes: bool) -> None:
    """Of 100 items, 7 fewer are not worse by more than 0.07; of two equal arms none is better."""
    experiment = Experiment.create(
        MemoryStore(),
        "x",
        ["old", "new"],
        1e-30,
        bounds=(0, 1),
        items=100,
        question=Gate("old", margin=margin),
    )
    while pulls := experiment.ask(2):
        for pull in pulls:
            assert pull.item is not None
            experiment.tell(pull, float(pull.item < (50 if pull.arm == "old" else 50 - ahead)))
    names = (("new",), ()) if passes else ((), ("new",))
    assert experiment.status().answer == Verdicts(*names)
    now = experiment.status()
    lead = now["new"].lead
    assert lead is not None
    assert now.progress.rounds == 100 or lead.known
    assert lead.low <= -ahead / 100 <= lead.high
    assert (lead.low == -ahead / 100 == lead.high) == (now.progress.rounds == 100)
    assert experiment.verify().sound
