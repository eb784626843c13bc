"""Long work in parts: each is recorded when finished, and an interrupted call resumes from there."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__
from .._files import write_whole

Part = dict[str, Any]


@cache
def _source() -> str:
    """A hash of the package: what other code has made is not taken over."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Ledger:
    """Where finished parts are written down, and who is told.

    file     JSON with the settings and the finished parts by name; None keeps nothing
    on_part  called after every part that was made, and at the end if none was: with the number of parts done,
             that of all, and how many of those done were taken over
    pause    seconds between two writings of the file at least, for parts that take less; it is always written
             at the end, and when a part is interrupted
    """

    file: Path | None = None
    on_part: Callable[[int, int, int], None] | None = None
    pause: float = 0.0

    def make(
        self, settings: Mapping[str, object], parts: Mapping[str, Callable[[], Part]]
    ) -> dict[str, Part]:
        """All parts by name, in order; those in the file are not made again if settings and source agree.

        A part is made of plain values: text, numbers, lists. Numbers come back from the file bit for bit.
        """
        return dict(self.each(settings, parts))

    def each(
        self, settings: Mapping[str, object], parts: Mapping[str, Callable[[], Part]]
    ) -> Iterator[tuple[str, Part]]:
        """The same one by one, as soon as each is there; the file keeps other parts that it had."""
        heading = {"version": __version__, "source": _source(), **settings}
        finished = self._read(heading)
        kept = done = sum(name in finished for name in parts)
        written = time.monotonic()
        unwritten = False

        def write() -> None:
            in_order = {name: finished[name] for name in parts if name in finished}
            self._write(heading, in_order | finished)

        try:
            for name, make in parts.items():
                if name not in finished:
                    finished[name], done, unwritten = make(), done + 1, True
                    if time.monotonic() - written >= self.pause:
                        write()
                        written, unwritten = time.monotonic(), False
                    self._tell(done, len(parts), kept)
                yield name, finished[name]
        finally:
            if unwritten:
                write()
        if kept == len(parts):
            self._tell(kept, len(parts), kept)

    def _tell(self, done: int, total: int, kept: int) -> None:
        if self.on_part is not None:
            self.on_part(done, total, kept)

    def _write(self, heading: dict[str, object], done: dict[str, Part]) -> None:
        if self.file is not None:
            write_whole(self.file, json.dumps({"settings": heading, "finished": done}, indent=1) + "\n")

    def _read(self, heading: dict[str, object]) -> dict[str, Part]:
        """The parts that an earlier call with the same heading left behind; none if the file is damaged."""
        try:
            found = json.loads(self.file.read_text()) if self.file is not None else {}
            return dict(found["finished"]) if found["settings"] == heading else {}
        except (ValueError, KeyError, TypeError, OSError):
            return {}
