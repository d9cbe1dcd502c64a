"""Plug-ins from outside: a leader that breaks any call by name, a follower with a log.

They come as an installed package would: by entry points, in every process.
"""

from __future__ import annotations

import errno
import functools
import gc
import importlib
import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.kit.playback import Playback
from paprle.contracts.plugins import Follower, Leader, PluginSpec
from paprle.contracts.settings.base import settings
from paprle.contracts.types import (
    FollowerInfo,
    FollowerState,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
)
from paprle.ipc.mailbox import Ring

LEADER = PluginSpec(
    summary="Breaks things.",
    config="outsider:BreakerConfig",
    factory="outsider:Breaker",
)
FOLLOWER = PluginSpec(
    summary="Keeps a log, and falls when its power goes.",
    config="outsider:LoggedConfig",
    factory="outsider:Logged",
)
ENTRIES = """[paprle.leaders]
breaker = outsider:LEADER
[paprle.followers]
logged = outsider:FOLLOWER
"""


class Sabotage(Exception):
    """What a broken call raises."""


def install(folder: Path) -> dict[str, str]:
    """Install the plug-ins and return the environment that finds them."""
    info = folder / "paprle_outsider-1.0.dist-info"
    info.mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: paprle-outsider\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata)
    (info / "entry_points.txt").write_text(ENTRIES)
    here = str(Path(__file__).parent)
    return {"PYTHONPATH": os.pathsep.join([str(folder), here])}


def shrink_rings(n_bytes: int) -> None:
    """Let this process make and open rings of another size."""
    whole = Ring.__init__

    def make(ring, _n_bytes, fd=None):
        whole(ring, n_bytes, fd)

    Ring.__init__ = make


def make_fault(site: str, action: str) -> Callable[[int], None]:
    """Return what a broken call does, by how often it was broken before."""
    heap = [[] for _ in range(1_500_000)] if action == "collect" else []

    def act(n_before: int) -> None:
        if action == "raise":
            raise Sabotage(f"broken on purpose: {site}")
        if action == "demand no collector":
            if gc.isenabled():
                raise Sabotage("the collector is on")
        elif n_before > 0 and action.startswith(("once ", "collect")):
            return
        elif action == "once enospc":
            sys.stderr.write(f"the disk is full at {time.monotonic_ns()}\n")
            raise OSError(errno.ENOSPC, "No space left on device")
        elif heap:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        else:
            time.sleep(float(action.removeprefix("once ")))

    return act


def break_call(site: str, action: str, after: int) -> None:
    """Make ``module:Class.method`` do something else first from its n-th call on."""
    module, _, path = site.partition(":")
    owner = importlib.import_module(module)
    *owners, name = path.split(".")
    for part in owners:
        owner = getattr(owner, part)
    whole = getattr(owner, name)
    if hasattr(whole, "is_broken"):
        return
    act, n_calls = make_fault(site, action), 0

    @functools.wraps(whole)
    def broken(*args, **kwargs):
        nonlocal n_calls
        n_calls += 1
        if n_calls > after:
            act(n_calls - after - 1)
        return whole(*args, **kwargs)

    broken.is_broken = True
    setattr(owner, name, broken)


@settings
class BreakerConfig:
    site: str = ""
    action: str = "raise"  # or another of make_fault's, or [once] a time to sleep, [s]
    after: int = 0
    time: float = 20.0
    height: float = 0.05
    ring: int = 0  # [bytes] of the recorder's rings; 0: as they are

    def __post_init__(self):
        """Break it: every process of a session reads its config."""
        if self.ring:
            shrink_rings(self.ring)
        if self.site:
            break_call(self.site, self.action, self.after)


class Breaker(Leader):
    """Waves up and down."""

    info = LeaderInfo(limbs=("hand",), is_human=False)

    def open(self):
        self.playback, self.seq = Playback(self.config.time, n_plays=1), 0

    def latest(self):
        now_ns = self.clock()
        t = self.playback.advance(now_ns) * 1e-9
        z = self.wave(t) if t > 0.0 else 0.0
        T = pin.SE3(np.eye(3), np.array([0.0, 0.0, z]))
        self.seq += 1
        return LeaderSample(
            stamp_ns=now_ns,
            seq=self.seq,
            limbs={"hand": LimbCommand(T_leader_base_leader_eef=T)},
            start=self.playback.asks_to_start,
            end=self.playback.is_over,
            is_exhausted=self.playback.is_exhausted,
        )

    def wave(self, t):
        return self.config.height * math.sin(math.pi * t) ** 2

    def apply(self, feedback):
        self.playback.apply(feedback, self.clock())

    def close(self):
        pass


@settings
class LoggedConfig:
    log: str
    power_off: str = "falls"
    simulated: bool = True


class Logged(Follower):
    """Ideal; its log is its own, not the session's."""

    def open(self):
        self.q = np.array(self.robot.home)
        self.dq = np.zeros_like(self.q)
        self.log = Path(self.config.log).open("a", buffering=1)  # noqa: SIM115
        self.note("open")
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=200.0,
            power_off=self.config.power_off,
            simulated=self.config.simulated,
        )

    def read(self):
        return FollowerState(stamp_ns=self.clock(), q=self.q.copy(), dq=self.dq.copy())

    def write(self, q_cmd):
        self.dq = (q_cmd - self.q) * 200.0
        self.q = np.array(q_cmd)
        self.note("write", q=self.q.tolist())

    def close(self, policy):
        if not self.log.closed:
            self.note("close", policy=policy)
            self.log.close()

    def note(self, event, **values):
        self.log.write(json.dumps({"event": event, "t_ns": self.clock(), **values}))
        self.log.write("\n")
