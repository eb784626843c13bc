"""`truebest reproduce` at small size: cells present, z-scores finite, pictures that parse, none blank."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

import truebest as truebest_package
from e2e.test_solve_command import truebest
from support.commands import run as in_process
from support.paper import counter_examples, kept_stability
from truebest.cli import main
from truebest.cli import reproduce as reproduce_module
from truebest.studies.ledger import Ledger
from truebest.studies.paper import checks, claims, figures, published, stability, table1

ROOT = Path(__file__).parents[2]
LABELS = {  # of the axes, and what else must be told
    1: {"arm", "mean"},
    2: {"time t", "sampling frequency N(t)/t", "w(μ)", "EBS", "Track-and-Stop"},
    3: {"time t", "target weight", "EBS", "Track-and-Stop"},
    4: {"arm", "mean"},
    5: {"δ", "mean number of draws", "EBS", "Track-and-Stop", "Uniform", "lower bound"},
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `truebest reproduce all` fills, from few runs."""
    folder = tmp_path_factory.mktemp("report")
    run = truebest("reproduce", "all", "--runs", "5", "--output", str(folder))
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"{folder / 'index.html'}\n"
    return folder


def check_picture(number: int, folder: Path) -> None:
    """The SVG parses and has the labels (as comments: letters are drawn as paths); the PNG is not blank."""
    svg = folder / f"figure{number}.svg"
    assert ET.parse(svg).getroot().tag.endswith("svg")
    assert set(re.findall(r"<!-- (.*?) -->", svg.read_text())) >= LABELS[number]
    image = matplotlib.image.imread(folder / f"figure{number}.png")
    dark = (image[..., :3].min(axis=-1) < 0.9).mean()
    assert 0.005 < dark < 0.5


def read_csv(text: str) -> list[dict[str, str]]:
    """Its rows; none may be short or long."""
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    assert rows
    assert all(None not in row and None not in row.values() for row in rows)
    return rows


def test_table_1_is_complete_and_resumes(tmp_path: Path) -> None:
    """36 cells with finite z-scores and a joint test; a second call takes over the finished cells."""
    words = ("reproduce", "table1", "--runs", "20", "--output", str(tmp_path), "--format", "json")
    ran = in_process(*words)
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert len(found["cells"]) == 36
    assert all(math.isfinite(cell["z"]) for cell in found["cells"])
    assert found["joint"]["cells"] == 33
    assert len(read_csv((tmp_path / "table1.csv").read_text())) == 36
    kept = json.loads((tmp_path / "table1.json").read_text())
    kept["finished"]["0/ebs-c"]["mean_samples"] = 12345.0  # if this comes back, the cell was not run again
    del kept["finished"]["5/lucb++"]
    (tmp_path / "table1.json").write_text(json.dumps(kept))
    again = json.loads(in_process(*words).out)
    assert again["cells"][0]["mean_samples"] == 12345.0
    assert again["cells"][35] == found["cells"][35]
    other = json.loads(in_process(*words, "--seed", "1").out)  # other settings: nothing is taken over
    assert other["cells"][0]["mean_samples"] != 12345.0


@pytest.mark.slow
def test_an_interrupted_report_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted in Table 1, Figure 5, stability and claims: no part is made twice, same files."""
    made: list[tuple[object, ...]] = []
    stop_at = 0

    def counted(make: Any) -> Any:
        def part(*given: object) -> Any:
            if len(made) == stop_at:
                raise KeyboardInterrupt
            made.append((make.__module__, *given))
            return make(*given)

        return part

    for module, name in ((table1, "_part"), (figures, "_draws"), (stability, "_part"), (claims, "_part")):
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    stop_at = 10_000
    assert main(["reproduce", "all", "--runs", "3", "--output", str(whole)]) == 0
    assert len(made) == 36 + 12 + 4 + 32
    expected = list(made)
    made.clear()
    for stop_at in (1, 20, 41, 50, 60, 10_000):
        code = main(["reproduce", "all", "--runs", "3", "--output", str(broken)])
        assert code == (0 if stop_at == 10_000 else 130)
        assert len(made) == min(stop_at, 84)
    assert made == expected
    assert {path.name for path in whole.iterdir()} == {path.name for path in broken.iterdir()}
    for path in whole.iterdir():
        assert path.read_bytes() == (broken / path.name).read_bytes(), path.name


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_time_left_ignores_what_was_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of six parts are there and each of the others takes 10 s: 20 s are left after the next one."""
    now, told = 0.0, Terminal()
    file = tmp_path / "parts.json"

    def make() -> dict[str, Any]:
        nonlocal now
        now += 10.0
        return {"x": 1}

    parts = dict.fromkeys("abcdef", make)

    def go_on() -> list[str]:
        told.truncate(0)
        told.seek(0)
        reproduce_module._ledger(tmp_path, "parts", "Table 1", "1 of 4, ").make({}, parts)
        return [line.strip() for line in re.split(r"[\r\n]", told.getvalue()) if line.strip()]

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(sys, "stderr", told)
    assert go_on()[0] == "1 of 4, Table 1: 1 of 6, about 50 s left"
    kept = json.loads(file.read_text())
    for name in "ace":
        del kept["finished"][name]
    file.write_text(json.dumps(kept))
    assert go_on() == [
        "1 of 4, Table 1: 4 of 6, about 20 s left",
        "1 of 4, Table 1: 5 of 6, about 10 s left",
        "1 of 4, Table 1: 6 of 6, about 0 s left",
    ]
    assert list(json.loads(file.read_text())["finished"]) == list("abcdef")
    assert go_on() == ["1 of 4, Table 1: 6 of 6, about 0 s left"]


