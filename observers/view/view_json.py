"""Session state as JSON."""

from __future__ import annotations

import math
import re
import shutil
import time
from pathlib import Path
from typing import Any

from paprle.contracts.gate_status import GATE_NUMBERS
from paprle.contracts.kit.motion_cues import CrossingCounter
from paprle.contracts.operator.actions import KEY_CAPS
from paprle.contracts.operator.state_words import HELD, STATE_WORDS
from paprle.contracts.plugins import SessionView
from paprle.contracts.types import GateState, RobotInfo, SessionState
from paprle.observers.view.mirrored import describe_mirror

_SPACE_EVERY = 5.0  # [s] chosen: a disk fills in minutes
_LET_GO = "Let go, or move back."
_FIRST = re.compile(r"\w+ \(([^()]*)\)")  # of what the gate latched: name (cause)
_RELEASE = (
    "See what stopped it, and that the robot may move.",
    "Let go of every dead-man.",
    f"Press Release ({KEY_CAPS['clear']}).",
    f"Begin again, or press Go home ({KEY_CAPS['next_episode']}).",
)


class Shown:
    """Makes messages for pages."""

    def __init__(self, robot: RobotInfo) -> None:
        self._robot = robot
        self._grippers = [limb.name for limb in robot.limbs if limb.gripper is not None]
        self._owners = {j: limb.name for limb in robot.limbs for j in limb.joint_names}
        self._free: int | None = None
        self._looked = -math.inf
        self._crossings = CrossingCounter()

    def make(self, view: SessionView) -> dict[str, Any]:
        """Return the newest state."""
        word, does = _describe_state(view)
        self._crossings.take(view.advice)
        is_stopped = view.state is SessionState.STOPPED
        news = dict(view.news)
        return {
            "robot": self._robot.name,
            "limbs": [limb.name for limb in self._robot.limbs],
            "grippers": self._grippers,
            "openings": self._list_openings(view),
            "joints": self._list_joints(view),
            "state": view.state.name,
            "word": word,
            "does": does,
            "gate": view.gate_state.name,
            "latched": view.latched,
            "cause": describe_hold(view),
            "release": list(_RELEASE) if is_stopped else [],
            "far": "" if view.mirror is None else describe_mirror(view.mirror),
            "acts": list(view.reasons) if view.is_engaged else [],
            "acted": dict(view.counts),
            **{name: _finite(getattr(view.status, name)) for name in GATE_NUMBERS},
            "drivers": dict(view.drivers),
            "is_held_back": view.gate_state is GateState.HOLD,
            "ages": {
                "leader": _finite(view.leader_age),
                "session": _finite(view.tick_age),
                "gate": _finite(view.gate_age),
            },
            "latencies": _measure(view),
            "free": self._find_free(news.get("folder")),
            "news": news,
            "crossings": self._crossings.n,
            "felt": {name: _finite(tau) for name, tau in view.felt.items()},
        }

    def _list_joints(self, view: SessionView) -> list[dict[str, Any]]:
        robot = self._robot
        values = zip(
            robot.joint_names, robot.q_min, robot.q_max, view.q, view.q_cmd, view.tau,
            strict=True,
        )  # fmt: skip
        return [
            {
                "name": name,
                "limb": self._owners.get(name, ""),
                "is_sliding": name in robot.sliding,
                "low": _finite(low),
                "high": _finite(high),
                "q": _finite(q if math.isfinite(q) else q_cmd),
                "tau": _finite(tau),
            }
            for name, low, high, q, q_cmd, tau in values
        ]

    def _list_openings(self, view: SessionView) -> dict[str, float | None]:
        """Return gripper openings, 0 … 1; None: unknown."""
        joints = self._robot.joint_names
        openings = dict[str, float | None]()
        for limb in self._robot.limbs:
            if limb.gripper is not None:
                i = joints.index(limb.gripper.joint)
                q = view.q[i] if math.isfinite(view.q[i]) else view.q_cmd[i]
                openings[limb.name] = _finite(limb.gripper.measure(float(q)))
        return openings

    def _find_free(self, folder: str | None) -> int | None:
        """Return free space, [bytes], rarely: disks may hang."""
        # Looked up seldom, and not in the session: a disk may not answer.
        if folder is None:
            return None
        now = time.monotonic()
        if now - self._looked > _SPACE_EVERY:
            self._looked = now
            there = Path(folder)
            try:
                self._free = shutil.disk_usage(
                    next(p for p in (there, *there.parents) if p.exists())
                ).free
            except OSError:
                self._free = None
        return self._free


def name_state(state: SessionState) -> str:
    """Return the page's word of a state."""
    return STATE_WORDS[state][0]


def _describe_state(view: SessionView) -> tuple[str, str]:
    word, does = STATE_WORDS[view.state]
    standing = _find_standing(view)
    if not standing:
        return word, does
    if view.news.get("is_still"):
        return HELD, f"The robot does not move: {standing}. {_LET_GO}"
    return word, f"The robot moves with you, except: {standing}. {_LET_GO}"


def describe_hold(view: SessionView) -> str:
    """Return the first reason of a hold or a stop, one sentence, or ""."""
    return _find_standing(view) or _name_cause(view.latched)


def _find_standing(view: SessionView) -> str:
    if view.state is not SessionState.ENGAGED:
        return ""
    standing: str = next(iter(view.news.get("standing", ())), "")
    return standing


def _name_cause(latched: str) -> str:
    found = _FIRST.match(latched)
    return found[1] if found else latched.partition(";")[0]


def _measure(view: SessionView) -> dict[str, float | None]:
    """Return latencies, [ms]."""
    has_sample = view.captured_ns > 0
    return {
        "hand to set-point": (
            _milliseconds(view.posted_ns - view.captured_ns) if has_sample else None
        ),
        "set-point to command": _milliseconds(view.written_ns - view.posted_ns),
        "robot measured": _milliseconds(view.written_ns - view.measured_ns),
    }


def _milliseconds(ns: int) -> float | None:
    return round(ns * 1e-6, 1) if 0 <= ns < 10**9 else None


def _finite(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None
