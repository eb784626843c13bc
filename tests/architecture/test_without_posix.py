"""The library, its stores, the service and simulations need nothing that Windows does not have.

A process in which everything is missing that Python has on POSIX systems alone stands in for Windows: a call
that is not in a guarded place ends in an AttributeError there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = '''
import asyncio, getpass, logging.config, multiprocessing, os, pathlib, secrets, select, shutil, signal, socket
import selectors, sqlite3, ssl, subprocess, sys, tempfile, threading, time, urllib.request
import fastapi, numba, numpy, platformdirs, psycopg, rich.console, scipy.special, typer, uvicorn

OS = """
chown chroot ctermid fchdir fchmod fchown fork forkpty fpathconf fstatvfs getegid geteuid getgid
getgrouplist getgroups getpgid getpgrp getpriority getresgid getresuid getsid getuid initgroups killpg
lchown lockf major minor mkfifo mknod nice openpty pathconf pidfd_open posix_fadvise posix_spawn
posix_spawnp pread preadv pwrite pwritev readv register_at_fork sched_getaffinity sched_setaffinity
sched_yield sendfile setegid seteuid setgid setgroups setpgid setpriority setregid setresgid setresuid
setreuid setsid setuid statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid writev
O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_NONBLOCK O_SYNC O_DSYNC
""".split()
SIGNAL = """
SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGUSR1 SIGUSR2
SIGWINCH alarm pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigwait
""".split()
removed = 0
for module, names in ((os, OS), (signal, SIGNAL), (select, ["poll", "epoll"])):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
            removed += 1
assert removed > 60, removed
for name in ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None

import truebest
from truebest.cli import main

url = "sqlite:///runs.db"
with truebest.Experiment.create(url, "x", ["a", "b"], bounds=(0, 1), seed=1) as experiment:
    while pulls := experiment.ask(2):
        experiment.tell([(pull, float(pull.arm == "b")) for pull in pulls])
    assert experiment.status().best == "b"
    assert experiment.verify().sound
    lines = len(experiment.history())
    experiment.take_over()
arms = {"a": lambda: 0.0, "b": lambda: 1.0}
assert truebest.identify(arms, bounds=(0, 1), store=url, name="y", max_samples=500).best == "b"
assert truebest.identify(arms, bounds=(0, 1), workers=2, max_samples=500).best == "b"
assert truebest.race({"a": lambda: time.sleep(0.001), "b": lambda: time.sleep(0.02)}).best == "a"
assert truebest.simulate("uniform", (2.0, 0.0), 0.1, runs=5, threads=2, progress=False).complete
truebest.simulate("uniform", (2.0, 0.0), 0.1, runs=5, progress=False).save("runs.json")

sys.path.insert(0, sys.argv[1])
from support.service import serving
with serving(url) as service:
    assert service.get("/").status == 200
    assert service.get("/v1/status?experiment=x").json["best"] == "b"

os.environ["TRUEBEST_STORE"] = url
for words in (["list"], ["status", "x"], ["verify", "x"], ["export", "x"], ["solve", "1", "0"], ["ask", "x"]):
    assert main(words) in (0, 4), words
assert main(["identify", "--arm", "a=echo 1", "--arm", "b=echo 0", "--bounds", "0,1"]) == 1
assert main(["race", "true", "false"]) == 1
print("done")
'''


def test_nothing_needs_what_windows_does_not_have(tmp_path: Path) -> None:
    """Live, stored, served and simulated; commands of arms are refused in one sentence."""
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tests)], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.stdout.endswith("done\n"), done.stderr[-4000:]
    assert done.stderr.count("can be run on Linux and macOS only") == 1
    assert done.stderr.count("can be timed on Linux and macOS only") == 1
