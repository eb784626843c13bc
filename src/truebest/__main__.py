"""The command `truebest`, which is also `python -m truebest`.

Nothing is loaded here before Ctrl-C can be handled: it is one line and code 130 as soon as Python runs this.
"""

import os
import sys


def main() -> int:
    """Run the command line; its exit code."""
    sys.unraisablehook = _again
    try:
        from .cli import main as run

        code = run()
    except KeyboardInterrupt:  # while the rest was loaded, or a second one while the first was reported
        os.write(2, b"truebest: interrupted\n")
        code = 130
    if code == 130:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End at once: what Python does at its end could be interrupted, too, and would print that."""
    try:
        sys.stdout.flush()
    finally:  # also without a stdout, or with one that nobody reads any more
        os._exit(code)


def _again(problem: "sys.UnraisableHookArgs") -> None:
    """Repeat an interrupt that was lost in a destructor or the like, where no exception can be raised."""
    if problem.exc_type is KeyboardInterrupt:
        import _thread
        import signal

        _thread.start_new_thread(signal.raise_signal, (signal.SIGINT,))
    else:
        sys.__unraisablehook__(problem)


if __name__ == "__main__":
    sys.exit(main())