def test_what_other_code_has_made_is_made_again(tmp_path: Path) -> None:
    """A part is taken over only if settings, version and source are those that made it."""
    ledger = Ledger(tmp_path / "parts.json")
    assert ledger.make({"runs": 1}, {"a": lambda: {"x": 0.1}}) == {"a": {"x": 0.1}}
    assert ledger.make({"runs": 1}, {"a": lambda: {"x": 0.2}}) == {"a": {"x": 0.1}}
    assert ledger.make({"runs": 2}, {"a": lambda: {"x": 0.3}}) == {"a": {"x": 0.3}}
    for key in ("source", "version"):
        kept = json.loads((tmp_path / "parts.json").read_text())
        kept["settings"][key] += "-"
        (tmp_path / "parts.json").write_text(json.dumps(kept))
        assert ledger.make({"runs": 2}, {"a": partial(dict, x=key)}) == {"a": {"x": key}}


def test_a_damaged_store_is_made_anew(tmp_path: Path) -> None:
    """Half a file of finished cells is no reason to fail."""
    (tmp_path / "table1.json").write_text('{"settings": {"runs"')
    ran = in_process("reproduce", "table1", "--runs", "2", "--output", str(tmp_path))
    assert ran.code == 0
    assert "All 33 distinct cells" in ran.out
    assert "w(mu1) = (0.477, 0.476, 0.028, 0.010, 0.010)" in ran.out
    assert "fewer than 400 runs" in ran.out


@pytest.mark.slow
def test_joint_test_rejects_wrong_numbers() -> None:
    """Negative control: with one published number off by ten standard errors p is tiny.

    400 runs: with a few dozen, the estimated spread of these skewed numbers moves with their mean and z is
    far from normal.
    """
    cells = table1.make_table(400, 3)
    good = table1.joint_test(cells)
    assert good.p_value > 1e-4  # false alarm: 1e-4, for normal cells
    bad = [*cells[:-1], table1.TableCell(**{**vars(cells[-1]), "z": 10.0})]
    assert table1.joint_test(bad).p_value < 1e-6


def test_published_numbers_are_the_papers() -> None:
    """Lower bounds and weights recomputed; columns complete."""
    from truebest import lower_bound, optimal_weights

    for row in published.TABLE_1:
        means = published.BANDITS[row.bandit]
        assert round(float(lower_bound(means, row.delta))) == row.lower_bound
        assert len(row.draws) == len(published.STRATEGIES)
    for name, weights in published.WEIGHTS.items():
        assert tuple(optimal_weights(published.BANDITS[name]).weights.round(3)) == weights


def shown(value: object) -> str:
    """A value of JSON as CSV has it."""
    return json.dumps(value) if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("number", [*(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3, 4)), 5])
