"""The benchmark on real leaderboards, on small clones in the formats of the repositories that it reads."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import leaderboards
from benchmarks.leaderboards import CHOICES, Choice, decided, fixed_sample, main, measured
from benchmarks.model_results import DATASETS, JUDGED, Table, answer_in, read_tables

from truebest import InvalidInputError
from truebest.designs import Rounds
from truebest.kernels.paired import GO_ON, OUT_AFTER, play_round
from truebest.kernels.random import open_stream
from truebest.simulation.rounds import next_item
from truebest.simulation.summary import exact_interval

ITEMS, MODELS = 60, 9
OWN = [choice for choice in CHOICES if not choice.old]
PLAIN = [choice for choice in CHOICES if choice.margin is None and not choice.old]
RATES = np.linspace(0.3, 0.8, MODELS)


def judged(folder: Path, model: str, preferences: Sequence[object]) -> Path:
    """A file of AlpacaEval."""
    file = folder / "alpaca_eval" / JUDGED.replace("*", model)
    file.parent.mkdir(parents=True)
    records = [
        {"instruction": f"do {i}", "generator_2": model, "preference": preference}
        for i, preference in enumerate(preferences)
    ]
    file.write_text(json.dumps(records))
    return file


def answered(folder: Path, task: str, model: str, outputs: Sequence[str], keys: Sequence[str]) -> Path:
    """A file of ZeroEval."""
    file = folder / "ZeroEval" / "result_dirs" / task / f"{model}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    records = [
        {"id": f"{task}-#{i}", "output": [output], "answer": key}
        for i, (output, key) in enumerate(zip(outputs, keys, strict=True))
    ]
    file.write_text(json.dumps(records))
    return file


def random_scores(seed: int) -> np.ndarray[Any, Any]:
    """0 and 1, for items that are hard or easy for all."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(ITEMS, 1)) + rng.normal(size=(ITEMS, MODELS))
    return (ease + 2.0 * (RATES - 0.5) > 0.0).astype(float)


