"""The contract tests of bestarm, for a strategy of your own.

    from bestarm.testing import check_strategy

    print(check_strategy(mine))       # what was checked, or a ContractError that says what is wrong

`check_strategy` runs the demands that every strategy of bestarm meets. It needs no test runner; in one, a
call is a test, and `only=` with `STRATEGY_DEMANDS` makes every demand a test of its own.

demands     a demand, the report, and how a broken one is told
strategies  what is demanded of a strategy
cases       what it is tried on
"""

from __future__ import annotations

from ..errors import ContractError
from .demands import Check, Report
from .strategies import STRATEGY_DEMANDS, check_strategy

__all__ = ["STRATEGY_DEMANDS", "Check", "ContractError", "Report", "check_strategy"]
