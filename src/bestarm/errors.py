"""Everything bestarm raises on purpose.

BestarmError                    the root: catch this to catch all of them
├── InvalidInputError           what was given is not allowed (also a ValueError)
├── StoreError                  a store cannot be read or written; nothing is lost, the call may be repeated
├── SuspendedError              a value violated the bounds, so the experiment asks for nothing more
└── ArmError                    an arm failed, and the experiment was told to stop then
"""


class BestarmError(Exception):
    """Root of every exception that bestarm raises on purpose."""


class InvalidInputError(BestarmError, ValueError):
    """An argument is not allowed; the message says what was given, what is allowed, what to do."""


class StoreError(BestarmError):
    """A store cannot be opened, read or written; what was acknowledged before is still there."""


class SuspendedError(BestarmError):
    """A value lay outside the bounds; the promise does not hold until that is cleared up."""


class ArmError(BestarmError):
    """An arm failed to give a value."""