def make_clones(folder: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Clones of both, of nine models each; and what their scores are."""
    shades, right = 0.25 + 0.5 * random_scores(1), random_scores(2)
    for a in range(MODELS):
        judged(folder, f"model {a}", (1.0 + shades[:, a]).tolist())
        for task in ("gsm", "crux"):
            outputs = [json.dumps({"answer": str(7 if one else 8)}) for one in right[:, a]]
            answered(folder, task, f"model {a}", outputs, ["# 7" if task == "gsm" else "7"] * ITEMS)
    return shades, right


def in_order(table: Table) -> np.ndarray[Any, Any]:
    """(items, models) as they were made; items are sorted by their names."""
    return table.scores[:, np.argsort(table.models)]


# -- reading -------------------------------------------------------------------------------------------


def test_clones_are_read(tmp_path: Path) -> None:
    """Every score is where it was, and the ranking is by means."""
    shades, right = make_clones(tmp_path)
    tables, remarks = read_tables(tmp_path)
    assert not remarks
    assert [table.name for table in tables] == [dataset.name for dataset in DATASETS]
    names = sorted(str(i) for i in range(ITEMS))
    rows = np.array([int(name) for name in names])
    for table, made in zip(tables, (shades, right, right), strict=True):
        assert np.allclose(in_order(table), made[rows], atol=1e-15)
        means = np.nanmean(table.scores, axis=0)
        assert (np.diff(means) <= 0.0).all()
        assert sorted(table.models) == [f"model {a}" for a in range(MODELS)]


@pytest.mark.parametrize(
    ("output", "key", "gsm", "crux"),
    [
        ('```json\n{"reasoning": "a } b", "answer": "18"}\n```', "# 18", 1, 1),
        ('{"reasoning": "x",\n "answer": 18}', "18", 1, 1),
        ('{"answer": "$1,234.50 a week"}', "# 1,234.5", 1, 0),
        ('{"answer": "3/4"}', "0.75", 1, 0),
        ('{"answer": "6 or 7"}', "7", 0, 0),
        ('{"reasoning": "a \\( b", "answer": "18"', "18", 1, 1),
        ('{"reasoning": unquoted, "answer": 18 }', "18", 1, 1),
        ("It is nested: " + "{" * 3 + "\nanswer: 18", "18", 1, 1),
        ('{"reasoning": "no field"}\nso $\\boxed{18}$', "18", 1, 1),
        ("It is 18.", "18", 0, 0),
        ("", "18", 0, 0),
        ('{"answer": ["a", 1]}', "['a', 1]", 1, 1),
        ('{"answer": "\'ab\'"}', "'ab'", 0, 1),
        ('{"answer": "a\\nb"}', "a\\nb", 0, 1),
        ('{"answer": "none"}', "none", 0, 1),
        ('{"answer": ""}', "''", 0, 1),
    ],
)
def test_answers_are_scored(tmp_path: Path, output: str, key: str, gsm: int, crux: int) -> None:
    """By number on GSM8K and by text on CRUX, in whatever form a model has answered."""
    for task in ("gsm", "crux"):
        for model in ("a", "b"):
            answered(tmp_path, task, model, [output], [key if task == "gsm" else key.removeprefix("# ")])
    (first, second), _ = read_tables(tmp_path)
    assert (first.scores.tolist(), second.scores.tolist()) == ([[gsm] * 2], [[crux] * 2])


def test_deep_nesting_is_no_answer() -> None:
    """And no traceback."""
    assert answer_in('{"answer": ' + "[" * 100_000) == "[" * 100_000
    assert answer_in('{"a": ' + "[" * 100_000) is None


def test_a_score_that_cannot_be_read_is_missing_for_its_model(tmp_path: Path) -> None:
    """The item stays for models that have it."""
    full = [1.5] * 40
    for model in ("a", "b", "c", "i", "j", "k"):
        judged(tmp_path, model, full)
    for model, bad in (("d", None), ("e", "?"), ("f", 3.0), ("g", math.nan), ("h", {})):
        judged(tmp_path, model, [bad, 2.0, *full[2:]])
    (table,), remarks = read_tables(tmp_path)
    assert not remarks
    assert int(np.isnan(table.scores).sum()) == 5
    places = {model: i for i, model in enumerate(table.models)}
    assert table.of(np.array([places["a"], places["b"]])).shape == (40, 2)
    assert table.of(np.array([places["a"], places["d"]])).tolist() == [[0.5, 1.0], *[[0.5, 0.5]] * 38]


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    """A sentence for each file that is damaged, half empty or missing."""
    make_clones(tmp_path)
    for model, text in {
        "cut": '[{"instruction": "do',
        "pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        "binary": "\x00\xff",
        "deep": "[" * 100_000,
        "object": "{}",
        "empty": "[]",
        "words": '["a", 1, null]',
    }.items():
        judged(tmp_path, model, []).write_text(text, encoding="latin-1")
    judged(tmp_path, "half", [1.5] * (ITEMS // 2))
    judged(tmp_path, "other", [1.5] * ITEMS).write_text(
        json.dumps([{"instruction": f"else {i}", "preference": 1.5} for i in range(ITEMS)])
    )
    judged(tmp_path, "folder", []).unlink()
    (tmp_path / "alpaca_eval" / JUDGED.replace("*", "folder")).mkdir()
    (tmp_path / "alpaca_eval" / "results" / "absent").mkdir()
    tables, remarks = read_tables(tmp_path)
    assert [len(table.models) for table in tables] == [MODELS] * 3
    reasons = {
        **dict.fromkeys(("cut", "pointer", "binary", "deep"), "it is not valid JSON"),
        "object": "it is not a list of records",
        **dict.fromkeys(("empty", "words"), "no record of it has a score"),
        "folder": "it cannot be read (Is a directory)",
    }
    said = [f"{JUDGED.replace('*', model)} is left out, since {why}" for model, why in reasons.items()]
    said += [
        "1 of 20 models are left out, since they have no weighted_alpaca_eval_gpt4_turbo/annotations.json",
        f"half is left out, since it has scores on {ITEMS // 2} of {ITEMS} items",
        f"other is left out, since it has scores on 0 of {ITEMS} items",
    ]
    assert sorted(remarks) == sorted(f"AlpacaEval 2: {one}." for one in said)


def test_a_folder_without_results_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a sentence that names both repositories; what was found there is said before."""
    with pytest.raises(InvalidInputError, match=r"a clone of tatsu-lab/alpaca_eval or yuchenlin/ZeroEval"):
        main([str(tmp_path / "nowhere")])
    answered(tmp_path, "gsm", "alone", ['{"answer": 1}'], ["1"])
    answered(tmp_path, "gsm", "broken", [], []).write_text("?")
    with pytest.raises(InvalidInputError, match=r"git clone https://github.com/yuchenlin/ZeroEval"):
        main([str(tmp_path)])
    assert capsys.readouterr().err.splitlines() == [
        "GSM8K: result_dirs/gsm/broken.json is left out, since it is not valid JSON.",
        "GSM8K: alone is the only model left, and a choice takes two.",
    ]


def test_the_command_ends_in_one_line(tmp_path: Path) -> None:
    """And no traceback."""
    words = [sys.executable, "-m", "benchmarks.leaderboards", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("FOLDER must have a clone")
    assert len(done.stderr.splitlines()) == 1


# -- choosing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_models_are_chosen_at_random(choice: Choice) -> None:
    """Different ones, neighbours where they should be, each now and then, in any order; and repeatably."""
    chosen = [choice.among(11, 5, run).tolist() for run in range(200)]
    assert chosen == [choice.among(11, 5, run).tolist() for run in range(200)]
    assert chosen != [choice.among(11, 6, run).tolist() for run in range(200)]
    for arms in chosen:
        assert len(set(arms)) == len(arms) == choice.arms
        farthest = choice.arms - 2 + choice.apart
        assert not choice.neighbours or choice.arms - 1 <= max(arms) - min(arms) <= farthest
    assert {arm for arms in chosen for arm in arms} == set(range(11))
    places = 12 - choice.arms if choice.neighbours else math.comb(11, choice.arms)
    assert len({frozenset(arms) for arms in chosen}) >= 0.5 * min(places, 200)
    assert {arms.index(min(arms)) for arms in chosen} == set(range(choice.arms))


# -- deciding ------------------------------------------------------------------------------------------


def replayed(
    scores: np.ndarray[Any, Any], tolerance: float, delta: float, seed: int, run: int
) -> tuple[int, int]:
    """The calls of a run, counted round by round, and the arm that it declares."""
    M, K = scores.shape
    design = Rounds(M)
    params, (pairs, arms) = design.parameters(K, delta, tolerance), design.blank(K)
    order, stream = np.arange(M), np.empty(2, np.uint64)
    open_stream(np.uint64(seed), np.uint64(run), np.uint64(0), stream)
    calls, found, n = 0, GO_ON, 0
    while found == GO_ON:
        calls += int((arms[OUT_AFTER] <= 0.0).sum())
        row = np.ascontiguousarray(scores[next_item(False, n, M, order, stream)])
        found = play_round(params, row, row, pairs, arms)
        n += 1
    return calls, found


def test_a_run_is_what_rounds_come_to(tmp_path: Path) -> None:
    """Calls and wrong answers as they are counted by hand; the delta is so large that many are wrong."""
    make_clones(tmp_path)
    seen = set()
    for table in read_tables(tmp_path)[0]:
        for choice in PLAIN:
            for run in range(10):
                delta = 0.05 if run == 0 else 0.7
                found = decided(table, choice, run, 77, delta)
                arms = [table.models.index(model) for model in found.models]
                assert arms == choice.among(MODELS, 77, run).tolist()
                scores = np.ascontiguousarray(table.scores[:, arms])
                calls, answer = replayed(scores, choice.tolerance, delta, 77, run)
                means = [math.fsum(column) / ITEMS for column in scores.T.tolist()]
                wrong = means[answer] < max(means) - choice.tolerance - 1e-9
                assert (found.calls, found.declared, found.wrong) == (calls, found.models[answer], wrong)
                assert found.share == calls / (choice.arms * ITEMS)
                right = np.array([mean >= max(means) - choice.tolerance - 1e-9 for mean in means])
                sample = scores, calls // choice.arms, right, np.random.default_rng([77, run])
                assert found.fixed_wrong == fixed_sample(*sample)
                seen.add((wrong, found.share < 1.0))
    assert seen >= {(False, False), (False, True), (True, True)}


def test_lines_beside_stored_scores_have_the_same_runs(tmp_path: Path) -> None:
    """The models, items and orders of the line for two new ones; looked up, half of its calls, no others."""
    make_clones(tmp_path)
    table = read_tables(tmp_path)[0][0]
    for margin in (None, 0.02):
        lines = [one for one in CHOICES if one.margin == margin and (one.apart > 1 or margin is not None)]
        both, looked_up, known, proxies = (measured(table, one, 8, 5, 0.05).runs for one in lines)
        for runs in (looked_up, known, proxies):
            assert [run.models for run in runs] == [run.models for run in both]
            assert all(run.calls <= ITEMS for run in runs)
        assert [2 * run.calls for run in looked_up] == [run.calls for run in both]
        assert [run.declared for run in looked_up] == [run.declared for run in both]
        assert [run.calls for run in known] != [run.calls for run in looked_up]
        assert [run.calls for run in proxies] != [run.calls for run in known]
        assert not any(run.wrong for run in (*both, *known, *proxies))


def test_a_fixed_sample_says_of_a_gate_what_its_items_say() -> None:
    """A model that is worse by .1 passes at a margin of .02 in the samples where it is not seen to be."""
    scores = np.zeros((10, 2))
    scores[:5, 1], scores[1:5, 0] = 1.0, 1.0
    rng = np.random.default_rng(1)
    assert leaderboards.fixed_gate(scores, 10, 0.02, rng) == 0.0
    assert leaderboards.fixed_gate(scores, 5, 0.02, rng) == pytest.approx(0.5, abs=0.15)
    assert leaderboards.fixed_gate(scores, 10, 0.1, rng) == 0.0


def test_a_tolerance_makes_more_answers_right() -> None:
    """An arm below the best by no more than the tolerance is not wrong."""
    scores = np.zeros((100, 2))
    scores[:50, 0], scores[50:99, 1] = 1.0, 1.0  # .50 and .49
    table = Table("made", ("a", "b"), scores)
    near = [decided(table, Choice(2, True, 0.02), run, 3, 0.9) for run in range(50)]
    exact = [decided(table, Choice(2, True), run, 3, 0.9) for run in range(50)]
    assert any(run.declared == "b" for run in near)
    assert not any(run.wrong for run in near)
    assert [run.wrong for run in exact] == [run.declared == "b" for run in exact]
    assert any(run.wrong for run in exact)


def test_a_fixed_sample_errs_as_often_as_all_samples_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against every sample of four of ten items, of tied arms each as often.

    Of 100,000 samples, 5 standard deviations: a false alarm has a probability of 1e-6, for any seed.
    """
    monkeypatch.setattr(leaderboards, "SAMPLES", 100_000)
    scores = random_scores(4)[:10, :4]
    right = scores.mean(axis=0) == scores.mean(axis=0).max()
    assert 0 < right.sum() < 4
    exact = []
    for items in combinations(range(10), 4):
        sums = scores[list(items)].sum(axis=0)
        tied = sums == sums.max()
        exact.append((tied & ~right).sum() / tied.sum())
    rate = float(np.mean(exact))
    assert 0.05 < rate < 0.95
    found = fixed_sample(scores, 4, right, np.random.default_rng(1))
    assert abs(found - rate) < 5.0 * math.sqrt(0.25 / 100_000)
    assert fixed_sample(scores, 10, right, np.random.default_rng(1)) == 0.0


# -- the command ---------------------------------------------------------------------------------------


def test_the_json_has_every_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shares, their errors and the wrong answers follow from the runs; those of fewer runs are the first."""
    make_clones(tmp_path)
    main([str(tmp_path), "--runs", "6", "--seed", "3", "--delta", "0.5", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["seed"], found["delta"], found["remarks"]) == (3, 0.5, [])
    assert len(found["cells"]) == 3 * len(CHOICES)
    for cell in found["cells"]:
        shares = [run["calls"] / (len(run["models"]) * run["items"]) for run in cell["runs"]]
        assert math.isclose(cell["share"], statistics.fmean(shares))
        assert math.isclose(cell["standard_error"], statistics.stdev(shares) / math.sqrt(6), abs_tol=1e-15)
        assert cell["wrong"] == sum(run["wrong"] for run in cell["runs"])
        assert cell["error_rate_low"] <= cell["wrong"] / 6 <= cell["error_rate_high"]
        fixed = [run["fixed_wrong"] for run in cell["runs"]]
        assert math.isclose(cell["fixed_wrong"], statistics.fmean(fixed), abs_tol=1e-15)
    main([str(tmp_path), "--runs", "2", "--seed", "3", "--delta", "0.5", "--format", "json"])
    fewer = json.loads(capsys.readouterr().out)
    for cell, first in zip(found["cells"], fewer["cells"], strict=True):
        assert cell["runs"][:2] == first["runs"]


def test_every_line_has_runs_of_its_own(tmp_path: Path) -> None:
    """So that all wrong answers together have an exact interval."""
    make_clones(tmp_path)
    cells = [measured(table, choice, 8, 0, 0.05) for table in read_tables(tmp_path)[0] for choice in OWN[2:]]
    chosen = {str([run.models for run in cell.runs]) for cell in cells}
    assert len(chosen) == len(cells) == 18


def test_a_table_against_one_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same rule takes the same calls, a larger delta fewer of them, run by run on the same models."""
    make_clones(tmp_path)
    kept = tmp_path / "kept.json"
    words = [str(tmp_path), "--runs", "5"]
    main([*words, "--format", "json"])
    kept.write_text(capsys.readouterr().out)
    main([*words, "--against", str(kept)])
    same = capsys.readouterr().out
    assert same.count("1.000 ± 0.000") >= 3 * len(CHOICES)
    own, names = 15 * len(OWN), set(map(str, OWN))
    cells = json.loads(kept.read_text())["cells"]
    wrong = sum(cell["wrong"] for cell in cells if cell["choice"] in names)
    low, high = exact_interval(wrong, own)
    said = f"{wrong} of {own} answers wrong (95%: {low:.2%} to {high:.2%}), at delta 0.05"
    assert same.splitlines()[-1] == said
    main([*words, "--against", str(kept), "--delta", "0.5", "--runs", "3"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if " of 3 " in line]
    ratios = [float(line[-3]) for line in lines]
    assert len(ratios) == 3 * len(CHOICES)
    assert statistics.fmean(ratios) < 0.8
    with pytest.raises(InvalidInputError, match="use the same seed and the same clones"):
        main([*words, "--against", str(kept), "--seed", "1"])


def test_a_ratio_has_the_error_of_pairs() -> None:
    """By the delta method, by hand."""
    table = Table("made", ("a", "b", "c"), random_scores(6)[:, :3])
    now, then = (measured(table, Choice(2, False), 12, 1, delta) for delta in (0.3, 0.01))
    ratio, error = now.ratio(then)
    a, b = [run.calls for run in now.runs], [run.calls for run in then.runs]
    assert math.isclose(ratio, sum(a) / sum(b))
    rest = [x - ratio * y for x, y in zip(a, b, strict=True)]
    assert math.isclose(error, statistics.stdev(rest) / math.sqrt(12) / statistics.fmean(b))
    assert 0.0 < error < 0.5


def test_too_few_models_for_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others are there, and it is said."""
    for model in ("a", "b", "c"):
        judged(tmp_path, model, [1.0, 2.0] * 10)
    main([str(tmp_path), "--runs", "2"])
    printed = capsys.readouterr()
    assert printed.err == "AlpacaEval 2: 3 models are too few to choose 8.\n"
    assert [word in printed.out for word in ("2 at random", "2 neighbours", "8 ")] == [True, True, False]
    runs = 2 * sum(choice.arms <= 3 for choice in OWN)
    assert f"0 of {runs} answers wrong" in printed.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runs", "0"], "--runs must be"),
        (["--seed", "-1"], "--seed must be"),
        (["--delta", "1"], "delta must lie strictly between 0 and 1"),
        (["--against", "no such file"], "--against takes a file that --format json has printed"),
    ],
)
def test_what_the_command_refuses(tmp_path: Path, words: list[str], said: str) -> None:
    """In a sentence, before anything is read."""
    with pytest.raises(InvalidInputError, match=said):
        main([str(tmp_path), *words])


def test_a_column_is_not_asked_for_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would be lost."""
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--against", "x", "--format", "json"])
    assert "leave out one of them" in capsys.readouterr().err
