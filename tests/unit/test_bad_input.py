"""Every refusal is one sentence of the right kind: what was given, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import truebest

Floats = npt.NDArray[np.float64]
GOOD = [0.9, 0.8, 0.4]

BAD: list[tuple[str, Callable[[], object]]] = [
    ("at least two arms", lambda: truebest.optimal_weights([1.0])),
    ("at least two arms", lambda: truebest.optimal_weights([])),
    ("at least two arms", lambda: truebest.optimal_weights(3.0)),
    ("finite", lambda: truebest.optimal_weights([0.1, np.nan])),
    ("finite", lambda: truebest.optimal_weights([0.1, np.inf])),
    ("finite", lambda: truebest.optimal_weights([[0.1, 0.2], [0.1, -np.inf]])),
    ("real numbers", lambda: truebest.optimal_weights(["a", "b"])),
    ("real numbers", lambda: truebest.optimal_weights([1j, 2j])),
    ("real numbers", lambda: truebest.optimal_weights([[1.0, 2.0], [3.0]])),
    ("real numbers", lambda: truebest.optimal_weights([None, 1.0])),  # type: ignore[arg-type]
    ("real numbers", lambda: truebest.optimal_weights([10**400, 1])),
    ("1.8e308", lambda: truebest.optimal_weights([1.7e308, -1.7e308])),
    ("either means or gaps", lambda: truebest.optimal_weights()),
    ("either means or gaps", lambda: truebest.optimal_weights(GOOD, gaps=[0.0, 1.0])),
    ("at least 0", lambda: truebest.optimal_weights(gaps=[0.0, -0.1])),
    ("0 at the best arm", lambda: truebest.optimal_weights(gaps=[0.1, 0.2])),
    ("0 at the best arm", lambda: truebest.optimal_weights(gaps=[[0.0, 0.2], [0.1, 0.2]])),
    ("did you mean 'newton'", lambda: truebest.optimal_weights(GOOD, method="newtn")),
    ("strictly between 0 and 1", lambda: truebest.lower_bound(GOOD, 0.0)),
    ("strictly between 0 and 1", lambda: truebest.lower_bound(GOOD, 1.0)),
    ("strictly between 0 and 1", lambda: truebest.lower_bound(GOOD, -3)),
    ("one real number", lambda: truebest.lower_bound(GOOD, float("nan"))),
    ("one real number", lambda: truebest.lower_bound(GOOD, "low")),  # type: ignore[arg-type]
    ("lower <= upper", lambda: truebest.exploration_biased_weights([0.5, 0.1], [0.4, 0.2])),
    ("same shape", lambda: truebest.exploration_biased_weights([0.1, 0.1], [0.4, 0.2, 0.3])),
    ("finite", lambda: truebest.exploration_biased_weights([0.1, 0.1], [0.4, np.inf])),
    ("1.8e308", lambda: truebest.exploration_candidates([-1.7e308, 0.1], [0.0, 1.7e308])),
    ("must be one of", lambda: truebest.exploration_biased_weights([0.1, 0.2], [0.4, 0.3], method="x")),
    ("whole numbers from 0", lambda: truebest.glr([3, -1], [0.1, 0.2])),
    ("whole numbers from 0", lambda: truebest.glr([3, 1.5], [0.1, 0.2])),
    ("same shape", lambda: truebest.glr([3, 1, 2], [0.1, 0.2])),
    ("finite", lambda: truebest.glr([3, 1], [0.1, np.nan])),
    ("positive for at least one arm", lambda: truebest.glr([0, 0], [0.1, 0.2])),
    ("sigma must be positive", lambda: truebest.glr([3, 1], [0.1, 0.2], sigma=0.0)),
    ("sigma must be positive", lambda: truebest.glr([3, 1], [0.1, 0.2], sigma=np.inf)),
    ("sum to 1", lambda: truebest.evidence_rate(GOOD, [0.5, 0.5, 0.5])),
    ("sum to 1", lambda: truebest.evidence_rate(GOOD, [1.5, -0.5, 0.0])),
    ("same shape", lambda: truebest.evidence_rate(GOOD, [0.5, 0.5])),
    ("strictly between 0 and 1", lambda: truebest.confidence_width(10, 1.5, 5)),
    ("whole number of at least 1", lambda: truebest.confidence_width(10, 0.1, 0)),
    ("whole number of at least 1", lambda: truebest.confidence_width(10, 0.1, 2.5)),  # type: ignore[arg-type]
    ("whole numbers from 0", lambda: truebest.confidence_width([10, -1], 0.1, 2)),
    ("did you mean 'paper'", lambda: truebest.confidence_width(10, 0.1, 5, "papre")),
    ("did you mean 'mixture'", lambda: truebest.stopping_rule("mixtur")),
    ("must be one of", lambda: truebest.stopping_rule(7)),  # type: ignore[call-overload]
    ("c must be positive", lambda: truebest.Mixture(0.0)),
    ("alpha must be above 1", lambda: truebest.GK16(1.0)),
    ("strictly between 0 and 1", lambda: truebest.Practical().evaluate([3, 1], [0.1, 0.2], 2.0)),
    ("same shape", lambda: truebest.Mixture().evaluate([3, 1], [0.1, 0.2, 0.3], 0.1)),
    ("strictly between 0 and 1", lambda: truebest.Mixture().intervals([3, 1], [0.1, 0.2], 2.0)),
    ("time must be at least 1", lambda: truebest.Practical().threshold(0, 2, 0.1)),
    ("interval of length 1", lambda: truebest.non_asymptotic_bound([3.0, 1.0])),
    ("one best arm", lambda: truebest.non_asymptotic_bound([1.0, 1.0, 0.5])),
    ("no gap below 1e-30", lambda: truebest.non_asymptotic_bound([1e-170, 0.0])),
    ("at least 1e-30", lambda: truebest.non_asymptotic_bound([1.0, 0.5], eta=1e-300)),
    ("real numbers", lambda: truebest.optimal_weights(np.ma.masked_invalid([1.0, np.nan, 2.0]))),
    ("1.8e308", lambda: truebest.Mixture().intervals([5, 5], [-1e308, 1e308], 0.1)),
    ("whole numbers from 0", lambda: truebest.glr([1e308, 1e308], [1.0, 2.0])),
    ("sum to 1", lambda: truebest.evidence_rate([1.0, 2.0], [1e308, 1e308])),
    ("time must be whole", lambda: truebest.Practical().threshold(1.5, 3, 0.1)),
    ("eta must lie above 0", lambda: truebest.non_asymptotic_bound([1.0, 0.5], eta=0.0)),
    ("alpha must lie above 1", lambda: truebest.non_asymptotic_bound([1.0, 0.5], alpha=1.0)),
    ("log_inverse_delta must be positive", lambda: truebest.non_asymptotic_bound(GOOD).expectation(-1.0)),
    ("epsilon must lie in [0, 1/7]", lambda: truebest.regularity_bounds(0.5, version="printed")),
    ("epsilon must lie in [0, 1)", lambda: truebest.regularity_bounds(1.0)),
]


@pytest.mark.parametrize(("part", "call"), BAD, ids=[f"{i}-{part}" for i, (part, _) in enumerate(BAD)])
def test_bad_input_gets_one_sentence(part: str, call: Callable[[], object]) -> None:
    """A subclass of ValueError, one line, with advice behind a semicolon."""
    with pytest.raises(truebest.InvalidInputError) as caught:
        call()
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert part in message
    assert "\n" not in message
    assert ";" in message
    assert message[-1] in ".?"


any_floats = hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, max_side=5), elements=st.floats())


@given(any_floats)
def test_any_array_gives_clean_numbers_or_a_refusal(values: Floats) -> None:
    """Whatever the floats: no NaN, no warning (they are errors here), weights that sum to one."""
    try:
        found = truebest.optimal_weights(values)
    except truebest.InvalidInputError:
        return
    np.testing.assert_allclose(found.weights.sum(axis=-1), 1.0, rtol=1e-12)
    for field in vars(found).values():
        assert not np.isnan(field).any()
    for field in vars(truebest.complexity_bounds(values)).values():
        assert not np.isnan(field).any()
    biased = truebest.exploration_biased_weights(values, values)
    assert not np.isnan(biased.weights).any()


@given(any_floats, any_floats, st.floats())
def test_any_data_gives_clean_statistics_or_a_refusal(
    pulls: Floats,
    means: Floats,
    sigma: float,
) -> None:
    """The same for pulls, means and sigma."""
    with np.errstate(all="ignore"):
        pulls = np.abs(np.nan_to_num(pulls, nan=1.0, posinf=5.0, neginf=5.0)).round() % 1e6
    if pulls.shape != means.shape:
        means = np.broadcast_to(means.ravel()[0], pulls.shape)
    for rule in (truebest.Practical(), truebest.Mixture()):
        try:
            found = rule.evaluate(pulls, means, 0.1, sigma)
        except truebest.InvalidInputError:
            continue
        assert not np.isnan(found.statistic).any()
        assert np.isfinite(found.threshold).all()
        lower, upper = truebest.Mixture().intervals(pulls, means, 0.1, sigma)
        assert not np.isnan(lower).any()
        assert not np.isnan(upper).any()
