"""Numbers about the paper that only tests and guides rest on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from truebest import TrackAndStop, evidence_rate, optimal_weights, trace
from truebest.studies.paper.published import MU_1
from truebest.studies.paper.stability import Stability


def kept_stability() -> list[Stability]:
    """How restless each strategy is, from 1000 runs that are kept: nothing is simulated.

    `truebest reproduce stability --seed 0 --output DIR` makes the same numbers again.
    """
    kept = json.loads(Path(__file__).parents[1].joinpath("golden", "stability_kept.json").read_text())
    return [Stability(**part) for part in kept["finished"].values()]


def counter_examples() -> dict[str, float]:
    """The numbers that refute the statements which fail as printed."""
    w = optimal_weights(MU_1).weights
    v = w.copy()
    v[3] *= 4.2
    v /= v.sum()
    eta = float((np.abs(w - v) / w).max())
    forced = trace(TrackAndStop("C"), MU_1, 0.01, seed=0, max_samples=5000)
    assert forced.target is not None
    sums = 1.0 + np.cumsum(np.where((forced.target == 1.0).any(axis=1)[:, None], 0.0, forced.target), axis=0)
    return {
        "lemma_28_min_weight": float(w.min()),
        "proposition_15_eta": eta,
        "proposition_15_value": float(evidence_rate(MU_1, v)),
        "proposition_15_claim": (1 - eta) ** 2 / (1 + eta) * float(evidence_rate(MU_1, w)),
        "lemma_25_tas_deviation": float(np.abs(forced.pulls[1:] - sums[:-1]).max()),
    }
