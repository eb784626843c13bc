"""What a comparison says follows from its runs, whichever way it was made."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from truebest import Bandit, Comparison, InvalidInputError, TrackAndStop, compare
from truebest.studies.comparison import compare as comparing
from truebest.studies.comparison import stability, tables
from truebest.studies.comparison.page import page
from truebest.studies.comparison.statistics import Ratios

SUITE = [Bandit("two", (0.0, 1.0), groups=("few",)), Bandit("four", (0.0, 0.2, 0.4, 1.2), groups=("many",))]
NAMES = ["tas-d", "racing", "uniform"]


def small(strategies: Any = NAMES, suite: Any = SUITE, delta: Any = 0.1, **options: Any) -> Comparison:
    options = {"runs": 10, "stability_runs": 0, "progress": False, "seed": 3} | options
    return compare(strategies, suite, delta, **options)


class Twin(TrackAndStop):
    """Track-and-Stop under another name."""

    @property
    def name(self) -> str:
        return "twin"


# -- statistics ----------------------------------------------------------------------------------------

BLOCKS = (  # two bandits, three strategies, four runs
    np.array([[10, 20, 30, 40], [20, 40, 60, 80], [30, 30, 30, 30]]),
    np.array([[8, 8, 8, 8], [2, 2, 2, 2], [4, 2, 4, 2]]),
)


def test_ratios_are_to_the_least_mean() -> None:
    """By hand: means 25, 50, 30 and 8, 2, 3."""
    found = Ratios.of(BLOCKS)
    np.testing.assert_allclose(found.values, [[1.0, 2.0, 1.2], [4.0, 1.0, 1.5]])
    np.testing.assert_allclose(found.geometric[0], [2.0, np.sqrt(2.0), np.sqrt(1.8)])
    worst, _, where = found.worst
    np.testing.assert_allclose(worst, [4.0, 2.0, 1.5])
    assert where.tolist() == [1, 0, 1]
    shares = found.within(np.array([1.0, 1.5, 4.0]))
    assert shares.tolist() == [[0.5, 0.5, 1.0], [0.5, 0.5, 1.0], [0.0, 1.0, 1.0]]


def test_errors_are_of_pairs() -> None:
    """Strategies whose runs are proportional have no error between them; others have that of differences."""
    found = Ratios.of(BLOCKS)
    mean, runs, bandits = found.above(0)
    np.testing.assert_allclose(mean, [0.0, np.log(0.5) / 2, np.log(1.2 * 0.375) / 2])
    assert runs[0] == runs[1] == 0.0
    first = np.array([10, 20, 30, 40]) / 25 - 1.0
    second = np.array([4, 2, 4, 2]) / 3 - 1.0
    expected = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 4) / 2
    assert runs[2] == pytest.approx(expected)
    assert bandits[1] == pytest.approx(np.std([np.log(2.0), np.log(0.25)], ddof=1) / np.sqrt(2.0))
    assert np.isnan(Ratios.of(BLOCKS[:1]).above(0)[2]).all()


def test_tails_are_ratios_of_quantiles() -> None:
    """The quantile of each, to the least; errors are the same again, and 0 for proportional runs."""
    found = Ratios.of(BLOCKS[:1]).tails(0.5)
    np.testing.assert_allclose(found[0], [1.0, 2.0, 1.2])
    again = Ratios.of(BLOCKS[:1]).tails(0.5)
    assert found[1].tolist() == again[1].tolist()
    doubled = Ratios.of((np.array([[10, 20, 30, 40], [20, 40, 60, 80]]),)).tails(0.95)
    assert doubled[0].tolist() == [1.0, 2.0]
    assert doubled[1] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_strategy_against_itself() -> None:
    """Every ratio is 1, every difference and its errors are 0, and both are first everywhere."""
    found = small(["tas-d", Twin()])
    for row in found.standings:
        assert (row.geometric_mean, row.worst, row.tail, row.difference) == (1.0, 1.0, 1.0, 0.0)
        assert (row.geometric_mean_error, row.run_error, row.bandit_error, row.tail_error) == (0, 0, 0, 0)
        assert (row.below, row.first) == (0, 2)
    assert found.losses(0.1) == []


# -- what was compared ---------------------------------------------------------------------------------


def test_cells_are_those_of_simulate() -> None:
    """The same runs, in the order and under the seed that follow from the name; several risks, two groups."""
    found = small(delta=[0.1, 0.01])
    for b, bandit in enumerate(SUITE):
        options: dict[str, Any] = {
            "runs": 10,
            "seed": bandit.seed(3),
            "stopping": "mixture",
            "progress": False,
        }
        alone = truebest.simulate(NAMES, bandit.in_order(bandit.order(3)).means, [0.1, 0.01], **options)
        for cell in alone:
            mine = found.cell(b, cell.strategy, cell.delta)
            assert mine.samples.tolist() == cell.samples.tolist()
            assert found.simulation[cell.strategy, cell.delta, b] is mine
    assert found.groups == {"few": (0,), "many": (1,)}
    by_group = found.by_group(0.01)
    assert by_group["racing"]["many"] == pytest.approx(found.ratios(0.01)["racing"][1])
    assert found.complete


def test_standings_and_reference() -> None:
    """Sorted by geometric mean; the reference is the first, or the one that was asked for."""
    found, other = small(), small(reference="uniform")
    means = [row.geometric_mean for row in found.standings]
    assert means == sorted(means)
    assert (found.standings[0].difference, found.standings[0].run_error) == (0.0, 0.0)
    by_name = {row.strategy: row for row in other.standings}
    assert by_name["uniform"].difference == 0.0
    assert by_name["tas-d"].difference < 0.0
    assert "mean logarithms to uniform, times 100" in other.notes()[0]
    assert {loss.bandit for loss in other.losses(0.1)} <= {"two", "four"}


def test_cut_off_runs_are_counted_and_shown() -> None:
    """They count at the limit, ratios are marked as lower bounds, and a note says how many there are."""
    found = small(suite=[Bandit("tie", (0.0, 0.001, 0.002))], max_samples=30)
    assert all(row.cut_off == row.runs == 10 for row in found.standings)
    assert all(row[1].startswith(">= ") for row in found.table()[1])
    assert "30 runs were cut off at 30 samples" in " ".join(found.notes())
    wrong = [sum(found.cell(0, row.strategy, 0.1).leaders < 2) for row in found.standings]
    assert [row.wrong_leaders for row in found.standings] == wrong
    assert sum(wrong) > 0
    assert [row[found.table()[0].index("cut off")] for row in found.table()[1]] == [
        f"10 ({n} wrong)" for n in wrong
    ]
    assert f"A wrong arm led {sum(wrong)} of them." in " ".join(found.notes())


def test_arms_are_played_in_an_order_that_follows_from_the_seed() -> None:
    """And are called in the result as they were given; another seed, another order."""
    bandit = Bandit("five", (0.5, 0.0, 0.1, 0.2, 0.3), noise=(1.0, 1.1, 1.2, 1.3, 1.4), sigma=1.4)
    orders = {bandit.order(seed) for seed in range(20)}
    assert len(orders) > 10
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in orders)
    order = bandit.order(1)
    played = bandit.in_order(order)
    assert played.means == tuple(bandit.means[a] for a in order) != bandit.means
    assert played.noise == tuple(bandit.noise[a] for a in order)  # type: ignore[index]
    seed = bandit.seed(1)
    alone = truebest.simulate(
        "tas-d", played.means, 0.1, runs=10, seed=seed, stopping="mixture", noise=played.noise, sigma=1.4
    ).cells[0]
    cell = compare(
        ["tas-d"], bandit, 0.1, runs=10, seed=1, stability_runs=0, progress=False
    ).simulation.cells[0]
    assert cell.samples.tolist() == alone.samples.tolist()
    assert cell.best == frozenset([0])
    assert cell.recommended.tolist() == [order[a] for a in alone.recommended]
    assert [cell.mean_pulls[order[i]] for i in range(5)] == alone.mean_pulls.tolist()


def test_an_order_moves_what_is_assumed_of_each_arm() -> None:
    """Sigma and the sigmas of a model; what is one number stays."""
    order, uneven = (2, 0, 1), (1.0, 2.0, 3.0)
    one = Bandit("one", (0.0, 0.1, 0.2), sigma=uneven).in_order(order)
    other = Bandit("other", (0.0, 0.1, 0.2), model=truebest.Gaussian(uneven)).in_order(order)
    assert (one.sigma, other.model) == ((3.0, 1.0, 2.0), truebest.Gaussian((3.0, 1.0, 2.0)))
    assert (
        Bandit("same", (0.0, 0.1, 0.2), model=truebest.Student()).in_order(order).model == truebest.Student()
    )


def test_too_many_errors_are_said() -> None:
    """A strategy that recommends a wrong arm in every run is named; the others are not."""

    @truebest.strategy(stops_itself=True, name="wrong")
    def wrong(means):  # type: ignore[no-untyped-def]
        return means.size

    found = small(["tas-d", wrong])
    assert [note for note in found.notes() if "more than chance" in note] == [
        "wrong erred in 10 of 10 runs at delta 0.1 on two, which is more than chance explains.",
        "wrong erred in 10 of 10 runs at delta 0.1 on four, which is more than chance explains.",
    ]


def test_movement_is_that_of_decision_3() -> None:
    """On mu1: targets of Track-and-Stop move far more than those on open arms; racing has none."""
    found = small(["tas-d", "ebs-open-equal", "racing"], SUITE[:1], stability_runs=3)
    assert [one.bandit for one in found.movements[:3]] == ["mu1", "K=10 linear", "two near-ties"]
    assert found.movement("tas-d")[0] > 10 * found.movement("ebs-open-equal")[0] > 0.0
    assert np.isnan(found.movement("racing")[0])
    assert np.isnan(small(suite=SUITE[:1]).movement("racing")[1])
    mu1 = stability.bandits()[0]
    one = stability.measure(TrackAndStop("D"), mu1, 0.1, "mixture", 3, 3, 1)
    assert one == found.movements[0]


# -- in parts ------------------------------------------------------------------------------------------


def interrupted_after(parts: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the simulation of a part number so and so be interrupted; returns what was simulated."""
    made: list[str] = []
    original = truebest.simulate

    def simulate(strategy: Any, *args: Any, **kwargs: Any) -> Any:
        if len(made) == parts:
            raise KeyboardInterrupt
        made.append(strategy.name)
        return original(strategy, *args, **kwargs)

    monkeypatch.setattr(comparing, "simulate", simulate)
    return made


