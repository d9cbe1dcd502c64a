"""An emulated UR for tests: started as a user does, hurt by its own orders."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from piper_rig import RealClock, load

from paprle_emulators import start
from paprle_emulators.ur.journal import Record, read_journal

QUANTUM = 1e-9  # [rad] of the journal
__all__ = ["QUANTUM", "EmulatedUr", "RealClock", "cycle", "load"]


class EmulatedUr:
    """One ``paprle-emulate ur`` and its journal."""

    def __init__(self, folder: Path, model: str = "ur5e", **settings: object) -> None:
        self.log = folder / "arm.log"
        self._rig = start("ur", model=model, log=self.log, **settings)
        self.host = self._rig.endpoint["host"]
        self.args = [*self._rig.overrides, f"follower={model}", "env=ur"]
        self.end = self._rig.stop

    def __enter__(self) -> EmulatedUr:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def do(self, fault: str, **arguments: object) -> int:
        """Give an order; return when it was done, [ns]."""
        return self._rig.order({"fault": fault, **arguments})["stamp_ns"]

    def kill(self) -> None:
        self._rig.process.kill()
        self._rig.process.wait()

    def read(self) -> Record:
        return read_journal(self.log)


def cycle(follower, clock, q=None, *, until=None, time_s=1.0, rate=250.0):
    """Write q, or where the arm is, for a time or until a state is as asked."""
    end = time.monotonic() + time_s
    state = follower.read()
    while time.monotonic() < end:
        state = follower.read()
        if until is not None and until(state):
            break
        follower.write(state.q if q is None else q)
        clock.advance(1.0 / rate)
    return state


def find_speeds(record: Record) -> np.ndarray:
    """Return the fastest joint of each state, [rad/s]."""
    return np.abs(record.dq).max(axis=1)
