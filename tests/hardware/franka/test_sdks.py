"""SDKs behind one interface, and a process of theirs that says nothing more."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from paprle.hardware.franka import arm as arm_module
from paprle.hardware.franka import sdks
from paprle.hardware.franka.arm import FrankaArm, FrankaSettings
from paprle.hardware.franka.messages import Mode, State, pack_news
from paprle.hardware.franka.models import MODELS

PANDA = MODELS["panda"]


class WrongVersion(RuntimeError):
    server_version = 10


class Robot:
    """A robot of an SDK that refuses what a test says."""

    refusal: Exception | None = None
    version = 5

    def __init__(self, *_):
        if isinstance(self.refusal, WrongVersion):
            raise self.refusal

    def server_version(self):
        return self.version

    def control_joint_position(self, callback, *how):
        assert how[1:] == (False, 1000.0), "nothing changes a command"
        if self.refusal is not None:
            raise self.refusal
        self.sent = []
        for n in (0, 1, 1, 2):
            elapsed = SimpleNamespace(to_msec=lambda n=n: n)
            self.sent.append(callback(SimpleNamespace(), elapsed))
            if self.sent[-1].motion_finished:
                return


@pytest.fixture
def robot(monkeypatch):
    class Own(Robot):
        pass

    modes = {f"k{name}": name for name in sdks._MODES}
    sdk = SimpleNamespace(
        Robot=Own,
        RobotMode=SimpleNamespace(**modes),
        RealtimeConfig=SimpleNamespace(kIgnore=0),
        ControllerMode=SimpleNamespace(kJointImpedance=0),
        JointPositions=lambda q: SimpleNamespace(q=q, motion_finished=False),
    )
    monkeypatch.setattr(sdks, "load_sdk", lambda _: sdk)
    return Own


def test_a_build_of_the_sdk_for_another_arm_opens_none(robot):
    robot.version = 10

    with pytest.raises(sdks.OtherVersion) as found:
        sdks.connect(PANDA, "")

    assert found.value.version == 10


def test_the_version_of_a_unit_that_refuses_is_known(robot):
    robot.refusal = WrongVersion()

    with pytest.raises(sdks.OtherVersion) as found:
        sdks.connect(PANDA, "")

    assert found.value.version == 10


@pytest.mark.usefixtures("robot")
def test_a_stream_ends_with_its_last_step():
    connection, noted = sdks.connect(PANDA, ""), []
    steps = iter([([0.0] * 7, False), ([1.0] * 7, False), ([2.0] * 7, True)])
    cycles = []

    def step(_, n):
        cycles.append(n)
        return next(steps)

    connection.stream(step, lambda: noted.append(len(cycles)))

    assert cycles == [0, 1, 1]
    assert noted == [1, 2, 3]
    assert [command.q[0] for command in connection._robot.sent] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("libfranka: Move command rejected: command not possible", sdks.Refused),
        ("libfranka: Move command aborted: motion aborted by reflex!", sdks.Ended),
        ("libfranka: UDP receive: Timeout", sdks.Ended),
    ],
)
def test_a_motion_that_did_not_begin_is_told_from_one_that_ended(robot, text, kind):
    connection = sdks.connect(PANDA, "")
    robot.refusal = RuntimeError(text)

    with pytest.raises(kind, match=text.removeprefix("libfranka: ")):
        connection.stream(lambda *_: ([0.0] * 7, True), lambda: None)


class Process:
    """A process whose messages a test gives."""

    is_alive, is_killed = True, False

    def __init__(self):
        self.news = []

    def receive(self):
        news, self.news = self.news, []
        return iter(news)

    def kill(self):
        self.is_killed = True


def make_state(*, is_streaming):
    zero = np.zeros(7)
    return pack_news(
        State(0, 0, Mode.MOVE, is_streaming, 1.0, 0, zero, zero, zero, zero)
    )


@pytest.mark.parametrize("is_streaming", [True, False])
def test_a_process_that_is_silent_in_a_motion_is_ended(monkeypatch, is_streaming):
    arm = FrankaArm(FrankaSettings(host="127.0.0.1"), lambda: 0)
    arm._process = process = Process()
    clock = itertools.count(step=0.01)
    monkeypatch.setattr(arm_module.time, "monotonic", lambda: next(clock))
    process.news = [make_state(is_streaming=is_streaming)]

    for _ in range(300):
        arm._receive()

    assert process.is_killed is is_streaming
    assert ("no state for 2 s" in arm._judge().detail) is is_streaming


def test_a_pause_of_the_owner_is_no_silence(monkeypatch):
    arm = FrankaArm(FrankaSettings(host="127.0.0.1"), lambda: 0)
    arm._process = process = Process()
    clock = itertools.count(step=60.0)
    monkeypatch.setattr(arm_module.time, "monotonic", lambda: next(clock))
    process.news = [make_state(is_streaming=True)]

    for _ in range(10):
        arm._receive()

    assert not process.is_killed
