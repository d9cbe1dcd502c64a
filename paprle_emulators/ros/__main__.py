"""An emulated robot behind ROS 2 or ROS 1: ros2_control's controllers and drives.

    python -m paprle_emulators.ros robot=piper [key=value …]

Keys:
    robot=NAME           a robot of PAPRLE (configs/follower), or a YAML  (piper)
    env=NAME             env of its topics  (ros2; ros1 over rospy)
    transport=KIND       auto, dds, rclpy or rospy  (auto)
    distro=NAME          humble, jazzy, kilted or noetic  (jazzy)
    domain=N  interface=NAME  namespace=NAME   of DDS; the loopback interface unless
                         another is named
    rate=HZ  state_rate=HZ   of controllers and joint states  (500, 200)
    physics=KIND         lag: first-order drives; mujoco: the URDF in MuJoCo  (lag)
    time_constant=S      of drives with a lag; 0: an echo, as fake hardware  (0.02)
    begins=WHERE         start of a trajectory: measured, as in ROS 2, or desired
    log=FILE             commands and motion, a JSON object per line
    fault=JSON           a fault from the start, as '{"fault":"lost"}'; may come
                         several times

It prints one JSON line, takes faults as JSON lines on standard input and answers each
with one: {"fault": "paused", "on": true}; README.md lists them. It ends on SIGTERM and
Ctrl-C. It needs paprle, whose transports it uses: pip install 'paprle-emulators[ros2]'.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from paprle.hardware.ros.bus import BusError
from paprle.hardware.ros.transports.choice import (
    NodeSettings,
    choose_transport,
    open_bus,
)
from paprle_emulators.notice import announce
from paprle_emulators.punctual import request_punctuality
from paprle_emulators.ros.controllers import BEGINS, STOCK
from paprle_emulators.ros.description import Description, load_description
from paprle_emulators.ros.drives import Drives, LagDrives, MujocoDrives
from paprle_emulators.ros.other import OtherNode
from paprle_emulators.ros.robot import EmulatedRobot, Log

_EPOCH_NS = 1_700_000_000 * 10**9  # [ns] chosen: its clock has a date, not ours


@dataclass(frozen=True)
class Options:
    """Options, as listed by the help."""

    robot: str = "piper"
    env: str = ""
    transport: str = "auto"
    distro: str = ""
    domain: str = ""
    interface: str = ""
    namespace: str = ""
    rate: float = 500.0
    state_rate: float = 200.0
    physics: str = "lag"
    time_constant: float = 0.02
    begins: str = STOCK
    log: str = ""
    faults: tuple[str, ...] = ()

    @property
    def is_ros1(self) -> bool:
        """Whether it uses ROS 1."""
        return "noetic" in {self.distro} or self.transport == "rospy"

    def load(self) -> Description:
        """Load the robot's files."""
        env = self.env or ("ros1" if self.is_ros1 else "ros2")
        if self.begins not in BEGINS:
            expected = " or ".join(BEGINS)
            raise ValueError(f"begins: expected {expected}, got '{self.begins}'")
        description = load_description(self.robot, env, self.namespace)
        return replace(description, begins=self.begins)

    def make_drives(self, description: Description) -> Drives:
        """Return its drives."""
        if self.physics == "mujoco":
            return MujocoDrives(description)
        if self.physics != "lag":
            raise ValueError(f"physics: expected lag or mujoco, got '{self.physics}'")
        return LagDrives(description, self.time_constant)

    def make_settings(self) -> NodeSettings:
        """Return the node settings."""
        settings = NodeSettings(
            distro=self.distro or ("noetic" if self.is_ros1 else "jazzy"),  # type: ignore[arg-type]
            transport=self.transport,  # type: ignore[arg-type]
            domain=int(self.domain) if self.domain else None,
            interface=self.interface or "auto",
        )
        if self.interface or choose_transport(settings) != "dds":
            return settings
        return replace(settings, interface="loopback")


def parse(words: list[str]) -> Options:
    """Return the options of ``key=value`` words.

    Raises:
        ValueError: If one is invalid.
    """
    values: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key == "fault" and equals:
            values["faults"] = (*values.get("faults", ()), value)
            continue
        kind = Options.__annotations__.get(key)
        if not equals or kind is None:
            known = ", ".join((*Options.__annotations__, "fault"))
            raise ValueError(f"argument: expected KEY=VALUE of {known}, got '{word}'")
        values[key] = float(value) if kind == "float" else value
    return Options(**values)


