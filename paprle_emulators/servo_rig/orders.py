"""Orders and log of a rig."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from paprle_emulators.servo_rig.held_arm import HeldArm

if TYPE_CHECKING:
    from paprle_emulators.servo_rig.faults import Faults
    from paprle_emulators.servo_rig.rig import ServoRig

LOG_PERIOD_NS = 2_000_000  # chosen: 500 Hz shows what a bus at 400 Hz does [ns]
MOST_LINES = 300_000  # chosen: ten minutes; then the file begins anew, one is kept


class Described(Protocol):
    """A logged rig; ``now_ns`` in [ns]."""

    now_ns: int

    def report(self) -> dict[str, object]:
        """Return true state and new events."""


class Log:
    """True states as JSON lines, with monotonic ``stamp_ns`` of writing.

    A full file becomes ``<name>.1``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("w")
        self._n_lines = 0
        self._next_ns = 0

    def note(self, rig: Described) -> None:
        """Write a line if due."""
        if rig.now_ns < self._next_ns:
            return
        self._next_ns = rig.now_ns + LOG_PERIOD_NS
        if self._n_lines >= MOST_LINES:
            self._file.close()
            self._path.replace(f"{self._path}.1")
            self._file, self._n_lines = self._path.open("w"), 0
        self._n_lines += 1
        line = {"stamp_ns": time.monotonic_ns(), **rig.report()}
        self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Lines(Protocol):
    """A line server for orders."""

    def describe(self) -> dict[str, object]:
        """Return the endpoint."""

    def unplug(self, port: str) -> None:
        """Unplug a cable."""

    def replug(self, port: str) -> None:
        """Plug the cable in again."""


class Orders:
    """Executes and answers orders."""

    def __init__(
        self,
        rig: ServoRig[Any],
        faults: Faults,
        answer: Callable[[str], None],
        log: Log | None = None,
    ) -> None:
        self._rig = rig
        self._answer = answer
        self._log = log
        self._faults = faults
        self._rest = b""
        self.commands: dict[str, Callable[[dict[str, Any], Lines], object]] = {
            "state": self._state,
            "motion": self._motion,
            "pose": self._pose,
            "let_go": self._let_go,
            "hold": self._hold,
            "push": self._push,
            "hand": self._hand,
            "clear": self._clear,
            "unplug": self._unplug,
            "replug": self._replug,
        }

    def note(self, rig: Described) -> None:
        """Log the state after a step."""
        if self._log is not None:
            self._log.note(rig)

    def cause(self, fault: Mapping[str, Any]) -> None:
        """Begin a fault."""
        self._faults.cause(fault)

    def feed(self, data: bytes, lines: Lines) -> None:
        """Take bytes of standard input."""
        *complete, self._rest = (self._rest + data).split(b"\n")
        for line in complete:
            if line.strip():
                self._answer(json.dumps(self.obey(line, lines)))

    def obey(self, line: bytes, lines: Lines) -> dict[str, object]:
        """Execute an order; return its answer."""
        try:
            order = json.loads(line)
            if not isinstance(order, dict):
                raise ValueError("expected an object")
            if "fault" in order:
                self._faults.cause(order)
                return {"ok": True}
            name = order.pop("cmd", None)
            if name not in self.commands:
                known = ", ".join(self.commands)
                raise ValueError(f"expected 'fault', or 'cmd' one of {known}")
            result = self.commands[name](order, lines)
            if order:
                raise ValueError(f"'{name}' takes no '{', '.join(order)}'")
        except (ValueError, TypeError, KeyError) as error:
            text = line.decode(errors="replace").strip()
            return {"ok": False, "error": f"order {text}: {error}"}
        return {"ok": True, **(result if isinstance(result, dict) else {})}

    def _limbs(self, order: dict[str, Any]) -> list[HeldArm]:
        name = order.pop("limb", None)
        limbs = self._rig.limbs
        if name is not None and name not in limbs:
            raise ValueError(f"expected a limb of {', '.join(limbs)}, got '{name}'")
        return [limb for key, limb in limbs.items() if name in (None, key)]

    def _state(self, order: dict[str, Any], lines: Lines) -> object:
        del order, lines
        return self._rig.describe()

    def _motion(self, order: dict[str, Any], lines: Lines) -> None:
        del lines
        names = [limb.name for limb in self._limbs(order)]
        program = str(order.pop("program"))
        for name in names:
            self._rig.play(program, name)

    def _pose(self, order: dict[str, Any], lines: Lines) -> None:
        """Move joints by hand, [rad]."""
        del lines
        joints = {str(k): float(q) for k, q in dict(order.pop("joints")).items()}
        name = order.get("limb")
        self._limbs(order)
        self._rig.pose(joints, name)

    def _let_go(self, order: dict[str, Any], lines: Lines) -> None:
        del lines
        for limb in self._limbs(order):
            limb.hold(False)

    def _hold(self, order: dict[str, Any], lines: Lines) -> None:
        del lines
        for limb in self._limbs(order):
            limb.hold(True)

    def _push(self, order: dict[str, Any], lines: Lines) -> None:
        """Apply torques to joints, [N·m]."""
        del lines
        limbs, tau = self._limbs(order), dict(order.pop("tau"))
        for limb in limbs:
            for joint, value in tau.items():
                limb.arm.push[limb.joints.index(joint)] = float(value)

    def _hand(self, order: dict[str, Any], lines: Lines) -> None:
        del lines
        limbs = self._limbs(order)
        stiffness, damping = order.pop("stiffness"), order.pop("damping")
        for limb in limbs:
            ones = np.ones(len(limb.joints))
            limb.set_hand(ones * np.array(stiffness), ones * np.array(damping))

    def _clear(self, order: dict[str, Any], lines: Lines) -> None:
        del lines
        self._faults.clear(order.pop("fault_kind", None))

    def _unplug(self, order: dict[str, Any], lines: Lines) -> None:
        for port in self._faults.find_lines(order):
            lines.unplug(port)

    def _replug(self, order: dict[str, Any], lines: Lines) -> object:
        for port in self._faults.find_lines(order):
            lines.replug(port)
        return lines.describe()
