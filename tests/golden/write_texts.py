"""What people are told of each experiment that version 0.2 stored: every text, line by line.

    python tests/golden/write_texts.py

writes `texts.json`, which `test_texts.py` compares with what is said now. A change that is meant to change no
word leaves the file as it is; where words change, its difference is what there is to review.
"""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from truebest import Experiment
from truebest.cli import main as command
from truebest.running.frame import Frame

HERE = Path(__file__).parent
STORED = HERE / "version_0_2" / "experiments.db"
FILE = HERE / "texts.json"
COMMANDS = {
    "status": ["status"],
    "csv": ["status", "--format", "csv"],
    "forecast": ["forecast"],
    "verify": ["verify"],
}
ENDS = re.compile(r"</(?:h1|h2|p|tr|li|dd|dt|figcaption|summary|table)>|</div></div>")


def printed(words: list[str]) -> list[str]:
    """What a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        command(words)
    return out.getvalue().splitlines()


def read(page: str) -> list[str]:
    """The words of a report, without the log."""
    body = page.partition("<body>")[2].partition("<h2>What happened</h2>")[0]
    lines = re.sub(r"<[^>]+>", " ", ENDS.sub("\n", body)).splitlines()
    return [text for line in lines if (text := " ".join(html.unescape(line).split()))]


def texts(url: str, name: str) -> dict[str, list[str]]:
    """All of one experiment."""
    found = {what: printed([*words, name, "--store", url]) for what, words in COMMANDS.items()}
    with Experiment.open(url, name) as experiment:
        now: Any = experiment.status()
        found |= {
            "sentence": [now.sentence],
            "caveats": [f"{one.code} {one.effect}: {one.sentence}" for one in now.promise.caveats],
            "markdown": now.to_markdown().splitlines(),
            "view": Frame(now, experiment.forecast(), 0.0).text(100).splitlines(),
            "report": read(experiment.report()),
        }
    return {what: [line.rstrip() for line in lines] for what, lines in sorted(found.items())}


def copied(folder: Path) -> str:
    """The stored experiments, where nothing can happen to them."""
    shutil.copy(STORED, folder / "runs.db")
    return f"sqlite:///{folder / 'runs.db'}"


def stored() -> list[str]:
    """The names of all of them."""
    return list(json.loads((STORED.parent / "experiments.json").read_text()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        url = copied(Path(place))
        said = {name: texts(url, name) for name in stored()}
    FILE.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(f"{FILE}: {len(said)} experiments\n")