def test_resumed_equals_uninterrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C the complete bandits are there; the same call makes the rest, and no part twice."""
    whole, file = small(stability_runs=2), tmp_path / "parts.json"
    made = interrupted_after(4, monkeypatch)
    part = small(stability_runs=2, resume=file)
    assert (part.complete, [b.name for b in part.bandits], len(made)) == (False, ["two"], 4)
    assert "Interrupted: only the 1 bandits" in part.notes()[-1]
    assert part.per_bandit() == whole.per_bandit()[:3]
    monkeypatch.undo()
    made = interrupted_after(99, monkeypatch)
    rest = small(stability_runs=2, resume=file)
    assert made == ["racing", "uniform"]
    assert rest.to_dict() == whole.to_dict()
    more = small([*NAMES, "bc"], stability_runs=2, resume=file)
    assert made == ["racing", "uniform", "bc", "bc"]
    assert more.strategies == (*NAMES, "bc")
    small(NAMES, stability_runs=2, resume=file)
    small([*NAMES, "bc"], stability_runs=2, resume=file)  # which was kept meanwhile
    assert made == ["racing", "uniform", "bc", "bc"]
    small(stability_runs=2, resume=file, runs=11)
    assert len(made) == 4 + 6


def test_an_interruption_before_the_first_bandit_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to show."""
    interrupted_after(2, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        small()


def test_a_changed_function_is_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's strategy is known by its code, not by its name."""

    @truebest.strategy(name="mine")
    def one(t, pulls):  # type: ignore[no-untyped-def]
        return int(t) % pulls.size

    @truebest.strategy(name="mine")
    def other(t, pulls):  # type: ignore[no-untyped-def]
        return (int(t) + 1) % pulls.size

    file = tmp_path / "parts.json"
    made = interrupted_after(99, monkeypatch)
    for strategy in (one, one, other):
        small(["tas-d", strategy], SUITE[:1], resume=file)
    assert made == ["tas-d", "mine", "mine"]


def test_no_other_file_is_overwritten(tmp_path: Path) -> None:
    """A suite, a text, a folder: each is refused and stays as it is."""
    for text in ('[{"name": "x", "means": [0, 1]}]', "my notes", '{"settings": {"runs": 3}, "finished": {}}'):
        file = tmp_path / "suite.json"
        file.write_text(text)
        with pytest.raises(InvalidInputError, match="resume must be a new file"):
            small(resume=file)
        assert file.read_text() == text
    for place in (tmp_path, tmp_path / "nowhere" / "file.json"):
        with pytest.raises(InvalidInputError, match="in an existing folder"):
            small(resume=place)


def test_a_damaged_part_is_refused(tmp_path: Path) -> None:
    """In a sentence, not by an error of whatever reads it."""
    file = tmp_path / "parts.json"
    small(suite=SUITE[:1], resume=file)
    kept = json.loads(file.read_text())
    next(iter(kept["finished"].values()))["cells"][0]["samples"] = "AAAA"
    file.write_text(json.dumps(kept))
    with pytest.raises(InvalidInputError, match="got a damaged part"):
        small(suite=SUITE[:1], resume=file)


def test_progress_counts_parts() -> None:
    """From the first to the last, taken over or not."""
    seen: list[tuple[int, int]] = []
    small(stability_runs=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 15) for i in range(1, 16)]


