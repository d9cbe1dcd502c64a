"""An emulated xArm for tests: started as a user does, hurt by its own orders."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import numpy as np

from paprle_emulators import start
from paprle_emulators.xarm.journal import Record, read_journal

QUANTUM = 5e-7  # [rad] a 32-bit float of 2π is off by a quarter of that


class EmulatedXArm:
    """One ``paprle-emulate xarm`` at an address of its own, and its journal."""

    def __init__(self, folder: Path, model: str = "xarm7", **settings) -> None:
        self.log, self.model = folder / "arm.log", model
        self._rig = start("xarm", model=model, address="own", log=self.log, **settings)
        self.host = self._rig.port

    @property
    def args(self) -> list[str]:
        """Words of the command line that drive it."""
        return [f"follower={self.model}", "env=xarm", *self._rig.overrides]

    def do(self, fault: str, **arguments) -> int:
        """Give an order and return when it was done, [ns]."""
        return self._rig.order({"fault": fault, **arguments})["stamp_ns"]

    def read(self) -> Record:
        return read_journal(self.log)

    def kill(self) -> None:
        self._rig.process.kill()
        self._rig.process.wait()

    def end(self) -> int:
        """End it as a user does; return its exit code."""
        return self._rig.stop()


@contextlib.contextmanager
def running_xarm(folder: Path, model: str = "xarm7", **settings):
    arm = EmulatedXArm(folder, model, **settings)
    try:
        yield arm
    finally:
        arm.end()


def count_targets(record: Record, begin_ns: int, end_ns: int) -> int:
    """How many targets came in a span of time."""
    return int(((record.stamps > begin_ns) & (record.stamps <= end_ns)).sum())


def find_rest_ns(record: Record, after_ns: int) -> int:
    """When the joints last moved faster than 0.01 rad/s, after a time."""
    moving = (np.abs(record.dq).max(axis=1) > 0.01) & (record.state_stamps > after_ns)
    ids = np.flatnonzero(moving)
    return int(record.state_stamps[ids[-1]]) if len(ids) else after_ns


def wait_until(is_met, timeout: float = 5.0) -> None:
    end = time.monotonic() + timeout
    while not is_met():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
