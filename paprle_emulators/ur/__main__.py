"""An emulated Universal Robots arm, for ur_rtde and UR's RTDE client.

    python -m paprle_emulators.ur [key=value …]

Keys:
    model=NAME       ur3e, ur5e, ur10e, ur16e, ur20 or ur30  (ur5e)
    host=ADDRESS     address of its ports; one of 127.0.0.0/8 for each robot, as clients
                     do not choose ports  (a free one)
    port=ADDRESS     the same
    log=FILE         every goal, the arm's state and events, with stamps
    q=Q1,…,Q6        joints at the start, rad  (0,-1.57,1.57,-1.57,-1.57,0)
    gripper=NAME     none, or a Robotiq gripper behind its URCap at port 63352: 2f85,
                     2f140 or hande; not activated, as after power on  (none)
    fault=JSON       a fault from the start; may come several times

Ports 30004 (RTDE, version 2, 500 Hz), 29999 (dashboard), 30001 (messages, scripts),
30002 and 30003 (scripts). It
prints one JSON line with its address, then takes JSON lines on standard input and
answers each with one:
    {"fault": "estop"}, {"fault": "system_estop"}, {"fault": "estop_release"}
                                                    then power_on
    {"fault": "violation"}, {"fault": "safety_fault"}, {"fault": "restart_safety"}
                                                    then power_on
    {"fault": "recovery"}, {"fault": "recovered"}    outside its safety limits
    {"fault": "protective_stop"}, {"fault": "unlock"}
    {"fault": "safeguard"}, {"fault": "safeguard_reset"}
    {"fault": "local"}, {"fault": "remote"}
    {"fault": "power_off"}, {"fault": "power_on"}, {"fault": "program_stop"}
    {"fault": "slider", "fraction": 0.5}
    {"fault": "wrench", "values": [0, 0, -20, 0, 0, 0]}
    {"fault": "push", "joint": 1, "by": 0.1}    at once, against its motors
    {"fault": "lead", "joint": 1, "by": 0.1, "time": 0.5}    by hand, in teach mode
    {"fault": "input", "number": 0, "is_on": true}    a digital input, 0 to 17
    {"fault": "unplug", "time": 0.5}, {"fault": "replug"}   the network cable
    {"fault": "power_loss", "time": 2}
    {"fault": "late", "by": 0.05, "time": 1}, {"fault": "stall", "time": 0.2}
    {"fault": "gripper_activate"}    as at the pendant: it opens and closes
    {"fault": "gripper_reset"}, {"fault": "gripper_object", "opening": 0.03}
    {"fault": "gripper_fault", "kind": "hot"}    also voltage, current, activation,
                                                 internal, releasing, none
    {"fault": "none"}
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

import numpy as np

from paprle_emulators.command_line import read_one, say, take_settings
from paprle_emulators.notice import announce
from paprle_emulators.punctual import request_punctuality
from paprle_emulators.robotiq.faults import GripperFaults
from paprle_emulators.robotiq.gripper import EmulatedGripper
from paprle_emulators.robotiq.urcap import PORT as URCAP
from paprle_emulators.robotiq.urcap import UrcapSession
from paprle_emulators.ur.controller import DT, Controller, RobotMode
from paprle_emulators.ur.dashboard import Dashboard
from paprle_emulators.ur.faults import Faults
from paprle_emulators.ur.journal import Journal
from paprle_emulators.ur.models import MODELS, N_JOINTS
from paprle_emulators.ur.rtde import RtdeClient
from paprle_emulators.ur.server import Server, Session
from paprle_emulators.ur.sessions import (
    DashboardSession,
    PrimarySession,
    ScriptSession,
)

KEYS = ("model", "host", "port", "log", "q", "gripper", "fault")
RTDE, DASHBOARD, PRIMARY, SCRIPTS = 30004, 29999, 30001, (30002, 30003)  # spec: UR
_HOME = "0,-1.5708,1.5708,-1.5708,-1.5708,0"
_MOST_LATE = 10  # [cycles] chosen: after a longer pause of the machine, time is dropped
_N_ADDRESSES = 200  # chosen: tried, from one that the process id gives


class Emulator:
    """Loop of robot, ports, faults and journal."""

    def __init__(
        self, model: str, q: str, host: str, journal: Journal, gripper: str = "none"
    ) -> None:
        """Build a robot of joints [rad] and listen at a host, or a free one.

        Raises:
            ValueError: If model or joints are invalid.
            OSError: If the ports are in use.
        """
        if model not in MODELS:
            raise ValueError(f"model: expected {', '.join(MODELS)}, got '{model}'")
        joints = np.array([float(word) for word in q.split(",")])
        if joints.shape != (N_JOINTS,) or not np.isfinite(joints).all():
            raise ValueError(f"q: expected {N_JOINTS} numbers, got '{q}'")
        self._journal = journal
        note = journal.write_event
        self._controller = Controller(MODELS[model], joints, note)
        self._dashboard = Dashboard(self._controller, model)
        claims: dict[str, object] = {}

        def make_rtde() -> Session:
            return RtdeClient(self._controller, claims, journal.write_goal)

        def make_script() -> Session:
            return ScriptSession(self._controller.start_script)

        ports: dict[int, Callable[[], Session]] = {
            RTDE: make_rtde,
            DASHBOARD: lambda: DashboardSession(self._dashboard, note),
            PRIMARY: lambda: PrimarySession(self._controller),
            **dict.fromkeys(SCRIPTS, make_script),
        }
        self._gripper = None
        more: Mapping[str, Callable[..., None]] = {}
        if gripper != "none":
            self._gripper = hand = EmulatedGripper(gripper, note)
            ports[URCAP] = lambda: UrcapSession(hand, lambda: self._has_tool_power)
            more = GripperFaults(hand).orders
        self.host, self._server = _listen(host, ports)
        self.faults = Faults(self._controller, self._server, more)
        self._must_end = False
        self._rest = b""

    @property
    def _has_tool_power(self) -> bool:
        return self._controller.robot_mode is not RobotMode.POWER_OFF

    def heed_signals(self) -> None:
        """End on SIGTERM and SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)

    def run(self) -> None:
        """Run until stopped."""
        with contextlib.suppress(PermissionError, ValueError):  # a file has no orders
            self._server.selector.register(
                sys.stdin, selectors.EVENT_READ, self._take_stdin
            )
        due = time.monotonic()
        while not self._must_end:
            self._server.serve(max(0.0, due - time.monotonic()))
            now = time.monotonic()
            if now < due:
                continue
            if self.faults.stalled > 0.0:
                time.sleep(self.faults.stalled)
                self.faults.stalled, now = 0.0, time.monotonic()
            self._controller.step()
            self._step_gripper()
            self.faults.step()
            self._server.send()
            self._journal.write_arm(self._controller)
            dropped = max(0.0, now - _MOST_LATE * DT - (due + DT))
            self._controller.time += dropped  # its clock does not stand still
            due += DT + dropped
        self._server.close()

    def _step_gripper(self) -> None:
        gripper = self._gripper
        if gripper is None:
            return
        if not self._has_tool_power and gripper.outputs["ACT"]:
            gripper.lose_power()
        gripper.step(DT)

    def _take_stdin(self) -> None:
        data = os.read(sys.stdin.fileno(), 65536)
        if not data:
            self._server.selector.unregister(sys.stdin)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self._obey(line.decode(errors="replace"))

    def _obey(self, line: str) -> None:
        stamp = time.monotonic_ns()
        try:
            order = json.loads(line)
            if not isinstance(order, dict):
                raise ValueError(f"expected a JSON object, got {line!r}")
            self.faults.apply(order)
        except (ValueError, OSError) as err:
            say(json.dumps({"ok": False, "error": str(err)}))
            return
        self._journal.write_event(f"order {line}")
        say(json.dumps({"ok": True, "done": order["fault"], "stamp_ns": stamp}))

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True