# -- for programs and for people -----------------------------------------------------------------------


def test_json_and_csv_come_back(tmp_path: Path) -> None:
    """As they are in Python; into a file, too."""
    found = small(delta=[0.1, 0.01], stability_runs=1)
    assert json.loads(found.to_json(tmp_path / "all.json")) == found.to_dict()
    assert json.loads((tmp_path / "all.json").read_text()) == found.to_dict()
    rows = list(csv.DictReader(io.StringIO(found.to_csv(tmp_path / "all.csv"))))
    assert (tmp_path / "all.csv").read_text() == found.to_csv()
    assert len(rows) == 2 * 2 * 3
    for row, record in zip(rows, found.per_bandit(), strict=True):
        assert row["bandit"] == record["bandit"]
        assert float(row["ratio"]) == record["ratio"]
        assert int(row["errors"]) == record["errors"]
    try:
        import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        with pytest.raises(InvalidInputError, match="to_frame needs pandas"):
            found.to_frame()
    else:
        assert isinstance(found.to_frame(), pd.DataFrame)


def test_tables_and_representations() -> None:
    """Every table has a row for each strategy or bandit, and as many cells as titles."""
    found = small(delta=[0.1, 0.01], stability_runs=1)
    shown = [
        *(found.table(), tables.groups(found, 0.1), tables.profile(found, 0.1)),
        *(tables.bandits(found, 0.1), tables.movements(found), tables.losses(found, 0.1)),
    ]
    assert [len(rows) for _, rows in shown[:5]] == [6, 3, 3, 2, 3]
    assert all(len(row) == len(header) for header, rows in shown for row in rows)
    assert repr(found).startswith("strategy")
    assert "2 bandits, 10 runs" in repr(found)
    assert found._repr_html_().startswith("<table>")


