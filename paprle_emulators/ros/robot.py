"""Emulated robot."""

from __future__ import annotations

import json
import os
import random
from collections import deque
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.bus import LATCHED, Bus, Publisher
from paprle_emulators.ros.controllers import (
    CONTROLLERS,
    Controller,
    TrajectoryController,
)
from paprle_emulators.ros.description import Description
from paprle_emulators.ros.drives import Drives
from paprle_emulators.ros.wire import (
    BOOL,
    COMMANDS,
    CONTROLLER_STATE,
    GOALS,
    JOINT_STATE,
    Joints,
    write_bool,
    write_controller_state,
    write_joint_state,
)

Vec = npt.NDArray[np.float64]

FAULTS = (
    "paused",
    "silent",
    "delayed",
    "stuck",
    "reordered",
    "mislabelled",
    "degrees",
    "wrapped",
    "no_velocities",
    "zero_velocities",
    "nan",
    "garbage",
    "lost",
    "ignoring",
    "inactive",
    "protective_stop",
    "twice",
    "rogue",
)
"""Parts that can be switched on and off; ``killed`` ends the process at once."""

_DELAY_NS = 300_000_000  # [ns] chosen: more than the 250 ms after which a robot stops
_KEPT = 0.3  # [1] chosen: states that are not lost; gaps of 20 ms are frequent then


class Other(Protocol):
    """A node that publishes one topic."""

    def publish(self, data: bytes) -> None:
        """Send a message."""

    def close(self) -> None:
        """Leave the graph."""


