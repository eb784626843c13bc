"""The contract tests of truebest, for strategies and stores of your own.

    from truebest.testing import check_strategy

    print(check_strategy(mine))       # what was checked, or a ContractError that says what is wrong

`check_strategy` and `check_store` run the demands that every strategy and every store of truebest meets. They
need no test runner; in one, a call is a test, and `only=` with `STRATEGY_DEMANDS` or `STORE_DEMANDS` makes
every demand a test of its own.
"""

from __future__ import annotations

from ..errors import ContractError
from .demands import Check, Report
from .stores import STORE_DEMANDS, check_store
from .strategies import STRATEGY_DEMANDS, check_strategy

__all__ = [
    "STORE_DEMANDS",
    "STRATEGY_DEMANDS",
    "Check",
    "ContractError",
    "Report",
    "check_store",
    "check_strategy",
]