def test_the_page_asks_for_nothing() -> None:
    """No script, no source, no link that is fetched; names are escaped."""
    nasty = Bandit("<script>alert(1)</script>", (0.0, 1.0))
    found = small(suite=[*SUITE, nasty], stability_runs=1)
    text = page(found)
    assert text == page(found)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "default-src 'none'" in text
    assert not any(part in text for part in (" src=", "<link", "@import", "url(http"))
    for title in (
        "takes the fewest samples",
        "The strategies",
        " loses</h2>",
        "Every bandit",
        "How it was made",
    ):
        assert title in text


def test_the_picture_is_a_profile_and_leaves_the_backend_alone() -> None:
    """A line for each strategy that ends at 1."""
    import matplotlib

    before = matplotlib.get_backend()
    figure = small().plot()
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == small().order(0.1)
    assert all(line.get_ydata()[-1] == 1.0 for line in lines)
    assert matplotlib.get_backend() == before
    with pytest.raises(InvalidInputError, match="one of the risks"):
        small().plot(0.5)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"strategies": ["tas-d", "tas-d"]}, "different ones"),
        ({"strategies": "tas-x"}, "did you mean"),
        ({"suite": "nothing"}, "suite must be one of"),
        ({"reference": "bc"}, "reference must be one of"),
        ({"runs": 1}, "runs must be a whole number from 2"),
        ({"stability_runs": -1}, "stability_runs must be"),
        ({"delta": 2.0}, "delta must lie strictly"),
        ({"max_samples": 3}, "bandit 'four': max_samples"),
        ({"stopping": "never"}, "got 'never'"),
        ({"seed": -1}, "seed must be"),
        ({"suite": [Bandit("counts", (1.0, 2.0), "poisson")], "stopping": "tilt"}, "bandit 'counts': "),
    ],
)
def test_bad_input_is_refused_before_the_work(options: dict[str, Any], part: str) -> None:
    """In a sentence that names the bandit, where it is about one."""
    with pytest.raises(InvalidInputError) as refusal:
        small(**options)
    assert part in str(refusal.value)
