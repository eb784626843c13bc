"""A process that outlives the command line which started it, and kills what that one can no longer end.

Run as a file, alone and with nothing else of truebest loaded. Its input has lines: `+123` when the process
group 123 was started, `-123` when it has ended. The input ends when the other process does, however it
does; then the groups that are left are killed.
"""

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Read to the end, then kill."""
    running: set[int] = set()
    for line in sys.stdin:
        change = running.add if line.startswith("+") else running.discard
        change(int(line[1:]))
    for group in running:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
