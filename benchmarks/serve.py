"""`truebest serve` under load: clients that ask and tell, viewers that watch, a server killed in the middle.

    python -m benchmarks.serve [--clients 64] [--viewers 50] [--seconds 60] [--batch 10] [--store URL]

All clients work on one experiment, over loopback. The server is killed (SIGKILL) in the middle and started
again. A client whose connection breaks tells again what was not acknowledged, and takes back what it may have
asked for. At the end the log is compared with what was acknowledged: none lost, none doubled.
Before them one worker asks, tells and looks, one call after another: many clients hide what a call takes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOKEN = "the-token-of-the-benchmark"
NAME, ALONE = "load", "alone"


@dataclass
class Tally:
    """What clients and viewers saw.

    acknowledged  pull -> value, as the server confirmed it
    outcomes      how often a tell was told, repeated or late
    lags          seconds from a line of the log to the screen, one for each message
    """

    acknowledged: dict[int, float] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    lags: list[float] = field(default_factory=list)
    broken: int = 0
    requests: int = 0
    problems: list[str] = field(default_factory=list)


class Connection:
    """A connection that is kept; requests one after another."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the JSON of an answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        found = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        text = await reader.readexactly(int(found.group(1))) if found else b""
        return int(head.split(" ", 2)[1]), json.loads(text) if text else None

    def drop(self) -> None:
        """Forget the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


def value_of(pull: int) -> float:
    """Another one for every pull, so that no value can be taken for another's."""
    return (pull * 0.6180339887498949) % 1.0


async def insist(connection: Connection, tally: Tally, verb: str, body: dict[str, Any]) -> Any:
    """Send a request until it is answered; None if the connection broke after it was sent."""
    try:
        tally.requests += 1
        status, answer = await connection.send("POST", f"/v1/{verb}", {"experiment": NAME, **body})
    except (OSError, asyncio.IncompleteReadError):
        connection.drop()
        tally.broken += 1
        await asyncio.sleep(0.2)
        return None
    if status != 200:
        tally.problems.append(f"{verb}: {answer}")
        await asyncio.sleep(0.2)
        return None
    return answer


async def client(number: int, port: int, batch: int, end: float, tally: Tally) -> None:
    """Ask and tell until the time is over."""
    connection, worker = Connection(port), f"client-{number}"
    while time.monotonic() < end:
        asked = await insist(connection, tally, "ask", {"n": batch, "worker": worker})
        if asked is None:  # it may have been carried out
            await insist(connection, tally, "reclaim", {})
            continue
        results = [{"pull": pull["id"], "value": value_of(pull["id"])} for pull in asked["pulls"]]
        told = None
        while results and told is None:
            told = await insist(connection, tally, "tell", {"results": results})
        for one in told["outcomes"] if told else []:
            tally.outcomes[one["outcome"]] = tally.outcomes.get(one["outcome"], 0) + 1
            tally.acknowledged[one["pull"]] = value_of(one["pull"])
    connection.drop()


async def viewer(port: int, end: float, tally: Tally) -> None:
    """Watch, and note how old the last line of each message is."""
    while time.monotonic() < end:
        writer = None
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
            writer.write(
                f"GET /v1/live?experiment={NAME} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
            )
            fresh = False
            while time.monotonic() < end:
                line = await asyncio.wait_for(reader.readline(), max(0.1, end - time.monotonic()))
                if not line:
                    break
                if line.startswith(b"event: "):
                    fresh = line == b"event: more\n"
                elif line.startswith(b"data: ") and fresh:
                    times = re.findall(rb'"time": ([0-9.]+)', line[-4000:])
                    if times:
                        tally.lags.append(time.time() - float(times[-1]))
        except (TimeoutError, OSError):
            pass
        finally:
            if writer is not None:
                writer.close()
        await asyncio.sleep(0.2)


def start(store: str, port: int) -> tuple[subprocess.Popen[str], int]:
    """A server, and its port."""
    words = ["serve", "--store", store, "--port", str(port), "--rate", "1000000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "truebest", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRUEBEST_TOKEN": TOKEN, "TRUEBEST_JIT": "1"},
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    found = re.search(r":(\d+);", said)
    if found is None:
        sys.exit(said + process.stderr.read())
    return process, int(found.group(1))


