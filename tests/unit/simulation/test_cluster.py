"""`cluster=`: a real Dask cluster of two processes on this machine, one of which is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import truebest
from support.refusals import refused_in_one_sentence
from truebest.cli import main

START = """
import os, signal, sys, time
import numba, numpy as np, truebest
from truebest.kernels.api import uniform
from dask.distributed import Client, LocalCluster

@numba.njit
def half(random):
    return uniform(random) < 0.5

@truebest.strategy(rows=("turn",))
def mine(pulls, leader, memory, random):
    memory[0, 0] += 1.0
    return leader if half(random) else int(memory[0, 0]) % pulls.size

def run(strategies=("tas-d", "racing", mine), runs=2000, **options):
    return truebest.simulate(list(strategies), (0.6, 0.5, 0.45), [0.3, 0.1], runs=runs, seed=3, **options)

def same(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.samples.tolist() == b.samples.tolist(), a.strategy
        assert a.recommended.tolist() == b.recommended.tolist()
        assert a.mean_pulls.tolist() == b.mean_pulls.tolist()
        assert b.complete

def pids(client):
    return list(client.run(os.getpid).values())
"""

KILLED = """
def main():
    here = run()
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        with Client(local) as client:
            same(here, run(cluster=client))
            same(here, run(cluster=client.scheduler.address))
            killed = []
            def kill(done, total):
                if not killed:
                    killed.append(pids(client)[0])
                    os.kill(killed[0], signal.SIGKILL)
            same(here, run(cluster=client, progress=kill))
            assert killed and killed[0] not in pids(client)
            try:
                truebest.simulate(bad, (1.0, 0.0), 0.1, runs=3, cluster=client)
            except truebest.InvalidInputError as error:
                assert "returned 7" in str(error), error
            calls = []
            def stop(done, total):
                if done >= 2_000 and not calls:
                    calls.append(done)
                    os.kill(os.getpid(), signal.SIGINT)
            found = run(["tas-d"], runs=100_000, cluster=client, progress=stop)
            assert not found.complete and found.cells[0].runs < 100_000  # perhaps 0: parts end in any order
            kept = found.cells[0].samples.tolist()
            short = run(["tas-d"], runs=max(len(kept), 1))
            assert short.cells[0].samples.tolist()[: len(kept)] == kept
            identified(client)
    print("done")

@truebest.strategy
def bad(t):
    return 0 if t < 4 else 7

def draw(mean, rng):
    return float(rng.normal(mean))

def identified(client):
    import functools
    arms = {name: functools.partial(draw, mean) for name, mean in (("a", 2.0), ("b", 0.0))}
    found = truebest.identify(arms, 0.1, sigma=1.0, max_samples=1000, workers=client.get_executor())
    assert found.best == "a", found

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
def test_a_cluster_does_the_same_runs_and_survives_a_killed_worker(tmp_path: Path) -> None:
    """By client and by address, with a strategy of one's own; killed in the middle; Ctrl-C; a bad action."""
    file = tmp_path / "program.py"  # processes that are spawned read it again
    file.write_text(START + KILLED)
    done = subprocess.run([sys.executable, os.fspath(file)], capture_output=True, text=True, timeout=400)
    assert done.stdout.endswith("done\n"), done.stderr[-4000:]


LOST = """
import subprocess, warnings
from distributed.worker import Status
from truebest.simulation import cluster

SCHEDULER = '''
from distributed import LocalCluster
here = dict(processes=False, protocol="tcp://", dashboard_address=None)
with LocalCluster(n_workers=1, threads_per_worker=1, **here) as local:
    print(local.scheduler_address, flush=True)
    input()
'''

def pause(dask_worker, status):
    dask_worker.status = Status[status]

def main():
    cluster.PATIENCE = 1.0
    with LocalCluster(n_workers=1, threads_per_worker=1, memory_limit=0, dashboard_address=None) as local:
        with Client(local) as client, warnings.catch_warnings():
            warnings.simplefilter("always")
            said = []
            def resume(message, *rest):
                said.append(str(message))
                client.run(pause, status="running")
            warnings.showwarning = resume
            client.run(pause, status="paused")
            same(run(["tas-d"], runs=10), run(["tas-d"], runs=10, cluster=client))
            assert [words for words in said if "1 of 1 workers are paused" in words], said
    other = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with Client(other.stdout.readline().strip(), set_as_default=False) as client:
        def kill(done, total):
            if done >= 2_000:
                other.kill()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = run(["tas-d", "uniform"], runs=100_000, cluster=client, progress=kill)
        assert [one for one in said if "the cluster was lost" in str(one.message)], [*map(str, said)]
    assert not found.complete
    kept = [cell.runs for cell in found]
    assert 0 < max(kept) and min(kept) < 100_000, kept
    more = max(kept) + 5
    same(run(["tas-d", "uniform"], runs=more), run(["tas-d", "uniform"], runs=5, more=found))
    print("done")

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
def test_a_lost_scheduler_costs_no_finished_run_and_a_paused_worker_is_said(tmp_path: Path) -> None:
    """The longest prefix is kept, a warning says why, and `more=` makes all cells of equal length."""
    file = tmp_path / "program.py"
    file.write_text(START + LOST)
    done = subprocess.run([sys.executable, os.fspath(file)], capture_output=True, text=True, timeout=400)
    assert done.stdout.endswith("done\n"), done.stderr[-4000:]


def test_bad_clusters_are_sentences() -> None:
    """No client, nobody there, and a GPU at the same time."""

    def call(**options: object) -> object:
        return truebest.simulate("tas-d", (0.9, 0.1), 0.1, runs=3, **options)  # type: ignore[arg-type]

    refused_in_one_sentence("cluster must be a dask.distributed.Client", lambda: call(cluster=3))
    refused_in_one_sentence("got both", lambda: call(cluster="tcp://127.0.0.1:9", device="cuda"))
    for address in ("nonsense://x", "nowhere", "tcp://127.0.0.1:1", "tls://127.0.0.1:1"):
        refused_in_one_sentence("where none answers", lambda address=address: call(cluster=address))  # type: ignore[misc]


def test_an_address_without_a_password_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    """By the command, too, which hides what may be one: the whole sentence, with what to do."""
    words = ["simulate", "--means", "2,0", "--strategy", "uniform", "--runs", "3", "--cluster"]
    for address, said in (("tcp://127.0.0.1:1", "correct the address"), ("tcp://me:secret@x:1", "***")):
        assert main([*words, address]) == 2
        shown = capsys.readouterr().err
        assert said in shown
        assert "secret" not in shown


def good(rng: np.random.Generator) -> float:
    """An arm that answers."""
    return float(rng.normal(2.0))


def dies(rng: np.random.Generator) -> float:
    """An arm that takes its process along."""
    os._exit(3)


def test_an_executor_that_is_shut_down_is_refused() -> None:
    """In one sentence."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    given = {"sigma": 1.0, "max_samples": 20, "workers": pool}
    refused_in_one_sentence(
        "takes work",
        lambda: truebest.identify({"a": good, "b": good}, 0.1, **given),  # type: ignore[arg-type]
    )


def test_a_process_that_dies_is_an_arm_that_failed() -> None:
    """Live, with a pool of processes: one sentence, no hanging."""
    with ProcessPoolExecutor(1) as pool, pytest.raises(truebest.ArmError, match="BrokenProcessPool"):
        truebest.identify({"a": good, "b": dies}, 0.1, sigma=1.0, max_samples=100, workers=pool)