class Log:
    """Messages and motion as JSON lines."""

    def __init__(self, path: Path | None) -> None:
        self._file: TextIO | None = None
        if path is not None:
            self._file = path.open("w", buffering=1, encoding="utf-8")

    def write(self, kind: str, t_ns: int, **values: Any) -> None:
        """Write an entry."""
        if self._file is not None:
            entry = {"kind": kind, "t_ns": t_ns, **values}
            self._file.write(json.dumps(entry) + "\n")

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class EmulatedRobot:
    """A robot on a bus."""

    def __init__(
        self,
        description: Description,
        bus: Bus,
        log: Log,
        *,
        drives: Drives,
        make_other: Callable[[str, str], Other],
        epoch_ns: int = 0,
    ) -> None:
        self._description, self._bus, self._log = description, bus, log
        self._drives = drives
        self._make_other, self._epoch_ns = make_other, epoch_ns
        self._faults: set[str] = set()
        self._others: dict[str, Other] = {}
        self._random = random.Random(0)
        self._now_ns = 0
        self._measured: deque[tuple[int, Joints]] = deque()
        self._controllers: list[tuple[Controller, list[int]]] = []
        self._told: list[tuple[Publisher, Controller]] = []
        for topic, (kind, joints) in description.commands.items():
            ids = [description.joints.index(name) for name in joints]
            controller = self._make_controller(kind, joints, self.q[ids])
            self._controllers.append((controller, ids))
            self._serve(bus, topic, kind, self._make_intake(topic, controller))
            if kind == "trajectory" and not bus.codec.is_ros1:
                told = topic.removesuffix("/joint_trajectory") + "/controller_state"
                self._told.append((bus.advertise(told, CONTROLLER_STATE), controller))
        self._states = [
            bus.advertise(topic, JOINT_STATE) for topic in description.states
        ]
        self._running: Publisher | None = None
        if description.running:
            self._running = bus.advertise(description.running, BOOL, LATCHED)
            self._running.publish(write_bool(bus.codec, True))

    def _make_controller(
        self, kind: str, joints: tuple[str, ...], q: Vec
    ) -> Controller:
        if kind == "trajectory":
            # spec: ros_controllers: those of ROS 1 know the desired state alone
            is_stock = not self._bus.codec.is_ros1
            begins = self._description.begins if is_stock else "desired"
            return TrajectoryController(joints, q, begins=begins)
        return CONTROLLERS[kind](joints, q)

    def _serve(
        self, bus: Bus, topic: str, kind: str, intake: Callable[[bytes], None]
    ) -> None:
        if kind not in GOALS:
            bus.subscribe(topic, COMMANDS[kind], intake)
        elif bus.codec.is_ros1:  # an action of ROS 2 cannot be served over DDS alone
            bus.subscribe(f"{topic}/goal", GOALS[kind][0], intake)

    @property
    def q(self) -> Vec:
        """Positions (n,), in ROS's units."""
        return self._drives.q

    @property
    def dq(self) -> Vec:
        """Velocities (n,)."""
        return self._drives.dq

    def step(self, now_ns: int) -> None:
        """Advance to a time, [ns]."""
        before_ns, self._now_ns = self._now_ns, now_ns
        dt = (now_ns - before_ns) * 1e-9 if before_ns else 0.0
        if "paused" in self._faults:
            return
        self._bus.poll()
        desired = self.q.copy()
        for controller, ids in self._controllers:
            if "protective_stop" not in self._faults:
                controller.update(now_ns, self.q[ids], self.dq[ids])
            desired[ids] = controller.q
        if dt > 0.0:
            self._drives.step(desired, dt)
        self._log.write("motion", now_ns, q=self.q.tolist(), q_des=desired.tolist())

    def publish(self) -> None:
        """Publish joint states."""
        if "paused" in self._faults:
            return
        if "inactive" not in self._faults:
            self._tell_controllers()
        if "silent" in self._faults:
            return
        if "lost" in self._faults and self._random.random() > _KEPT:
            return
        joints = self._spoil(self._choose_state())
        if joints is None:
            return
        data = write_joint_state(self._bus.codec, joints)
        for publisher in self._states:
            publisher.publish(data)
        if "twice" in self._others:
            self._others["twice"].publish(data)

    def _tell_controllers(self) -> None:
        for publisher, controller in self._told:
            names, q = controller.joints, controller.q
            publisher.publish(write_controller_state(self._bus.codec, names, q))

    def switch(self, fault: str, *, is_on: bool) -> None:
        """Begin or end a fault of ``FAULTS``, or ``killed``.

        Raises:
            ValueError: If unknown.
        """
        if fault == "killed":
            os._exit(9)
        if fault not in FAULTS:
            raise ValueError(
                f"fault: expected one of {', '.join(FAULTS)}, killed; got '{fault}'"
            )
        if fault in {"twice", "rogue"} and is_on != (fault in self._others):
            self._switch_other(fault, is_on=is_on)
        (self._faults.add if is_on else self._faults.discard)(fault)
        if fault == "protective_stop":
            self._stop_or_restart(is_on=is_on)
        self._log.write("fault", self._now_ns, name=fault, on=is_on)

    def close(self) -> None:
        """Leave the graph."""
        for other in self._others.values():
            other.close()
        self._bus.close()
        self._log.close()

    def _make_intake(
        self, topic: str, controller: Controller
    ) -> Callable[[bytes], None]:
        def take(data: bytes) -> None:
            is_deaf = bool(self._faults & {"protective_stop", "ignoring", "inactive"})
            taken = copy(controller) if is_deaf else controller
            try:
                q = taken.accept(self._bus.codec, data, self._now_ns)
            except ValueError as err:
                self._log.write("refused", self._now_ns, topic=topic, why=str(err))
                return
            self._log.write(
                "command",
                self._now_ns,
                topic=topic,
                joints=list(controller.joints),
                q=q.tolist(),
                is_ignored=is_deaf,
            )

        return take

    def _choose_state(self) -> Joints | None:
        names, moved = self._description.joints, self._drives
        stamp_ns = self._now_ns + self._epoch_ns
        if "stuck" in self._faults and self._measured:
            told = self._measured[-1][1]
            return Joints(names, told.q, told.dq, told.tau, stamp_ns)
        measured = Joints(names, moved.q, moved.dq, moved.tau, stamp_ns)
        if "delayed" not in self._faults:
            self._measured.clear()
            self._measured.append((self._now_ns, measured))
            return measured
        self._measured.append((self._now_ns, measured))
        if self._now_ns - self._measured[0][0] < _DELAY_NS:
            return None
        return self._measured.popleft()[1]

    def _spoil(self, joints: Joints | None) -> Joints | None:
        if joints is None:
            return None
        names, q, dq, tau = joints.names, joints.q, joints.dq, joints.tau
        if "reordered" in self._faults:
            names, q, dq, tau = names[::-1], q[::-1], dq[::-1], tau[::-1]
        if "mislabelled" in self._faults:
            q, dq, tau = q[::-1], dq[::-1], tau[::-1]
        if "degrees" in self._faults:
            q, dq = np.rad2deg(q), np.rad2deg(dq)
        if "wrapped" in self._faults:
            q = (q + np.pi) % (2.0 * np.pi) - np.pi
        if "no_velocities" in self._faults:
            dq = np.full_like(q, np.nan)
        if "zero_velocities" in self._faults:
            dq = np.zeros_like(q)
        if "nan" in self._faults:
            q = np.full_like(q, np.nan)
        if "garbage" in self._faults:
            names, q = self._random.choice(_make_garbage(names, q))
            dq = tau = np.zeros(0)
        return Joints(names, q, dq, tau, joints.stamp_ns)

    def _switch_other(self, fault: str, *, is_on: bool) -> None:
        if not is_on:
            self._others.pop(fault).close()
        elif fault == "twice":
            self._others[fault] = self._make_other(
                self._description.states[0], JOINT_STATE
            )
        else:
            topic, (kind, _) = next(iter(self._description.commands.items()))
            self._others[fault] = self._make_other(topic, _find_type(kind))

    def _stop_or_restart(self, *, is_on: bool) -> None:
        for controller, ids in self._controllers:
            controller.restart(self.q[ids])
        if self._running is not None:
            self._running.publish(write_bool(self._bus.codec, not is_on))


def _find_type(kind: str) -> str:
    return COMMANDS[kind] if kind in COMMANDS else GOALS[kind][0]


def _make_garbage(
    names: tuple[str, ...], q: Vec
) -> tuple[tuple[tuple[str, ...], Vec], ...]:
    return (
        (names, q[:-1]),
        (names, np.zeros(0)),
        ((names[0],) * len(names), q),
        ((), q),
    )
