"""Speed and cost of the emulated rig with the vendor's SDK.

python -m benchmarks.dynamixel [LEADER] [SECONDS]

A process per bus reads current, velocity and position, and sync-writes goal currents;
unlimited, then at 400 Hz. Times hold for an idle machine: ``idle`` is the free share.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from dynamixel_sdk import GroupSyncRead, GroupSyncWrite

from paprle.hardware.dynamixel.line.packets import Packets
from paprle.hardware.dynamixel.line.port import SerialPort
from paprle_emulators.dynamixel.config import read_rig

ROOT = Path(__file__).resolve().parents[1]
TICK = os.sysconf("SC_CLK_TCK")
TIMEOUT = 0.05  # [s] chosen: of an answer
RATE = 400.0  # [Hz] spec: the bus of a puppeteer
GOAL = [5, 0]  # chosen: a current that moves nothing


@contextlib.contextmanager
def started(leader):
    """Run a rig; yield ports and process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "paprle_emulators.dynamixel",
         f"leader={leader}", "motion=sines"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    try:
        yield json.loads(process.stdout.readline())["ports"], process
    finally:
        process.terminate()
        process.wait()


def read_busy(pid):
    """Return a process's CPU time, [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def read_idle():
    """Return the processors' idle time, [s]."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / TICK


def make_groups(path, servos):
    """Open a bus; return port, reader and writer."""
    port, packets = SerialPort(path, TIMEOUT), Packets()
    port.openPort()
    port.setBaudRate(4_000_000)
    reads = GroupSyncRead(port, packets, 126, 10)
    writes = GroupSyncWrite(port, packets, 102, 2)
    for servo in servos:
        packets.write1ByteTxRx(port, servo, 11, 0)
        packets.write1ByteTxRx(port, servo, 64, 1)
        reads.addParam(servo)
        writes.addParam(servo, GOAL)
    return port, reads, writes


def drive(job):
    """Cycle on one bus; return times and failures."""
    path, servos, is_fast, rate, seconds = job
    port, reads, writes = make_groups(path, servos)
    read = reads.fastSyncRead if is_fast else reads.txRxPacket
    times, failed = [], 0
    began = due = time.monotonic()
    while time.monotonic() < began + seconds:
        before = time.monotonic()
        failed += read() != 0
        writes.txPacket()
        times.append(time.monotonic() - before)
        if rate:
            due = max(due + 1 / rate, time.monotonic())
            time.sleep(max(due - time.monotonic(), 0.0))
    elapsed = time.monotonic() - began
    port.closePort()
    return times, failed, elapsed


def measure(leader, is_fast, rate, seconds):
    """Return figures of all buses at once."""
    spec = read_rig(leader)
    with started(leader) as (ports, process):
        jobs = {}
        for limb in spec.limbs:
            servos = [servo.number for servo in limb.servos]
            jobs.setdefault(ports[limb.name], []).extend(servos)
        busy, idle, began = read_busy(process.pid), read_idle(), time.monotonic()
        with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
            done = pool.map(
                drive, [(p, ids, is_fast, rate, seconds) for p, ids in jobs.items()]
            )
        elapsed = time.monotonic() - began
        busy, idle = read_busy(process.pid) - busy, read_idle() - idle
    times = np.concatenate([one[0] for one in done]) * 1e3
    return {
        "read": "fast sync" if is_fast else "sync",
        "paced_hz": rate or None,
        "servos": [len(ids) for ids in jobs.values()],
        "cycles_per_s": [round(len(t) / took, 1) for t, _, took in done],
        "failed": sum(failed for _, failed, _ in done),
        "p50_ms": round(float(np.percentile(times, 50)), 3),
        "p99_ms": round(float(np.percentile(times, 99)), 3),
        "emulator_core_share": round(busy / elapsed, 3),
        "idle": round(idle / elapsed / os.cpu_count(), 2),
    }


def main():
    leader = sys.argv[1] if len(sys.argv) > 1 else "puppeteer_papras_7dof_2arm"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
    for rate in (0.0, RATE):
        for is_fast in (False, True):
            print(json.dumps(measure(leader, is_fast, rate, seconds)), flush=True)


if __name__ == "__main__":
    main()