class Runner:
    """Steps the robot in real time."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._description = options.load()
        settings = options.make_settings()
        self._robot = EmulatedRobot(
            self._description,
            open_bus(settings, f"{Path(options.robot).stem}_robot"),
            Log(Path(options.log) if options.log else None),
            drives=options.make_drives(self._description),
            make_other=partial(OtherNode, settings),
            epoch_ns=_EPOCH_NS,
        )
        for fault in options.faults:
            self._switch(json.loads(fault))
        self._must_end = False
        self._rest = b""
        self._has_input = True

    def run(self) -> None:
        """Run until SIGTERM or SIGINT."""
        options = self._options
        env = Path(options.env).stem or ("ros1" if options.is_ros1 else "ros2")
        with announce("env", env, self._list_overrides(), Path(options.robot).stem):
            self._run()

    def _run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_end)
        self._say(self._describe())
        period_ns = round(1e9 / self._options.rate)
        state_ns = round(1e9 / self._options.state_rate)
        due_ns = due_state_ns = time.monotonic_ns()
        while not self._must_end:
            time.sleep(max(0, due_ns - time.monotonic_ns()) * 1e-9)
            now_ns = time.monotonic_ns()
            due_ns = max(due_ns + period_ns, now_ns)
            self._robot.step(now_ns)
            if now_ns >= due_state_ns:
                due_state_ns = max(due_state_ns + state_ns, now_ns)
                self._robot.publish()
            self._listen()
        self._robot.close()

    def _describe(self) -> dict[str, Any]:
        settings = self._options.make_settings()
        commands = self._description.commands
        return {
            "ready": True,
            "ports": {topic: kind for topic, (kind, _) in commands.items()},
            "overrides": self._list_overrides(),
            "robot": self._options.robot,
            "distro": settings.distro,
            "domain": settings.domain,
            "interface": settings.interface,
            "states": list(self._description.states),
            "commands": list(self._description.commands),
            "pid": os.getpid(),
        }

    def _list_overrides(self) -> list[str]:
        """Return overrides, unattended only on loopback."""
        # They accept a robot that nothing stops only where no real robot can hear the
        # session: on the loopback interface, or under a ROS 1 master of this machine.
        settings = self._options.make_settings()
        if self._options.is_ros1:
            master = urlsplit(
                os.environ.get("ROS_MASTER_URI", "http://localhost:11311")
            )
            is_local = master.hostname in {"localhost", "127.0.0.1", "::1"}
            return ["gate.accept_unattended=true"] * is_local
        overrides = [f"env.interface={settings.interface}"]
        if settings.domain is not None:
            overrides.append(f"env.domain={settings.domain}")
        if self._options.transport != "auto":
            overrides.append(f"env.transport={settings.transport}")
        is_local = settings.interface == "loopback"
        return [*overrides, *["gate.accept_unattended=true"] * is_local]

    def _listen(self) -> None:
        if not self._has_input or not select.select([sys.stdin], [], [], 0)[0]:
            return
        data = os.read(sys.stdin.fileno(), 4096)
        self._has_input = bool(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            try:
                order = json.loads(line)
                self._switch(order)
                self._say({"ok": True, "fault": order["fault"], "on": order["on"]})
            except (ValueError, KeyError, TypeError, BusError) as err:
                self._say({"ok": False, "error": f"{type(err).__name__}: {err}"})

    def _switch(self, order: dict[str, Any]) -> None:
        self._robot.switch(
            str(order["fault"]), is_on=bool(order.setdefault("on", True))
        )

    def _say(self, what: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()

    def _ask_end(self, *_: object) -> None:
        self._must_end = True


def main(words: list[str]) -> int:
    """Run the robot."""
    if {"-h", "--help"} & set(words):
        sys.stdout.write(f"{__doc__}\n")
        return 0
    request_punctuality()
    try:
        runner = Runner(parse(words))
    except (ValueError, BusError) as err:
        sys.stderr.write(f"ros emulator: {err}\n")
        return 2
    runner.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
