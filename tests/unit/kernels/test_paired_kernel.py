"""The kernels of the paired design in small cases that can be checked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truebest.designs.rounds import Rounds, shuffled
from truebest.kernels import paired as kernel


def played(rows: list[list[float]], items: int | None = None, delta: float = 0.05) -> tuple[int, int]:
    """What is declared, and after how many rounds."""
    design, K = Rounds(items), len(rows[0])
    params, (pairs, arms) = design.parameters(K, delta), design.blank(K)
    for n, row in enumerate(rows, 1):
        values = np.array(row)
        found = kernel.play_round(params, values, values, pairs, arms)
        if found != kernel.GO_ON:
            return found, n
    return kernel.GO_ON, len(rows)


def test_always_one_against_always_zero_takes_seven_rounds() -> None:
    """Seven rounds at δ = 0.05 and ten at 0.01 are the least: a round gives at most log 2."""
    assert played([[1.0, 0.0]] * 20) == (0, 7)
    assert played([[0.0, 1.0]] * 20, delta=0.01) == (1, 10)


def test_ties_are_no_evidence() -> None:
    """Equal values leave every statistic where it was."""
    assert played([[1.0, 1.0], [0.0, 0.0], [0.5, 0.5]] * 200) == (kernel.GO_ON, 600)


def test_a_used_up_set_names_the_larger_sum() -> None:
    """Three items are no evidence, but all there is."""
    assert played([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]], items=3) == (0, 3)


def test_a_lead_beyond_the_items_left_is_certain() -> None:
    """Two ahead with one item left; but one ahead with one left is not certain, as it may end in a tie."""
    assert played([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]], items=3) == (0, 2)
    assert played([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], items=3) == (0, 3)


def test_orders_follow_from_the_key_alone() -> None:
    """A permutation, other keys give others, and it never changes: experiments in stores rest on it."""
    assert sorted(shuffled(1000, "items", 7)) == list(range(1000))
    assert shuffled(8, "items", 7).tolist() == shuffled(8, "items", 7).tolist()
    assert shuffled(100, "items", 7).tolist() != shuffled(100, "items", 8).tolist()
    assert shuffled(10, "items", 7).tolist() == [1, 4, 8, 3, 2, 9, 6, 7, 5, 0]


@pytest.mark.parametrize("items", [None, 60])
def test_the_bound_never_hides_a_decision(items: int | None) -> None:
    """Where HOPE says that an arm cannot be out, its evidence is below the level: real values and 0/1."""
    rng = np.random.default_rng(3)
    for run in range(20):
        design = Rounds(items)
        params, (pairs, arms) = design.parameters(4, 0.2), design.blank(4)
        for _ in range(60):
            row = rng.random(4) if run % 2 else (rng.random(4) < [0.9, 0.5, 0.5, 0.3]).astype(float)
            kernel.take_round(params, row, row, pairs, arms)
            for i in range(4):
                if arms[kernel.OUT_AFTER, i] == 0.0:
                    known = kernel.evidence(params, pairs, arms, i)
                    assert arms[kernel.HOPE, i] >= known - 1e-9 or math.isinf(arms[kernel.HOPE, i])
            kernel.rule_out(params, pairs, arms)
            if kernel.declared(params, pairs, arms) != kernel.GO_ON:
                break
