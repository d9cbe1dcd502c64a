"""What a session costs while nobody drives: ``python -m benchmarks.processes.idle``.

An emulated puppeteer and a robot in MuJoCo. The hand is still until the session waits
for it; the CPU time of every process of the session, user and system, is counted over
``--time`` seconds. Then the hand gives the start signal and drives, and it is counted
again. Shares are of one core; the emulated servos are not counted. A busy machine makes
the shares larger. The gate's process simulates the robot, too: stepping it and reading
its state is measured apart, at the same rate in this process, and told as a part of the
gate's share. ``--threads`` shows the threads of each process, in the order in which
they were started. Further words are settings of ``run.py``.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from dynamixel_rig import running_rig

from benchmarks.processes.start import find_children, find_cpu, name_of
from paprle.config import resolve
from paprle.hosts.plan import make_follower, make_robot
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.process import WORKSPACE

START = (
    600.0  # [s] chosen: kernels of a first run compile for minutes where others work
)
SETTLED = 3.0  # [s] chosen: caches of the robot's model fill, homing has ended
STEPPED = 5.0  # [s] chosen: 2,500 periods of the simulation
LEAST = 0.002  # chosen: threads with a smaller share are not shown
_TICKS = os.sysconf("SC_CLK_TCK")  # [Hz]


@contextmanager
def running_session(words, folder):
    """Run ``run.py``; yield it and its log."""
    log = Path(folder) / "log.txt"
    command = [sys.executable, str(WORKSPACE / "run.py"), *words]
    with log.open("w") as file:
        session = subprocess.Popen(
            [*command, f"record.dir={folder}/out"],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        yield session, log
    finally:
        session.send_signal(signal.SIGINT)
        session.wait()


def wait_for(state, session, log):
    """Wait until the log shows a state.

    Raises:
        SystemExit: If the session or time ends.
    """
    end = time.monotonic() + START
    while state not in log.read_text():
        if session.poll() is not None or time.monotonic() > end:
            raise SystemExit(log.read_text())
        time.sleep(0.05)


def read_threads(pid):
    """Return threads' CPU times, [s], by id."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        stat = (task / "stat").read_text().rsplit(")", 1)[1].split()
        found[int(task.name)] = (int(stat[11]) + int(stat[12])) / _TICKS
    return found


def measure(session, duration):
    """Return shares of a core, by process and thread."""
    time.sleep(SETTLED)
    pids = [session.pid, *find_children(session.pid)]
    began = time.monotonic()
    before = {pid: (find_cpu(pid), read_threads(pid)) for pid in pids}
    time.sleep(duration)
    took = time.monotonic() - began
    shares = {}
    for pid, (cpu, threads) in before.items():
        after = read_threads(pid)
        lines = {i: (after[i] - t) / took for i, t in threads.items() if i in after}
        shares[name_of(pid)] = (find_cpu(pid) - cpu) / took, lines
    return shares


def measure_stepping(words):
    """Return the simulation's share of a core."""
    resolved = resolve(words)
    follower = make_follower(resolved, make_robot(resolved))
    info = follower.open()
    q = follower.read().q
    loop, used = DeadlineLoop(info.rate), []
    for _ in range(round(STEPPED * info.rate)):
        loop.wait()
        began = time.thread_time()
        follower.read()
        follower.write(q)
        used.append(time.thread_time() - began)
    follower.close("hold")
    return float(np.mean(used)) * info.rate


def show(state, shares, stepping, *, threads):
    """Print the shares in one state."""
    total = sum(share for share, _ in shares.values())
    print(f"{state}: {total:6.1%} of a core, {total - stepping:.1%} of it the session")
    for name, (share, lines) in shares.items():
        note = f" ({stepping:.1%} of it simulates the robot)" if name == "gate" else ""
        print(f"  {name:10} {share:6.1%}{note}")
        for i, (_, part) in enumerate(sorted(lines.items())):
            if threads and part >= LEAST:
                print(f"    thread {i:2} {part:6.1%}")


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--follower", default="piper")
    parser.add_argument("--time", type=float, default=20.0, help="[s]")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("words", nargs="*", help="settings of run.py")
    args = parser.parse_args()
    rig = f"puppeteer_{args.follower}"
    triple = [f"leader={rig}", f"follower={args.follower}", "env=mujoco", *args.words]
    stepping = measure_stepping(triple)
    with tempfile.TemporaryDirectory() as folder, running_rig(rig) as hand:
        words = [*triple, *hand.overrides]
        with running_session(words, folder) as (session, log):
            wait_for("WAITING", session, log)
            shares = measure(session, args.time)
            show("WAITING", shares, stepping, threads=args.threads)
            hand.send(cmd="motion", program="grasp_all")
            wait_for("ENGAGED", session, log)
            hand.send(cmd="motion", program="sines")
            shares = measure(session, args.time)
            show("ENGAGED", shares, stepping, threads=args.threads)
    print(f"load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
