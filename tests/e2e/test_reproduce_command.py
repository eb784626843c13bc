"""`bestarm reproduce` at small size: cells present, z-scores finite, pictures that parse, none blank."""

from __future__ import annotations

import csv
import io
import json
import math
import xml.etree.ElementTree as ET
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import bestarm as bestarm_package
from bestarm.cli import main
from bestarm.paper import claims, figures, published, stability, table1
from bestarm.paper.ledger import Ledger
from e2e.test_solve_command import bestarm


def test_table_1_is_complete_and_resumes(tmp_path: Path) -> None:
    """36 cells with finite z-scores and a joint test; a second call takes over the finished cells."""
    words = ("reproduce", "table1", "--runs", "20", "--output", str(tmp_path), "--format", "json")
    run = bestarm(*words)
    assert (run.returncode, run.stderr) == (0, "")
    found = json.loads(run.stdout)
    assert len(found["cells"]) == 36
    assert all(math.isfinite(cell["z"]) for cell in found["cells"])
    assert found["joint"]["cells"] == 33
    assert len(list(csv.DictReader(io.StringIO((tmp_path / "table1.csv").read_text())))) == 36
    kept = json.loads((tmp_path / "table1.json").read_text())
    kept["finished"]["0/ebs-c"]["mean_samples"] = 12345.0  # if this comes back, the cell was not run again
    del kept["finished"]["5/lucb++"]
    (tmp_path / "table1.json").write_text(json.dumps(kept))
    again = json.loads(bestarm(*words).stdout)
    assert again["cells"][0]["mean_samples"] == 12345.0
    assert again["cells"][35] == found["cells"][35]
    other = json.loads(bestarm(*words, "--seed", "1").stdout)  # other settings: nothing is taken over
    assert other["cells"][0]["mean_samples"] != 12345.0


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
    run = bestarm("reproduce", "table1", "--runs", "2", "--output", str(tmp_path))
    assert run.returncode == 0
    assert "All 33 distinct cells" in run.stdout
    assert "w(mu1) = (0.477, 0.476, 0.028, 0.010, 0.010)" in run.stdout
    assert "fewer than 400 runs" in run.stdout


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
    from bestarm import lower_bound, optimal_weights

    for row in published.TABLE_1:
        means = published.BANDITS[row.bandit]
        assert round(float(lower_bound(means, row.delta))) == row.lower_bound
        assert len(row.draws) == len(published.STRATEGIES)
    for name, weights in published.WEIGHTS.items():
        assert tuple(optimal_weights(published.BANDITS[name]).weights.round(3)) == weights


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_figures(number: int, tmp_path: Path) -> None:
    """An SVG that parses, with axes named, and a PNG that is not blank."""
    run = bestarm("reproduce", f"figure{number}", "--runs", "3", "--output", str(tmp_path))
    assert (run.returncode, run.stderr) == (0, "")
    svg = tmp_path / f"figure{number}.svg"
    assert ET.parse(svg).getroot().tag.endswith("svg")
    import matplotlib.image

    image = matplotlib.image.imread(tmp_path / f"figure{number}.png")
    dark = (image[..., :3].min(axis=-1) < 0.9).mean()
    assert 0.005 < dark < 0.5


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
    """Every strategy with targets, with errors."""
    rows = json.loads(bestarm("reproduce", "stability", "--runs", "3", "--format", "json").stdout)
    assert [row["strategy"] for row in rows] == ["ebs-c(gamma=0.2)", "ebs-d(gamma=0.2)", "tas-c", "tas-d"]
    assert all(math.isfinite(row["total_variation_error"]) for row in rows)


def test_claims_rest_on_their_instances() -> None:
    """Every numbered statement once, in order; no checked one broken; refuted ones with their numbers."""
    found = claims.check_claims(100, seed=2)
    numbers = [int(claim.number.split()[1]) for claim in found]
    assert numbers == [n for n in range(1, 34) if n != 23]  # 23 is a remark
    assert sum(claim.broken for claim in found) == 0
    assert all(claim.instances > 0 or claim.note for claim in found)
    assert all(claim.note for claim in found if claim.verdict != "holds")
    numbers_of = claims.counter_examples()
    assert numbers_of["lemma_28_min_weight"] < 0.01
    assert numbers_of["proposition_15_value"] < numbers_of["proposition_15_claim"]
    assert numbers_of["lemma_25_tas_deviation"] > 4


def test_claims_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with weights that are not optimal the checks find broken instances."""
    real = bestarm_package.optimal_weights

    def wrong(*given: Any, **named: Any) -> Any:
        found = real(*given, **named)
        bent = found.weights**1.2
        bent /= bent.sum(axis=-1, keepdims=True)
        return type(found)(bent, found.time, found.log_time, found.ratio)

    monkeypatch.setattr(claims, "optimal_weights", wrong)
    broken = {claim.number for claim in claims.check_claims(100) if claim.broken}
    assert {"Proposition 8", "Lemma 28"} <= broken


def test_claims_command() -> None:
    """A table for people, and the notes under it."""
    run = bestarm("reproduce", "claims", "--runs", "20")
    assert (run.returncode, run.stderr) == (0, "")
    assert "Lemma 28" in run.stdout
    assert "0.00972 < 0.01" in run.stdout


def test_the_report_is_one_page_that_needs_no_network(tmp_path: Path) -> None:
    """All parts are in it, and nothing is loaded from elsewhere."""
    run = bestarm("reproduce", "all", "--runs", "5", "--output", str(tmp_path))
    assert (run.returncode, run.stderr) == (0, "")
    page = (tmp_path / "index.html").read_text()
    HTMLParser().feed(page)
    assert page.count("<svg") == 5
    for part in ("Table 1", "Figure 5", "total variation", "Lemma 28", "published 4727", "100,000 runs"):
        assert part in page
    assert "<td class='text'>holds</td><td>5</td><td>0</td>" in page  # 5 instances, none broken
    for loading in ("<script", "<link", "<img", "url(http", "@import", "src=", 'href="http'):
        assert loading not in page
    names = {path.name for path in tmp_path.iterdir()}
    assert {
        "table1.csv",
        "table1.json",
        "claims.json",
        "stability.csv",
        "figure3.png",
        "figure5.csv",
    } <= names


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["figure1"], "--output"),
        (["table2"], "table2"),
        (["table1", "--runs", "1"], "at least 2"),
        (["table1", "--seed", "-1"], "seed"),
        (["figure1", "--output", "/dev/null/x"], "/dev/null/x"),
        ([], "target"),
    ],
)
def test_bad_input_is_one_line_and_code_2(words: list[str], part: str) -> None:
    """Nothing on stdout, one line on stderr."""
    run = bestarm("reproduce", *words)
    assert (run.returncode, run.stdout) == (2, "")
    assert part.lower() in run.stderr.lower()
    assert run.stderr.count("\n") == 1
