"""The `bestarm` command: one file per command, data on stdout, talk on stderr.

Exit codes of every command: 0 done, 1 failure, 2 bad input, 3 undecided, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

DONE, FAILURE, BAD_INPUT, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error is one line on stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    from ..errors import BestarmError, InvalidInputError
    from ._app import app

    try:
        code = app(words, prog_name="bestarm", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader went away. What is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except Exception as error:
        if debug:
            raise
        if hasattr(error, "format_message"):  # the parser's own complaint
            return _say(f"{error.format_message()} See 'bestarm --help'.", BAD_INPUT)
        if isinstance(error, InvalidInputError):
            return _say(str(error), BAD_INPUT)
        if isinstance(error, BestarmError | OSError):
            return _say(str(error), FAILURE)
        kind = type(error).__name__
        return _say(f"unexpected {kind}: {error} (please report it; --debug shows where)", FAILURE)


def _say(message: str, code: int) -> int:
    print("bestarm: " + " ".join(message.split()), file=sys.stderr)
    return code
