"""Runs that were made twice: which differ, and whether the last bits of a threshold explain it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import truebest

NEAR = 1e-9  # between statistic and threshold: about a million times the rounding of either
RARE = 1e-5  # of all runs may differ


class Difference(NamedTuple):
    """A run that was not the same twice.

    distance  between statistic and threshold where the shorter of the two ended, in the longer as well
    """

    run: int
    samples: int
    other: int
    distance: float


def differences(
    strategy: str | truebest.Strategy,
    means: tuple[float, ...] | None,
    one: truebest.Cell,
    other: truebest.Cell,
    **options: object,
) -> list[Difference]:
    """All runs that differ in samples or answer; `options` are those of `simulate`."""
    differ = np.flatnonzero((one.samples != other.samples) | (one.recommended != other.recommended))
    found = []
    for run in differ.tolist():
        path = truebest.trace(strategy, means, one.delta, run=run, seed=one.seed, **options)  # type: ignore[arg-type]
        samples, twin = int(one.samples[run]), int(other.samples[run])
        at = min(samples, twin) - int(path.time[0])
        distance = float(abs(path.statistic[at] - path.threshold[at]))
        found.append(Difference(run, samples, twin, distance))
    return found


def assert_same(found: list[Difference], runs: int) -> None:
    """At most 1 run in 100,000 differs, and only where statistic and threshold are as good as equal."""
    far = [one for one in found if not one.distance <= NEAR]
    assert not far, f"{len(far)} of {len(found)} that differ are not near the threshold: {far[:20]}"
    assert len(found) <= RARE * runs, f"{len(found)} of {runs} differ: {found[:20]}"
