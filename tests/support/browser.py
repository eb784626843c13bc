"""A page in headless Chromium: what it says on the console, what it asks the network for, how it looks."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .system import require

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name leads anywhere: nothing leaves this machine
    "--enable-logging=stderr",
)


@dataclass(frozen=True)
class Visit:
    """What happened.

    console     messages, errors among them
    requests    addresses that the page asked the network for, whether they were found or not
    screenshot  a PNG
    """

    console: list[str]
    requests: list[str]
    screenshot: Path


def visit(page: Path, folder: Path, height: int = 5200) -> Visit:
    """Open a file and wait until it is loaded; `folder` takes the profile, the logs and the picture."""
    log, picture = folder / "network.json", folder / "screenshot.png"
    run = subprocess.run(
        [
            require("chromium")["chromium"],
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={log}",
            f"--window-size=1200,{height}",
            f"--screenshot={picture}",
            page.resolve().as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    console = re.findall(r'CONSOLE[:(].*?\] "(.*)", source', run.stderr)
    return Visit(console, _requests(log), picture)


def _requests(log: Path) -> list[str]:
    """What the page asked for: the browser asks for things of its own, without an origin."""
    found = json.loads(log.read_text())
    kind = found["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [event.get("params", {}) for event in found["events"] if event["type"] == kind]
    return [one["url"] for one in asked if one.get("initiator", "not an origin") != "not an origin"]