def test_figures(number: int, tmp_path: Path) -> None:
    """An SVG that parses, with axes named, and a PNG that is not blank; their numbers on request."""
    words = ("reproduce", f"figure{number}", "--runs", "3", "--output", str(tmp_path))
    ran = in_process(*words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.split() == [str(tmp_path / f"figure{number}.{end}") for end in ("svg", "png")]
    check_picture(number, tmp_path)
    comma, found = (in_process(*words, "--format", format) for format in ("csv", "json"))
    assert comma.out == (tmp_path / f"figure{number}.csv").read_text()
    rows, same = read_csv(comma.out), json.loads(found.out)
    assert [list(row.values()) for row in rows] == [list(map(shown, row.values())) for row in same]


def test_the_numbers_of_the_figures(report: Path) -> None:
    """Candidates and steps with their arms, pulls that add up to the time, targets to 1, draws per delta."""
    data = {n: read_csv((report / f"figure{n}.csv").read_text()) for n in LABELS}
    for n in (1, 2, 3, 4):
        written = json.loads((report / f"figure{n}.json").read_text())
        assert [list(map(shown, row.values())) for row in written] == [list(row.values()) for row in data[n]]
    assert (len(data[1]), len(data[4])) == (3 * 5, 4 * 5)
    for row in data[1] + data[4]:
        assert float(row["lower"]) <= float(row["mean"]) <= float(row["upper"])
    assert sum(float(row["weight"]) for row in data[1] if row["chosen"] == "true") == pytest.approx(1.0)
    for row in data[2]:
        assert sum(int(row[f"pulls_{a}"]) for a in range(1, 6)) == int(row["time"])
    for row in data[3]:
        assert sum(float(row[f"target_{a}"]) for a in range(1, 6)) == pytest.approx(1.0)
    for strategy in ("ebs-c(gamma=0.2)", "tas-c"):
        times = [int(row["time"]) for row in data[3] if row["strategy"] == strategy]
        assert times == list(range(5, 1201))
    assert len(data[5]) == 4 * 3 * len(figures.DELTAS)


def test_the_effects_that_the_figures_show() -> None:
    """Three candidates; w_min never falls along the proof; EBS starts uniform and is the steadier one."""
    assert [c.arm for c in figures.candidates()] == [0, 1, 2]
    steps = [step.min_weight for step in figures.proof_steps()]
    assert steps == sorted(steps)
    ebs, _, tas, _ = stability.measure(runs=20)
    assert ebs.uniform_rounds > 100 > tas.uniform_rounds
    assert tas.total_variation > 5 * ebs.total_variation
    assert tas.leader_changes > 5 * ebs.leader_changes


def test_stability_command() -> None:
    """Every strategy with targets, with errors; CSV says the same."""
    words = ("reproduce", "stability", "--runs", "3", "--format")
    rows = json.loads(in_process(*words, "json").out)
    assert [row["strategy"] for row in rows] == ["ebs-c(gamma=0.2)", "ebs-d(gamma=0.2)", "tas-c", "tas-d"]
    assert all(math.isfinite(row["total_variation_error"]) for row in rows)
    assert [list(row.values()) for row in read_csv(in_process(*words, "csv").out)] == [
        list(map(str, row.values())) for row in rows
    ]


def test_the_kept_stability_comes_out_again() -> None:
    """50 runs with another seed are within 4 standard errors of the 1000 in the package.

    False alarm: 0.0006 for ten normal numbers. Negative control: the other strategy's numbers are not.
    """

    def far(one: stability.Stability, other: stability.Stability) -> bool:
        ours, theirs = vars(one), vars(other)
        names = ("total_variation", "leader_changes", "uniform_rounds")
        return any(
            abs(ours[name] - theirs[name]) > 4 * math.hypot(ours[f"{name}_error"], theirs[f"{name}_error"])
            for name in names
        )

    kept, fresh = kept_stability(), stability.measure(50, seed=7)
    assert [(one.strategy, one.runs) for one in kept] == [(one.strategy, 1000) for one in fresh]
    assert not any(map(far, fresh, kept))
    assert all(map(far, fresh, kept[2:] + kept[:2]))


def test_claims_rest_on_their_instances() -> None:
    """Every numbered statement once, in order; no checked one broken; refuted ones with their numbers."""
    found = claims.check_claims(100, seed=2)
    numbers = [int(claim.number.split()[1]) for claim in found]
    assert numbers == [n for n in range(1, 34) if n != 23]  # 23 is a remark
    assert sum(claim.broken for claim in found) == 0
    assert all(claim.instances > 0 or claim.note for claim in found)
    assert all(claim.note for claim in found if claim.verdict != "holds")
    numbers_of = counter_examples()
    assert numbers_of["lemma_28_min_weight"] < 0.01
    assert numbers_of["proposition_15_value"] < numbers_of["proposition_15_claim"]
    assert numbers_of["lemma_25_tas_deviation"] > 4


def test_claims_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with weights that are not optimal the checks find broken instances."""
    real = truebest_package.optimal_weights

    def wrong(*given: Any, **named: Any) -> Any:
        found = real(*given, **named)
        bent = found.weights**1.2
        bent /= bent.sum(axis=-1, keepdims=True)
        return type(found)(bent, found.time, found.log_time, found.ratio)

    monkeypatch.setattr(checks, "optimal_weights", wrong)
    broken = {claim.number for claim in claims.check_claims(100) if claim.broken}
    assert {"Proposition 8", "Lemma 28"} <= broken


def test_claims_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table for people, under it every statement in a line and what is to be said of it; JSON has all."""
    monkeypatch.setenv("COLUMNS", "110")
    ran = in_process("reproduce", "claims", "--runs", "20")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= 110
    rows = json.loads(in_process("reproduce", "claims", "--runs", "20", "--format", "json").out)
    assert len(rows) == 32
    for row in rows:
        assert any(line.startswith(row["number"] + " ") and row["verdict"] in line for line in lines)
        assert f"{row['number']}. {row['statement']}" in lines
        assert row["note"] in " ".join(ran.out.split())
    assert [row["broken"] for row in rows] == [0] * 32
    assert "0.00972 < 0.01" in " ".join(ran.out.split())


def test_the_table_has_the_lower_bound_and_the_weights(report: Path) -> None:
    """T kl(δ, 1-δ) and w(μ) stand in every cell of CSV and JSON, as the paper rounds them."""
    cells = list(json.loads((report / "table1.json").read_text())["finished"].values())
    rows = read_csv((report / "table1.csv").read_text())
    assert len(cells) == len(rows) == 36
    for cell, row in zip(cells, rows, strict=True):
        setting = published.TABLE_1[cell["row"]]
        assert round(cell["lower_bound"]) == setting.lower_bound
        assert tuple(round(w, 3) for w in cell["optimal_weights"]) == published.WEIGHTS[setting.bandit]
        assert float(row["lower_bound"]) == cell["lower_bound"]
        assert json.loads(row["optimal_weights"]) == cell["optimal_weights"]


def test_everything_is_there_and_valid(report: Path) -> None:
    """Five figures as SVG and PNG; the numbers of eight targets as CSV and JSON; rates; the page; no more."""
    targets = ["table1", *(f"figure{n}" for n in LABELS), "stability", "claims"]
    expected = {f"{name}.{end}" for name in targets for end in ("csv", "json")}
    expected |= {"index.html", "certified.csv"}
    expected |= {f"figure{n}.{end}" for n in LABELS for end in ("svg", "png")}
    assert {path.name for path in report.iterdir()} == expected
    for number in LABELS:
        check_picture(number, report)
    for name in targets:
        assert json.loads((report / f"{name}.json").read_text())
        assert read_csv((report / f"{name}.csv").read_text())
    rates = read_csv((report / "certified.csv").read_text())
    assert {row["verdict"] for row in rates} <= {"within", "not told apart", "not within"}
    assert "<h2>Certified error rates</h2>" in (report / "index.html").read_text()


@pytest.mark.parametrize(("target", "folder"), [("run", "few-runs"), ("reproduce", "")])
def test_make_ends_with_the_report(target: str, folder: str) -> None:
    """`make run` and `make reproduce` make it, and the last thing that they print is where it is."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True, env=alone
    )
    lines = done.stdout.splitlines()
    place = str(Path("report", folder))
    making = next(i for i, line in enumerate(lines) if "truebest reproduce all" in line)
    assert lines[making].endswith(f"--output {place}")
    if target == "run":
        assert making == len(lines) - 1  # it prints the path
        assert "the report is in" in lines[making - 1]
    else:
        assert lines[-1] == f'echo "The report is in {place}/index.html"'


def test_the_report_is_one_page_that_needs_no_network(report: Path) -> None:
    """All parts are in it, and nothing is loaded from elsewhere."""
    page = (report / "index.html").read_text()
    HTMLParser().feed(page)
    assert page.count("<svg") == 5
    for part in ("Table 1", "Figure 5", "total variation", "Lemma 28", "published 4727", "100,000 runs"):
        assert part in page
    assert "<td class='text'>holds</td><td>5</td><td>0</td>" in page  # 5 instances, none broken
    for loading in ("<script", "<link", "<img", "url(http", "@import", "src=", 'href="http'):
        assert loading not in page


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["figure1"], "--output"),
        (["table2"], "table2"),
        (["table1", "--runs", "1"], "from 2 to"),
        (["table1", "--seed", "-1"], "seed"),
        (["figure1", "--output", "/dev/null/x"], "/dev/null/x"),
        (["all", "--output", "/dev/null/x", "--format", "json"], "--format json"),
        ([], "target"),
    ],
)
def test_bad_input_is_one_line_and_code_2(words: list[str], part: str) -> None:
    """Nothing on stdout, one line on stderr."""
    ran = in_process("reproduce", *words)
    assert (ran.code, ran.out) == (2, "")
    assert part.lower() in ran.err.lower()
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("reproduce", "claims", "--runs", "2"),
        ("simulate", "--means", "1,0", "--runs", "2", "--strategy", "uniform"),
    ],
)
def test_csv_is_utf_8_whatever_the_locale(words: tuple[str, ...]) -> None:
    """Letter for letter what the same command prints where everything can be written."""
    command = [sys.executable, "-m", "truebest", *words, "--format", "csv"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    found = done.stdout.decode("utf-8").replace("\r\n", "\n")
    assert found == in_process(*words, "--format", "csv").out.replace("\r\n", "\n")
    assert read_csv(found)
    assert ("γ" in found) == ("claims" in words)
