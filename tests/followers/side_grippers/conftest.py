"""Each emulated arm with an emulated 2F-85 on a serial line beside it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from damiao_rig import EmulatedDamiao
from damiao_rig import load_robot as load_damiao
from driven_rig import run_driven
from dynamixel_arm import resolve_robot
from emulated_feetech import run_feetech
from franka_rig import running_franka
from piper_rig import EmulatedPiper, RealClock, load
from robotiq_hand import carry
from ros_memory import MemoryGraph, MemoryRobot, make_config
from so101_arm import load_robot as load_feetech
from ur_rig import EmulatedUr
from xarm_rig import EmulatedXArm

from paprle.contracts.settings.robotiq import RobotiqSettings
from paprle.followers.damiao.config import DamiaoConfig
from paprle.followers.damiao.follower import DamiaoFollower
from paprle.followers.dynamixel.follower import DynamixelFollower
from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.follower import FeetechFollower
from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.follower import FrankaFollower
from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.follower import PiperFollower
from paprle.followers.ros2 import follower as ros
from paprle.followers.ros2.follower import RosFollower
from paprle.followers.ur.config import UrConfig
from paprle.followers.ur.follower import UrFollower
from paprle.followers.xarm.config import XArmConfig
from paprle.followers.xarm.follower import XArmFollower
from paprle_emulators import start

PERIOD = 0.005  # [s]
XARM_HOME = "0,-0.2007,0,0.8064,0,1.0069,0"


@dataclass
class Side:
    """A follower with its gripper, and a clock that its arm knows.

    Attributes:
        hand: The emulated gripper.
        hand_log: What it noted.
        arm: The emulated arm.
    """

    follower: Any
    hand: Any
    hand_log: Path
    arm: Any
    clock: Any

    @property
    def finger(self):
        """The gripper's joint in the robot."""
        robot = self.follower.robot
        return robot.joint_names.index(robot.limbs[0].gripper.joint)

    def cycle(self, q, *, until=None, time_s=5.0):
        """Write q for a time or until a state is as asked; return the last."""
        for _ in range(round(time_s / PERIOD)):
            state = self.follower.read()
            if until is not None and until(state):
                break
            self.follower.write(q)
            self.clock.advance(PERIOD)
        return state


class GraphClock:
    """Time of a graph in memory; the gripper's is real."""

    def __init__(self, graph):
        self._graph = graph

    def __call__(self):
        return self._graph.clock()

    def advance(self, dt):
        for _ in range(2):
            self._graph.tick(dt / 2)
        time.sleep(dt)


@contextmanager
def run_can(folder, hand, _):
    pytest.importorskip("piper_sdk")
    arm, clock = EmulatedPiper(folder), RealClock()
    config = PiperConfig(interface="emucan", channel=arm.channel, robotiq=hand)
    yield PiperFollower(config, carry(load("piper")), clock), arm, clock
    arm.end()


@contextmanager
def run_damiao(folder, hand, _):
    pytest.importorskip("can")
    arm, clock = EmulatedDamiao(folder, "yam"), RealClock()
    config = DamiaoConfig(
        model="yam",
        interface="emucan",
        channel=arm.channel,
        descent=0.1,
        robotiq=hand,
    )
    yield DamiaoFollower(config, carry(load_damiao("yam")), clock), arm, clock
    arm.end()


@contextmanager
def run_dynamixel(folder, hand, _):
    pytest.importorskip("dynamixel_sdk")
    name, clock = "open_manipulator_x", RealClock()
    with run_driven(folder / "ports", name) as arm:
        port = arm.port("follower")
        robot, config = resolve_robot(name, f"env.port={port}", "env.timeout=0.03")
        (limb,) = robot.limbs
        ids = {joint: config.ids[joint] for joint in limb.joint_names}
        config = replace(config, ids=ids, robotiq=hand)
        yield DynamixelFollower(config, carry(robot), clock), arm, clock


@contextmanager
def run_so101(folder, hand, _):
    pytest.importorskip("scservo_sdk")
    clock = RealClock()
    with run_feetech(folder / "ports") as arm:
        config = FeetechConfig(port=arm.port("follower"), robotiq=hand)
        yield FeetechFollower(config, carry(load_feetech("so101")), clock), arm, clock


@contextmanager
def run_ros(_, hand, monkeypatch):
    graph = MemoryGraph()
    arm, clock = MemoryRobot(graph), GraphClock(graph)
    monkeypatch.setattr(ros, "open_bus", lambda *_: graph.join("gate"))
    words = {"env.timeout": 0.5, "env.commands.arm_gripper": "null"}
    config = replace(make_config(**words), robotiq=hand)
    yield RosFollower(config, carry(load("piper")), graph.clock), arm, clock


@contextmanager
def run_ur(folder, hand, _):
    pytest.importorskip("rtde_control")
    with EmulatedUr(folder) as arm:
        config = UrConfig(host=arm.host, rate=1.0 / PERIOD, robotiq=hand)
        clock = RealClock()
        yield UrFollower(config, load("ur5e_2f85"), clock), arm, clock


@contextmanager
def run_xarm(folder, hand, _):
    pytest.importorskip("xarm")
    arm, clock = EmulatedXArm(folder, q=XARM_HOME), RealClock()
    config = XArmConfig(host=arm.host, robotiq=hand)
    yield XArmFollower(config, load("xarm7_2f85"), clock), arm, clock
    arm.end()


@contextmanager
def run_franka(folder, hand, _):
    pytest.importorskip("pylibfranka")
    with running_franka(folder) as arm:
        config, clock = FrankaConfig(host=arm.host, robotiq=hand), RealClock()
        yield FrankaFollower(config, load("fr3_2f85"), clock), arm, clock


RIGS = {
    "can": run_can,
    "damiao": run_damiao,
    "dynamixel": run_dynamixel,
    "feetech": run_so101,
    "ros2": run_ros,
    "ur": run_ur,
    "xarm": run_xarm,
    "franka": run_franka,
}
MAKERS = ("ur", "xarm", "franka")  # have tests of their own, too


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.nightly] * (name in MAKERS))
        for name in RIGS
    ]
)
def env(request):
    return request.param


@pytest.fixture
def activates():
    return True


@pytest.fixture
def side(env, activates, tmp_path, monkeypatch):
    pytest.importorskip("serial")
    log = tmp_path / "hand.log"
    with start("robotiq", model="2f85", log=log, port=tmp_path / "hand") as hand:
        wishes = RobotiqSettings(model="2f85", port=hand.port, activates=activates)
        with RIGS[env](tmp_path, wishes, monkeypatch) as (follower, arm, clock):
            yield Side(follower, hand, log, arm, clock)
            follower.close("hold")
