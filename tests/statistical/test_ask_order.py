"""Why the decision is taken in ask order: results that come back faster when they are good."""

from __future__ import annotations

from benchmarks.error_rates import latency

from support.amounts import amount, once_more

pytestmark = once_more
RUNS, MOST = amount(30, 60), 600


def test_in_ask_order_latency_is_harmless() -> None:
    """At most 15% of the runs on two identical arms, one with slow zeros, declare one of them the best.

    Each of the two is declared with probability at most 0.05, and then one of both in 10%. About one run in a
    hundred stops, and then 10 or more of 60 have a probability below 1e-9, and 5 or more of 30 one below
    2e-5. The seeds are fixed; seen: 0.
    """
    assert latency("ask", RUNS, most=MOST) <= 0.15


def test_in_order_of_arrival_it_is_not() -> None:
    """The negative control: the same runs, decided as results arrive, declare a winner in most cases."""
    assert latency("arrival", RUNS, most=MOST) >= 0.5
