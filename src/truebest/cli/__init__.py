"""The `truebest` command: one file per command, data on stdout, remarks on stderr.

`CODES` is the one list of exit codes; help and guide show it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

DONE, FAILURE, BAD_INPUT, UNDECIDED, OVER, OTHER, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
CODES = {
    DONE: "done (ask: there are pulls)",
    FAILURE: "failure, or the experiment is suspended",
    BAD_INPUT: "bad input",
    UNDECIDED: "undecided (ask: wait, then ask again)",
    OVER: "ask: nothing more to ask, as the experiment is decided or was stopped",
    OTHER: "an option has failed; or --expect: another one is the best, or none",
    INTERRUPTED: "interrupted by Ctrl-C, or by the loss of a cluster (129, 143: by SIGHUP, SIGTERM)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error is one line on stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        if sys.stdout is None:
            return _say("standard output is closed, so nothing can be printed; open it.", FAILURE)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a terminal without the sign ± is not a failure
        from ..experiment.waiting import told
        from ._app import app_for

        with told(say):
            code = app_for(words)(words, prog_name="truebest", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            raise KeyboardInterrupt  # the parser swallowed it
        return code if isinstance(code, int) else DONE
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except SystemExit as ended:
        if isinstance(ended.code, int) and ended.code > 128:
            with suppress(OSError, ValueError):  # the terminal may be gone
                say(f"ended by {signal.Signals(ended.code - 128).name}")
        raise
    except BrokenPipeError:
        forget_output()
        return FAILURE
    except Exception as error:
        from .._text import without_passwords

        try:
            sys.stdout.flush()
        except OSError:  # Python would try again at its end, and make it code 120
            forget_output()
        given = _but_for_the_store(words)
        if debug:
            import traceback

            print(without_passwords(traceback.format_exc(), given), file=sys.stderr)
        message, advice, code = _explain(error)
        return _say(without_passwords(message, given) + advice, code) if message else code


def forget_output() -> None:
    """Nobody reads any more: what is still buffered has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _but_for_the_store(words: Sequence[str]) -> list[str]:
    """The words without what was given as the store, which no message quotes if it may hold a password."""
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if before != "--store" and not word.startswith("--store=")
    ]


def _explain(error: Exception) -> tuple[str, str, int]:
    """One line for stderr: what is wrong and what to do; and the exit code that fits."""
    from ..errors import InvalidInputError, TruebestError

    if hasattr(error, "format_message"):  # the parser's own complaint
        text = error.format_message().strip().rstrip(".")
        text = text.replace("Value error, ", "")  # what the types below it begin with
        join = " See" if text.endswith("?") else "; see"
        where = getattr(getattr(error, "ctx", None), "command_path", "truebest")
        return text, f"{join} '{where} --help'.", BAD_INPUT
    if isinstance(error, InvalidInputError):
        return str(error), "", BAD_INPUT
    if isinstance(error, TruebestError | OSError):
        return str(error), "", FAILURE
    kind = type(error).__name__
    return f"unexpected {kind}: {error}", " (please report it; --debug shows where)", FAILURE


def _say(message: str, code: int) -> int:
    say(message)
    return code


def say(message: str) -> None:
    """One line on stderr, without control characters."""
    from .._text import harmless

    if sys.stderr is not None:
        print("truebest: " + harmless(" ".join(message.split()), strict=True), file=sys.stderr, flush=True)
