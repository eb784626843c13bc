"""Certified error rates: making them in parts, and the table that is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.certify import PAGE, advance, advanced, arguments, bundles, enter, file_of, page

import truebest
from truebest import _catalogue
from truebest.strategies import find_strategy
from truebest.studies.certified import (
    DELTAS,
    EQUAL,
    FIRST,
    VERDICTS,
    Certified,
    Group,
    groups,
    kept_certified,
    read,
    verdict_counts,
    write,
)
from truebest.studies.paper.report import certified_rates
from truebest.theory.models import Gaussian
from truebest.theory.stopping import find_rule

EASY = Group("uniform", "practical", "easy", (0.9, 0.1))
EVERY = {group.name: group for group in groups()}
KEPT = kept_certified()


def row(errors: list[int | None], runs: int = 1000, device: str = "here") -> Certified:
    """Of the easy group."""
    return Certified(EASY.name, runs, errors, [0] * 4, [10.0] * 4, 1, device, "0", [1] * 4)


def test_a_group_is_resumed(tmp_path: Path) -> None:
    """What is there is not done again, and what is added equals one call."""
    advance(EASY, tmp_path, 30)
    found = advance(EASY, tmp_path, 80)
    again = advance(EASY, tmp_path, 50)
    (tmp_path / "other").mkdir()
    whole = advance(EASY, tmp_path / "other", 80)
    for cell, kept, other in zip(found, again, whole, strict=True):
        assert cell.runs == kept.runs == other.runs == 80
        assert cell.to_dict() == kept.to_dict() == other.to_dict()


def test_time_is_a_limit(tmp_path: Path) -> None:
    """With none left, a group gets its first runs once, and more each time that it is called again."""
    found = advance(EASY, tmp_path, 10**9, seconds=1e-9)
    assert {cell.runs for cell in found} == {FIRST}
    assert {cell.runs for cell in advance(EASY, tmp_path, 10**9, seconds=1e-9)} == {2 * FIRST}


def test_processes_make_the_same_files(tmp_path: Path) -> None:
    """Whichever does a group; and those of one program are done by one."""
    some = [EVERY[name] for name in ("uniform/practical/mu2", "racing/tilt/0 or 1", "uniform/practical/mu4")]
    assert sorted(map(len, bundles(some))) == [1, 2]
    (tmp_path / "other").mkdir()
    assert list(advanced(some, tmp_path, 5, math.inf, 1, threads=1)) == some
    others = list(advanced(some, tmp_path / "other", 5, math.inf, 2, threads=1))
    assert {group.name for group in others} == {group.name for group in some}
    for group in some:
        kept, other = (
            truebest.load_simulation(file_of(group, one)) for one in (tmp_path, tmp_path / "other")
        )
        assert [cell.to_dict() for cell in kept] == [cell.to_dict() for cell in other]


def as_counted(strategy: str) -> tuple[truebest.Strategy, truebest.Strategy]:
    """As it is, and as it was."""
    return find_strategy(strategy), find_strategy(strategy).once()


def test_every_group_has_a_file_of_its_own(tmp_path: Path) -> None:
    """No two in the same, and every strategy with every rule that is proven for Gaussian values."""
    files = [file_of(group, tmp_path) for group in groups()]
    assert len(set(files)) == len(files) == len(EVERY)
    proven = [rule for rule in _catalogue.STOPPING_RULES if find_rule(rule).proven_for(Gaussian())]
    missing = {
        (strategy, rule)
        for strategy in _catalogue.STRATEGIES
        for rule in proven
        if not any(f"{one.name}/{rule}/mu2" in EVERY for one in as_counted(strategy))
    }
    assert {rule for _, rule in missing} <= {"gk16-printed"}


@pytest.mark.parametrize(
    ("errors", "said"), [(0, VERDICTS[0]), (79, VERDICTS[0]), (100, VERDICTS[1]), (121, VERDICTS[2])]
)
def test_the_verdict(errors: int, said: str) -> None:
    """At delta = 0.1, of 1000 runs: by the exact interval, of which one end decides."""
    assert row([errors, 0, 0, 0]).verdict(0) == said


def test_runs_without_an_answer_show_nothing() -> None:
    """All cut off is no evidence, for or against; with some answers, their error rate stands beside."""
    assert replace(row([0] * 4), cut_off=[1000, 0, 0, 0]).verdict(0) == VERDICTS[1]
    assert replace(row([0] * 4), cut_off=[1000, 0, 0, 0]).text(0).startswith("no answer, not told apart; ")
    some = replace(row([30, 0, 0, 0]), cut_off=[940, 0, 0, 0])
    assert some.verdict(0) == VERDICTS[0]  # of all runs
    assert some.text(0).endswith("940 cut off, 0.37 to 0.63 of the others wrong")
    assert (some.to_records()[0]["decided"], row([0] * 4).decided(0)) == (60, 1000)


def test_no_answer_is_no_error() -> None:
    """Of three arms and the runs cut off, only arms other than the first count."""
    assert Group.errors([5, 2, 1, 90]) == 3


def test_a_row_takes_the_place_of_fewer_runs() -> None:
    """It names their devices; one of more runs, or of as many, has it all, but for means if it has none."""
    first, second = row([1, 0, 0, 0]), row([2, 0, 0, 0], 2000, "there")
    (one,) = enter([first], second)
    assert (one.runs, one.device) == (2000, "here and there")
    assert enter([second], first) == [second]
    counted = replace(second, mean_samples=None)
    assert enter([counted], first) == [counted, first]
    assert enter([first], replace(first, device="again")) == [first]


def test_a_risk_may_be_left_out(tmp_path: Path) -> None:
    """Runs at one risk have a file and a row of their own, beside one of fewer runs at all risks."""
    found = advance(EASY, tmp_path, 60, risks=[DELTAS[3]])
    assert {cell.runs for cell in advance(EASY, tmp_path, 30)} == {30}
    one = Certified.of(EASY, found, [1] * 4, "here")
    assert (one.levels, one.errors[:3]) == ([3], [None] * 3)
    assert (one.text(0), one.text(3)[:1]) == ("no runs", "0")
    assert [record["delta"] for record in one.to_records()] == [DELTAS[3]]
    whole = row([1, 0, 0, 0], 30)
    assert enter([whole], one) == [one, whole]
    assert enter([one], replace(whole, runs=60)) == [replace(whole, runs=60, device="here")]
    assert [sum(each) for each in verdict_counts([whole, one])["practical"]] == [1, 1, 1, 1]
    with pytest.raises(AssertionError, match="left out"):
        one.verdict(0)


def test_the_file_comes_back(tmp_path: Path) -> None:
    """Bit for bit."""
    (tmp_path / "table").write_text(write(KEPT))
    assert read(tmp_path / "table") == KEPT


def test_the_kept_table_is_whole() -> None:
    """Every group with its runs, seed and device, and counts that are possible."""
    assert {one.name for one in KEPT} == set(EVERY)
    for one in KEPT:
        assert one.seed == 1
        assert one.device
        assert all(errors is None or 0 <= errors <= one.runs for errors in one.errors)
        assert one.first_samples is None or len(one.first_samples) == len(DELTAS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--part 0/4", "one of so many parts"),
        ("--part 5/4", "one of so many parts"),
        ("--only nosuch", "must name groups"),
        ("--minutes nan", "a number above 0"),
        ("--risks 0.2", "must be some of"),
        ("--runs 0", "a whole number from 1"),
        ("--device gpu", "invalid choice"),
    ],
)
def test_bad_words_are_refused(
    words: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is done."""
    monkeypatch.setattr("sys.argv", ["certify", "nowhere", *words.split()])
    with pytest.raises(SystemExit, match="2"):
        arguments()
    assert said in capsys.readouterr().err


