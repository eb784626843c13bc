"""A page in headless Chromium that can be driven: open, type, click, look, over its debugging pipe.

The DevTools protocol over two pipes (--remote-debugging-pipe): messages are JSON, each ended by a zero byte.
No package is needed for it, only Debian's chromium.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .browser import FLAGS
from .system import require

PATIENCE = 60.0


class Tab:
    """One page, with everything that it said on its console and asked the network for.

    problems  errors and warnings on the console, uncaught exceptions, what the policy refused
    requests  addresses that it asked for, with their status once answered
    """

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._text = write, read, b""
        self._number, self._session = 0, ""
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.statuses: dict[str, int] = {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol, and its result."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            found = self._next(end - time.monotonic())
            assert found is not None, f"no answer to {method}"
            if found.get("id") == number:
                assert "error" not in found, (method, found["error"])
                return found["result"]

    def _next(self, seconds: float) -> dict[str, Any] | None:
        """The next message, None if there is none in time; what it says of the page is kept."""
        while b"\0" not in self._text:
            if seconds <= 0 or not select.select([self._read], [], [], seconds)[0]:
                return None
            self._text += os.read(self._read, 1 << 20)
        line, _, self._text = self._text.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, kind: str, said: dict[str, Any]) -> None:
        if kind == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(said["exceptionDetails"]))
        elif kind == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(said["args"]))
        elif kind == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")
        elif kind == "Audits.issueAdded" and said["issue"]["code"] == "ContentSecurityPolicyIssue":
            self.problems.append(json.dumps(said["issue"]))
        elif kind == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif kind == "Network.responseReceived":
            self.statuses[said["response"]["url"]] = said["response"]["status"]

    def open(self, url: str) -> None:
        """Go to an address."""
        self.call("Page.navigate", url=url)

    def run(self, code: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, code: str, seconds: float = PATIENCE) -> None:
        """Wait for an expression to be true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(f"Boolean({code})"):
                return
            self._next(0.05)
        raise AssertionError(f"not in {seconds:g} s: {code}; the page says {self.text()!r}, {self.problems}")

    def text(self) -> str:
        """What the page says."""
        return str(self.run("document.body.innerText"))

    def press(self, key: str) -> None:
        """A key on the keyboard."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **(text if kind == "keyDown" else {}))

    def click(self, selector: str) -> None:
        """Click on the first such element."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def size(self, width: int, height: int, dark: bool = False) -> None:
        """How large the window is, and whether the system is dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path, whole: bool = True) -> Path:
        """A PNG of what is to be seen, or of the whole page."""
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(got["data"]))
        return file

    def download_to(self, folder: Path) -> None:
        """Where files are saved."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    """A page in a new browser; `folder` takes its profile."""
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()

    def connect() -> None:
        high = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (to_browser, to_us)]  # not 3 or 4 themselves
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    flags = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    flags = [flag for flag in flags if not flag.startswith("--host-resolver-rules")]
    flags.append("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    process = subprocess.Popen(
        [require("chromium")["chromium"], *flags],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=connect,
    )
    os.close(to_browser)
    os.close(to_us)
    try:
        yield Tab(from_us, from_browser)
    finally:
        process.terminate()
        process.wait(600)
        os.close(from_us)
        os.close(from_browser)
