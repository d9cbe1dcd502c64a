"""Cycle time of the Feetech driver with six servos.

python -m benchmarks.devices.feetech [SECONDS] [BAUD]

A cycle sync-reads measurements and sync-writes goals of an emulated SO-101: unlimited,
then the driver's thread at 200 Hz. BAUD limits the line. Times hold for an idle
machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time

import numpy as np

from benchmarks.processes.machine import read_idle
from benchmarks.processes.start import find_cpu
from paprle.hardware.feetech.bus import Bus
from paprle.hardware.feetech.bus_thread import BusSettings, BusThread
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.wire import Wire
from paprle.ipc.process import WORKSPACE

SERVOS = [ServoSpec(i) for i in range(1, 7)]
TIMEOUT = 0.05  # [s] chosen: a busy machine
BAUD = 1_000_000  # [bit/s] spec: SO-101


@contextlib.contextmanager
def started(baud):
    """Run an emulated arm; yield its port."""
    fault = [f'fault={{"fault": "wire", "baud": {baud}}}'] if baud else []
    process = subprocess.Popen(
        [sys.executable, "-m", "paprle_emulators.feetech", "rig=so101", *fault],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=WORKSPACE,
    )  # fmt: skip
    try:
        yield json.loads(process.stdout.readline())["ports"]["follower"], process
    finally:
        process.terminate()
        process.wait()


def measure_cycles(port, seconds):
    """Return cycle times, [s]."""
    bus = Bus(Wire(port, BAUD, TIMEOUT), SERVOS, time.monotonic_ns)
    bus.open()
    try:
        bus.hold()
        goal, times, end = bus.read().angle, [], time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.perf_counter()
            bus.read()
            bus.write_goals(goal)
            times.append(time.perf_counter() - begin)
        return np.array(times), bus.counters
    finally:
        bus.release()
        bus.close()


def measure_thread(port, seconds):
    """Return readings per second and CPU share."""
    settings = BusSettings(path=port, baud=BAUD, timeout=TIMEOUT)
    bus = BusThread(settings, SERVOS, time.monotonic_ns)
    bus.open()
    try:
        bus.hold()
        bus.set_goal(bus.snapshot.reading.angle)
        busy, first = time.process_time(), bus.snapshot.seq
        begin = time.monotonic()
        time.sleep(seconds)
        span = time.monotonic() - begin
        return (bus.snapshot.seq - first) / span, (time.process_time() - busy) / span
    finally:
        bus.close(off=True)


def main(words):
    seconds = float(words[0]) if words else 5.0
    baud = int(words[1]) if len(words) > 1 else 0
    with started(baud) as (port, emulator):
        idle, busy, begin = read_idle(), find_cpu(emulator.pid), time.monotonic()
        times, counters = measure_cycles(port, seconds)
        rate, share = measure_thread(port, seconds)
        span = time.monotonic() - begin
        p50, p99 = (round(1e3 * float(q), 3) for q in np.quantile(times, (0.5, 0.99)))
        cycles = {
            "servos": len(SERVOS),
            "wire_baud": baud,
            "cycles": len(times),
            "p50_ms": p50,
            "p99_ms": p99,
            "missed": counters.n_missed,
        }
        thread = {
            "rate_hz": round(rate, 1),
            "cpu_share": round(share, 3),
            "emulator_share": round((find_cpu(emulator.pid) - busy) / span, 3),
            "idle": round((read_idle() - idle) / span / os.cpu_count(), 2),
        }
        print(json.dumps(cycles))
        print(json.dumps(thread))


if __name__ == "__main__":
    main(sys.argv[1:])