def test_every_group_has_its_runs() -> None:
    """20,000 at all risks; 100 million of the default and of EBS on mu2, surely within the smallest risk."""
    most = {
        one.name: max(row.runs for row in KEPT if row.name == one.name and len(row.levels) == 4)
        for one in KEPT
    }
    assert set(most) == {group.name for group in groups()}
    assert min(most.values()) == 20_000
    large = {one.name: one for one in KEPT if one.runs == 10**8}
    default, former = (one.name for one in as_counted(_catalogue.DEFAULT_STRATEGY))
    ours = {"ebs-d/practical/mu2", f"{default}/practical/mu2"}
    theirs = {"tas-c/practical/mu2", "ebs-d/tilt(version=2)/mu2", f"{former}/tilt(version=2)/mu2"}
    assert set(large) == ours | theirs
    for one in large.values():
        assert "H200" in one.device
        assert DELTAS.index(1e-5) in one.levels
        assert [one.verdict(k) for k in one.levels] == [VERDICTS[0]] * len(one.levels)


def test_no_proven_rule_is_refuted() -> None:
    """No interval of a rule with a proof lies above delta, in data that are fixed.

    The negative control is `test_a_wrong_answer_is_not_within`.
    """
    wrong = [
        (one.name, DELTAS[k])
        for one in KEPT
        for k in one.levels
        if one.verdict(k) == VERDICTS[2] and one.parts[1] != "practical"
    ]
    assert wrong == []


def some(number: int, offset: int) -> list[Certified]:
    """Kept rows whose first runs are quick to make again, evenly over the table."""
    quick = [one for one in KEPT if one.first_samples and sum(one.first_samples) < 40_000 * FIRST]
    return quick[offset :: max(1, len(quick) // number)]


@pytest.mark.slow
@pytest.mark.parametrize("one", some(40, 3), ids=lambda one: one.name)
def test_the_first_runs_are_made_again(one: Certified) -> None:
    """Sample for sample, with the seed that is kept."""
    assert EVERY[one.name].first_samples() == one.first_samples


def test_another_rule_is_noticed() -> None:
    """The negative control: under another rule the first runs of a group are others."""
    kept = next(one for one in KEPT if one.name == "tas-d/mixture/mu2")
    assert replace(EVERY[kept.name], rule="tilt").first_samples() != kept.first_samples


def test_a_wrong_answer_is_not_within() -> None:
    """A strategy that answers at once, and wrongly, is counted so."""

    @truebest.strategy(stops_itself=True)
    def last(pulls):  # type: ignore[no-untyped-def]
        return 2 * pulls.size - 1

    found = replace(EASY, strategy=last).simulate(50)
    wrong = Certified.of(EASY, found, [0] * 4, "here")
    assert wrong.errors == [50] * 4
    assert [wrong.verdict(k) for k in range(4)] == [VERDICTS[2]] * 4


def test_the_docs_show_the_kept_table() -> None:
    """Number for number: the page is what the data would write."""
    assert page(PAGE.read_text(), KEPT) == PAGE.read_text()


def test_the_report_shows_the_kept_table() -> None:
    """Every group with its verdicts, which add up."""
    shown = certified_rates(KEPT)
    assert all(one.text(k) in shown for one in KEPT for k in (0, 3))
    counts = verdict_counts(KEPT)
    for k in (0, 3):
        assert sum(sum(each[k]) for each in counts.values()) == len(EVERY)
    assert f"{EQUAL}</td>" in shown