def _listen(host: str, ports: dict[int, Callable[[], Session]]) -> tuple[str, Server]:
    """Return an address and its server; raise OSError if none is free."""
    if host:
        return host, Server(host, ports)
    for number in range(os.getpid(), os.getpid() + _N_ADDRESSES):
        address = f"127.{30 + number % 97}.{1 + number // 97 % 250}.{1 + number % 250}"
        with contextlib.suppress(OSError):
            return address, Server(address, ports)
    raise OSError("expected a free address of 127.0.0.0/8, got none")


def main(words: list[str]) -> int:
    """Run the robot."""
    if {"-h", "--help", "help"} & set(words):
        say(__doc__ or "")
        return 0
    request_punctuality()
    with contextlib.ExitStack() as stack:
        try:
            settings = take_settings(words, KEYS)
            log = None
            if settings["log"]:
                path = Path(settings["log"][0])
                log = stack.enter_context(path.open("w", encoding="utf-8"))
            model = read_one(settings, "model", "ur5e")
            host = read_one(settings, "host", read_one(settings, "port", ""))
            joints = read_one(settings, "q", _HOME)
            hand = read_one(settings, "gripper", "none")
            emulator = Emulator(model, joints, host, Journal(log), hand)
            for fault in settings["fault"]:
                emulator.faults.apply(json.loads(fault))
        except (ValueError, OSError) as err:
            sys.stderr.write(f"ur emulator: {err}\n")
            return 2
        emulator.heed_signals()
        overrides = [f"env.host={emulator.host}"]
        robot = model if hand == "none" else f"{model}_{hand}"
        stack.enter_context(announce("env", "ur", overrides, robot))
        ports = {"rtde": emulator.host}
        told = {"host": emulator.host, "model": model, "overrides": overrides}
        say(json.dumps({"ready": True, "ports": ports, **told}))
        emulator.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
