"""Long work in parts: each is written down when finished, and an interrupted call goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__
from ..simulation.results import write_whole

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
    on_part  called with the number of parts done and that of all
    """

    file: Path | None = None
    on_part: Callable[[int, int], None] | None = None

    def make(
        self, settings: Mapping[str, object], parts: Mapping[str, Callable[[], Part]]
    ) -> dict[str, Part]:
        """All parts by name, in order; those in the file are not made again if settings and source agree.

        A part is made of plain values: text, numbers, lists. Numbers come back from the file bit for bit.
        """
        heading = {"version": __version__, "source": _source(), **settings}
        kept = self._read(heading)
        made: dict[str, Part] = {}
        for name, make in parts.items():
            made[name] = kept[name] if name in kept else make()
            if self.file is not None and name not in kept:
                text = json.dumps({"settings": heading, "finished": {**kept, **made}}, indent=1)
                write_whole(self.file, text + "\n")
            if self.on_part is not None:
                self.on_part(len(made), len(parts))
        return made

    def _read(self, heading: dict[str, object]) -> dict[str, Part]:
        """The parts that an earlier call with the same heading left behind; none if the file is damaged."""
        try:
            found = json.loads(self.file.read_text()) if self.file is not None else {}
            return dict(found["finished"]) if found["settings"] == heading else {}
        except (ValueError, KeyError, TypeError, OSError):
            return {}