async def alone(connection: Connection, calls: int = 200) -> None:
    """One worker on a kept connection, one call after another: what a call takes on an idle server."""
    taken: dict[str, list[float]] = {"ask": [], "tell": [], "look": []}

    async def timed(kind: str, method: str, path: str, body: Any = None) -> Any:
        begun = time.perf_counter()
        status, answer = await connection.send(method, path, body)
        taken[kind].append(time.perf_counter() - begun)
        assert status == 200, answer
        return answer

    for _ in range(calls):
        asked = await timed("ask", "POST", "/v1/ask", {"experiment": ALONE, "n": 1, "worker": "alone"})
        results = [{"pull": one["id"], "value": value_of(one["id"])} for one in asked["pulls"]]
        await timed("tell", "POST", "/v1/tell", {"experiment": ALONE, "results": results})
        await timed("look", "GET", f"/v1/settings?experiment={ALONE}")
    shown = ", ".join(f"{kind} {1000 * statistics.median(some):.1f} ms" for kind, some in taken.items())
    print(f"serve: one worker, one call after another (median): {shown}")


async def load(options: argparse.Namespace, store: str) -> tuple[Tally, float]:
    """Run everything; what was seen, and how long the server was away."""
    process, port = start(store, 0)
    setup = Connection(port)
    body = {"arms": ["a", "b", "c", "d", "e"], "bounds": [0, 1], "delta": 1e-9}
    for name in (ALONE, NAME):
        status, answer = await setup.send("POST", "/v1/create", {"experiment": name, **body})
        assert status == 200, answer
    status, _ = await setup.send("POST", "/v1/ask", {"experiment": NAME, "n": 1, "worker": "first"})
    await setup.send("POST", "/v1/reclaim", {"experiment": NAME})
    await setup.send("GET", f"/v1/forecast?experiment={NAME}")
    await alone(setup)
    setup.drop()
    tally, end = Tally(), time.monotonic() + options.seconds
    tasks = [client(i, port, options.batch, end, tally) for i in range(options.clients)]
    tasks += [viewer(port, end, tally) for _ in range(options.viewers)]
    running = asyncio.gather(*tasks)
    await asyncio.sleep(options.seconds / 2)
    away = time.monotonic()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process, _ = await asyncio.to_thread(start, store, port)
    away = time.monotonic() - away
    await running
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0, "a clean end"
    return tally, away


def compare(store: str, tally: Tally) -> list[str]:
    """What is wrong with the log, if anything is."""
    from truebest import Experiment

    experiment = Experiment.open(store, NAME)
    told: dict[int, list[float]] = {}
    for event in experiment.events():
        if event.kind == "told" and event.pull is not None and event.value is not None:
            told.setdefault(event.pull, []).append(event.value)
    wrong = [f"{len(values)} values of pull {pull}" for pull, values in told.items() if len(values) > 1]
    lost = [pull for pull, value in tally.acknowledged.items() if told.get(pull) != [value]]
    wrong += [f"lost or changed: {len(lost)} values, such as that of pull {lost[0]}"] if lost else []
    wrong += [] if (found := experiment.verify()).sound else [str(found)]
    extra = len(told.keys() - tally.acknowledged.keys())
    print(f"  in the log {len(told)} values, of which {extra} were stored and not acknowledged in time")
    return wrong


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, usual in (("clients", 64), ("viewers", 50), ("seconds", 60), ("batch", 10)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--store", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or f"sqlite:///{Path(folder) / 'runs.db'}"
        tally, away = asyncio.run(load(options, store))
        up = options.seconds - away
        print(f"serve: {options.clients} clients, {options.viewers} viewers, batches of {options.batch}")
        values = len(tally.acknowledged)
        print(f"  {values} values acknowledged in {up:.0f} s: {values / up:.0f} a second")
        print(f"  killed once, away for {away:.1f} s; {tally.broken} connections broke; {tally.outcomes}")
        if len(tally.lags) > 2:
            middle, late = statistics.median(tally.lags), statistics.quantiles(tally.lags, n=100)[98]
            print(f"  {len(tally.lags)} messages on screen after {middle:.2f} s (median), {late:.2f} s (99%)")
        wrong = compare(store, tally) + sorted(set(tally.problems))[:5]
    print("  none lost, none doubled" if not wrong else "  WRONG: " + "; ".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
