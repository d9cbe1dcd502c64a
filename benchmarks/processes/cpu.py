"""What each process of a session costs: ``python -m benchmarks.processes.cpu``.

Emulated puppeteers drive an emulated robot, as in the nightly test of all worlds. After
the session has told that it drives, the CPU time of every process, user and system, is
counted over a while and told as a share of one core. A busy machine makes the shares
larger, by what shared caches cost, but not by what others take. ``--env``,
``--follower`` and ``--time`` [s] choose; further words are settings of ``run.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from ros_rig import run_master
from worlds import WORLDS, World

from benchmarks.processes.start import find_children, find_cpu

START = 30.0  # [s] chosen: the emulated hands grasp until a session has started
SETTLED = 3.0  # [s] chosen: from the recording's first bytes on
LOOK = 0.2  # [s] chosen: between two looks


def name_of(pid: int) -> str:
    """Return the role of a process."""
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    modules = [w for w in words if w.startswith(("paprle.", "paprle_emulators."))]
    scripts = [w for w in words if w.endswith(".py")]
    return (modules or [Path(s).name for s in scripts] or words)[0]


def list_processes(parent: int) -> dict[int, str]:
    """Return descendants of a process by role."""
    found, waiting = {}, find_children(parent)
    while waiting:
        pid = waiting.pop()
        try:
            found[pid] = name_of(pid)
            waiting += find_children(pid)
        except OSError:
            continue  # it has ended meanwhile
    return found


def count(duration: float, out: Path, runner: threading.Thread) -> dict[str, float]:
    """Return processes' shares of a core in driving."""
    while runner.is_alive() and not list(out.glob("*.mcap*")):
        time.sleep(LOOK)
    time.sleep(SETTLED)
    names = list_processes(os.getpid())
    began = time.monotonic()
    before = {pid: find_cpu(pid) for pid in names}
    time.sleep(duration)
    if not runner.is_alive():
        return {}
    took = time.monotonic() - began
    return {f"{names[p]} ({p})": (find_cpu(p) - t) / took for p, t in before.items()}


def measure(args: argparse.Namespace) -> dict[str, float]:
    """Run a session beside emulators and count."""
    with tempfile.TemporaryDirectory() as folder:
        world, out = World(args.env, args.follower, Path(folder)), Path(folder) / "out"
        hands = f"motion=grasp_all:{START:g},sines:{args.time + 10:g},end:{START:g}"
        words = ["dynamixel", f"leader=puppeteer_{args.follower}", hands]
        words += ["+", "leader=puppeteer", "session.episodes=1", f"record.dir={out}"]
        master = run_master() if args.env == "ros1" else iter([{}])
        env, done = next(master), []

        def run() -> None:
            limit = args.time + 240.0
            done.append(world.run(words, *args.words, time=limit, env=env))

        runner = threading.Thread(target=run)
        runner.start()
        shares = count(args.time, out, runner)
        runner.join()
        next(master, None)  # ends it
    print(done[0].stdout.splitlines()[-1] if shares else done[0].stdout)
    return shares


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", choices=WORLDS, default="ros1")
    parser.add_argument("--follower", default="piper_2arm")
    parser.add_argument("--time", type=float, default=30.0)
    parser.add_argument("words", nargs="*")
    shares = measure(parser.parse_args())
    for name, share in sorted(shares.items(), key=lambda item: -item[1]):
        if share >= 0.005:
            print(f"{share:5.2f}  {name}")
    print(f"{sum(shares.values()):5.2f}  of one core, load {os.getloadavg()[0]:.1f}")
    return 0 if shares else 1


if __name__ == "__main__":
    sys.exit(main())
