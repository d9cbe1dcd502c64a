"""The packages that LeRobot finds: columns, errors, connecting again."""

import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

import lerobot_stub
import numpy as np
import pytest
import scripted_session
from lerobot_stub import DeviceAlreadyConnectedError, DeviceNotConnectedError

COMMAND = f"{sys.executable} {scripted_session.__file__}"
OBJECTS = "observation.environment_state"


@pytest.fixture
def make(monkeypatch):
    """Make robots of words, which are disconnected at the end."""
    lerobot_stub.install(monkeypatch)
    guest, made = import_module("lerobot_robot_paprle"), []

    def make_one(*words, timeout=20.0):
        config = guest.PaprleRobotConfig(
            command=COMMAND, words=list(words), timeout=timeout
        )
        made.append(guest.PaprleRobot(config))
        return made[-1]

    yield make_one
    for robot in made:
        robot.disconnect()


def wait_for(robot, name, value):
    end = time.monotonic() + 10.0
    while robot.get_observation()[name] != value:
        assert time.monotonic() < end, f"{name} is not {value}"
        time.sleep(0.01)


def test_features_are_known_before_it_is_connected(make):
    robot = make()

    assert robot.action_features == {"a.pos": float, "gripper.pos": float}
    assert robot.observation_features == {
        **robot.action_features, "front": (2, 3, 3),
    }  # fmt: skip
    assert len(robot.cameras) == 1
    assert robot.environment_features == {
        OBJECTS: {"dtype": "float32", "shape": (2,), "names": ["block.x", "block.y"]}
    }


def test_observations_have_all_features_and_the_objects_by_name(make):
    robot = make()
    robot.connect()

    seen = robot.get_observation()

    assert set(seen) == {*robot.observation_features, "block.x", "block.y"}
    assert (seen["a.pos"], seen["gripper.pos"]) == (1.0, 50.0)
    assert (seen["block.x"], seen["block.y"]) == (0.1, 0.2)
    image = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    np.testing.assert_array_equal(seen["front"], image)


def test_an_action_arrives_in_the_order_of_the_session(make):
    robot = make()
    robot.connect()
    action = {"gripper.pos": 20, "a.pos": np.float32(3.5)}

    assert robot.send_action(action) == action

    wait_for(robot, "a.pos", 3.5)
    assert robot.get_observation()["gripper.pos"] == 20.0


def test_an_action_without_a_joint_is_refused(make):
    robot = make()
    robot.connect()

    with pytest.raises(ValueError, match=r"got none of \['gripper.pos'\]"):
        robot.send_action({"a.pos": 1.0})


def test_before_connect_it_says_so(make):
    robot = make()

    assert not robot.is_connected
    for call in (
        robot.get_observation,
        lambda: robot.send_action({"a.pos": 0, "gripper.pos": 0}),
    ):
        with pytest.raises(DeviceNotConnectedError, match=r"`\.connect\(\)` first"):
            call()


def test_connecting_twice_is_refused(make):
    robot = make()
    robot.connect()

    with pytest.raises(DeviceAlreadyConnectedError):
        robot.connect()

    assert robot.get_observation()["a.pos"] == 1.0


def test_a_killed_session_is_an_error_and_can_be_connected_again(make):
    robot = make()
    robot.connect()
    folder = Path(robot._session._folder.name)
    os.kill(robot._session._process.pid, signal.SIGKILL)
    robot._session._process.wait(10.0)

    assert not robot.is_connected
    with pytest.raises(DeviceNotConnectedError, match="expected news"):
        robot.get_observation()
    with pytest.raises(DeviceNotConnectedError):
        robot.send_action({"a.pos": 0.0, "gripper.pos": 0.0})
    robot.connect()

    assert robot.get_observation()["a.pos"] == 1.0
    assert not folder.exists(), "the first session left nothing"


def test_old_news_are_an_error(make, monkeypatch):
    robot = make("mute")
    monkeypatch.setattr("lerobot_robot_paprle.session.OLDEST", 0.1)
    robot.connect()
    time.sleep(0.2)

    assert robot.is_connected
    with pytest.raises(DeviceNotConnectedError, match="got none for"):
        robot.get_observation()


@pytest.mark.parametrize(
    ("word", "timeout", "text"), [("ends", 20.0, "no arm at"), ("late", 0.3, "")]
)
def test_a_session_that_does_not_come_is_an_error_with_its_words(
    make, word, timeout, text
):
    robot = make(word, timeout=timeout)

    with pytest.raises(DeviceNotConnectedError, match=f"expected a session.*\n{text}"):
        robot.connect()

    assert not robot.is_connected


@pytest.mark.usefixtures("make")
def test_a_teleoperator_gives_what_the_session_sends():
    guest = import_module("lerobot_teleoperator_paprle")
    config = guest.PaprleTeleoperatorConfig(command=COMMAND, words=[])
    teleop = guest.PaprleTeleoperator(config)
    with pytest.raises(DeviceNotConnectedError):
        teleop.get_action()
    teleop.connect()
    try:
        assert teleop.get_action() == {"a.pos": 1.0, "gripper.pos": 50.0}
        assert set(teleop.action_features) == set(teleop.get_action())
    finally:
        teleop.disconnect()
    assert not teleop.is_connected
