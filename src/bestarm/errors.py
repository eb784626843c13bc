"""Everything bestarm raises on purpose.

BestarmError                    the root: catch this to catch all of them
└── InvalidInputError           what was given is not allowed (also a ValueError)
"""


class BestarmError(Exception):
    """Root of every exception that bestarm raises on purpose."""


class InvalidInputError(BestarmError, ValueError):
    """An argument is not allowed; the message says what was given, what is allowed, what to do."""
