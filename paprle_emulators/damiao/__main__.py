"""An emulated arm of Damiao motors on a CAN bus of its own, for python-can.

    python -m paprle_emulators.damiao [key=value …]

Keys:
    model=NAME       openarm (seven joints and a hand) or yam (six and linear_4310)
                     (openarm)
    motion=PROGRAM   makes it a leader in a hand, which moves it once its motors carry
                     it: one of still, sines, chirp, reach, grasp_all, end, or a CSV or
                     NPZ file of joints; several with their seconds:
                     grasp_all:14,sines  (a follower, in nobody's hand)
    port=PATH        socket of the bus  (a new one in /tmp)
    log=FILE         every command and the arm's state, with the emulator's clock
    q=Q1,…           joints at the start, rad  (the home of the follower)
    weight=X         masses by the published ones  (1.04)
    timeout=S        of the motors, as they are delivered; 0: none  (0 or 0.4 by model)
    ideal=true       published masses, no noise, no frame late or lost
    fault=JSON       a fault from the start; may come several times

A client opens can.Bus(interface="emucan", channel=PATH). Motors have IDs 1 … 8 (yam: 7)
and answer at 0x11 …; the last is the gripper's. It prints one JSON line with its
endpoint, then takes JSON lines on standard input and answers each with one. Somebody
holds the arm where it starts until all its motors hold it; "hold" does so again:
    {"fault": "cable", "time": 0.3}        also silence, lost, late, garbage, rogue,
                                           error_frames, bus_off: for a time
    {"fault": "coil_hot", "joint": 2}      also over_voltage, under_voltage,
                                           over_current, mos_hot, communication,
                                           overload, disable, mute, warm, stuck, zero,
                                           push, hold, power_off, power_on, none
    {"fault": "block", "joint": 4, "high": 1.8}   an obstacle [low], rad
    {"fault": "motion", "program": "sines"}, {"fault": "let_go"}, {"fault": "grasp"}
                                           the hand, of a leader
It ends on SIGTERM and Ctrl-C. What it cannot show: arbitration, bus load, CAN FD.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from paprle_emulators.can_server import Server
from paprle_emulators.command_line import (
    Settings,
    read_number,
    read_one,
    say,
    take_settings,
)
from paprle_emulators.cycles import CycleLoop
from paprle_emulators.damiao.faults import Faults
from paprle_emulators.damiao.hand import Hand
from paprle_emulators.damiao.journal import Journal
from paprle_emulators.damiao.models import ARMS, MOTORS, ArmTable
from paprle_emulators.damiao.motor import QUIET, Motor, Noise
from paprle_emulators.damiao.plant import Plant
from paprle_emulators.notice import announce
from paprle_emulators.pace import Pace
from paprle_emulators.piper.protocol import Frame
from paprle_emulators.punctual import request_punctuality

_KEYS = ("model", "motion", "port", "log", "q", "weight", "timeout", "ideal", "fault")
_STEP_NS = 1_000_000  # [ns] chosen: a step of the plant; gains up to 500 stay stable
_LOG_STEPS = 5  # chosen: the journal has the state 200 times a second
_MOST_LATE = 50  # chosen: steps; after a longer pause of the machine, time is dropped
_LIMBS = {"openarm": "right", "yam": "arm"}  # spec: limbs of PAPRLE's leaders
_WEIGHT = 1.04  # chosen: cables and covers that no description has


@dataclass(frozen=True, slots=True)
class EmulatedArm:
    """An arm, led or not."""

    name: str
    plant: Plant
    motors: list[Motor]
    faults: Faults
    hand: Hand | None


class Emulator(CycleLoop):
    """Loop of arm, bus, faults and journal."""

    def __init__(self, arm: EmulatedArm, server: Server, journal: Journal) -> None:
        pace = Pace(_STEP_NS * 1e-9, most_late=_MOST_LATE)
        super().__init__(pace, server.selector, arm.faults, journal)
        self._plant, self._motors, self._faults = arm.plant, arm.motors, arm.faults
        self._hand = arm.hand
        self._server, self._journal, self._n = server, journal, 0
        self._late: list[tuple[int, int, Frame]] = []
        self._count = itertools.count()

    def _listen(self, timeout: float) -> None:
        for key, _ in self._selector.select(timeout):
            stamp = time.monotonic_ns()
            for frame in key.data() or ():
                self._take(frame, stamp)

    def _take(self, frame: Frame, stamp: int) -> None:
        if not self._faults.pass_in(stamp):
            return
        self._journal.write_command(stamp, frame)
        plant = self._plant
        for k, motor in enumerate(self._motors):
            state = np.array([plant.q[k], plant.dq[k], plant.tau[k]])
            answer = motor.take(frame, stamp, state)
            found = None if answer is None else self._faults.delay(answer)
            if found is None:
                continue
            if found[0] <= 0.0:
                self._server.send([found[1]])
            else:
                due = stamp + round(found[0] * 1e9)
                heapq.heappush(self._late, (due, next(self._count), found[1]))

    def _cycle(self, now_ns: int, n_skipped: int) -> None:  # noqa: ARG002 - dropped
        plant, dt = self._plant, _STEP_NS * 1e-9
        for k, motor in enumerate(self._motors):
            motor.step(now_ns, float(plant.tau[k]), dt)
        if self._hand is not None:
            self._hand.step(dt)
        plant.step(np.array([motor.law for motor in self._motors]).T, dt)
        self._faults.pass_in(now_ns)
        while self._late and self._late[0][0] <= now_ns:
            self._server.send([heapq.heappop(self._late)[2]])
        self._n += 1
        if self._n % _LOG_STEPS == 0:
            self._server.send(self._faults.list_others())
            self._journal.write_arm(now_ns, plant, self._motors)
            if self._hand is not None:
                self._journal.write_hand(now_ns, plant)


def make_arm(settings: Settings) -> EmulatedArm:
    """Return an arm by its settings.

    Raises:
        ValueError: If one is invalid.
    """
    name = read_one(settings, "model", "openarm")
    if name not in ARMS:
        raise ValueError(f"model: expected one of {', '.join(ARMS)}, got '{name}'")
    is_ideal = read_one(settings, "ideal", "false") == "true"
    table = replace(ARMS[name], timeout=read_number(
        settings, "timeout", ARMS[name].timeout
    ))  # fmt: skip
    weight = read_number(settings, "weight", 1.0 if is_ideal else _WEIGHT)
    plant = Plant(table, _read_posture(settings, table), weight)
    plant.is_held = True
    noise = QUIET if is_ideal else Noise()
    motors = [
        Motor(k, MOTORS[kind], table.timeout, k, noise)
        for k, kind in enumerate(table.motors, start=1)
    ]
    program = read_one(settings, "motion", "")
    hand = Hand(table, plant, program) if program else None
    faults = Faults(plant, motors, hand, is_ideal=is_ideal)
    for fault in settings["fault"]:
        faults.apply(time.monotonic_ns(), json.loads(fault))
    return EmulatedArm(name, plant, motors, faults, hand)


def _read_posture(settings: Settings, table: ArmTable) -> np.ndarray:
    words = read_one(settings, "q", "")
    q = np.array([float(word) for word in words.split(",")] if words else table.q)
    if q.shape != (table.n,):
        raise ValueError(f"q: expected {table.n} positions, got {len(q)}")
    return q


class _Notice(NamedTuple):
    part: Literal["leader", "env"]
    name: str
    overrides: list[str]
    follower: str


def make_notice(arm: EmulatedArm, path: str) -> _Notice:
    """Return the notice of a leader or env."""
    if arm.hand is None:
        overrides = ["env.interface=emucan", f"env.channel={path}"]
        return _Notice("env", "damiao", overrides, arm.name)
    channel = f"leader.limbs.{_LIMBS[arm.name]}.channel={path}"
    return _Notice("leader", arm.name, ["leader.interface=emucan", channel], "")


def main(args: list[str]) -> int:
    """Run the arm."""
    if {"-h", "--help"} & set(args):
        say(str(__doc__))
        return 0
    request_punctuality()
    try:
        settings = take_settings(args, _KEYS)
        arm = make_arm(settings)
    except ValueError as err:
        sys.stderr.write(f"damiao emulator: {err}\n")
        return 2
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="damiao-"))
        path = read_one(settings, "port", str(Path(folder) / "can"))
        log = None
        try:
            if settings["log"]:
                file = Path(settings["log"][0]).open("w", encoding="ascii")  # noqa: SIM115
                log = stack.enter_context(file)
            server = Server(path)
        except OSError as err:  # no such folder, a path too long, one that is served
            sys.stderr.write(f"damiao emulator: {path}: {err}\n")
            return 2
        stack.callback(server.close)
        notice = make_notice(arm, path)
        overrides = notice.overrides
        stack.enter_context(announce(*notice))
        endpoint = {"interface": "emucan", "channel": path, "overrides": overrides}
        say(json.dumps({"ready": True, "ports": {"can": path}, **endpoint}))
        Emulator(arm, server, Journal(log)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
