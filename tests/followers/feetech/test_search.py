"""The search for arms reads, and leaves servos as they are."""

import numpy as np
import pytest

from paprle.contracts.errors import DeviceError
from paprle.followers.feetech.follower import FeetechFollower
from paprle.hardware.feetech.calibration import name_file

pytestmark = pytest.mark.timed  # a busy machine makes servos silent


@pytest.fixture
def search():
    return FeetechFollower.search()


def find_servos(arm):
    return arm.rig.limbs["follower"].servos


def test_a_calibrated_arm_is_found_limp(search, arm):
    found = search.look(arm.port("follower"))

    assert found.is_arm
    assert found.is_calibrated
    assert not found.has_torque
    assert found.voltage == pytest.approx(12.0, abs=1.0)
    assert not any(servo.is_on for servo in find_servos(arm))


def test_servos_from_the_factory_have_no_calibration(search, arm):
    for servo in find_servos(arm):
        servo.memory.put("Homing_Offset", 0)
        servo.memory.put("Min_Position_Limit", 0)
        servo.memory.put("Max_Position_Limit", 4095)

    assert not search.look(arm.port("follower")).is_calibrated


def test_missing_servos_are_named(search, arm):
    arm.order(cmd="chain", joints=["shoulder_pan", "shoulder_lift"])

    found = search.look(arm.port("follower"))

    assert not found.is_arm
    assert found.missing == (3, 4, 5, 6)


def test_a_held_arm_is_known_to_hold_and_goes_on_holding(search, arm, follower):
    follower.close("hold")

    assert search.look(arm.port("follower")).has_torque
    assert all(servo.is_on for servo in find_servos(arm))


def test_a_port_that_a_session_has_is_a_problem_that_names_it(search, arm, follower):
    del follower

    found = search.look(arm.port("follower"))

    assert "expected it to be free, got one that another process has open" in (
        found.problem
    )
    assert not found.is_arm


def test_angles_are_read_without_torque(search, arm):
    with search.watch(arm.port("follower")) as read:
        angles = read()

    assert angles.shape == (6,)
    assert np.isfinite(angles).all()
    assert not any(servo.is_on for servo in find_servos(arm))


def test_a_port_that_is_not_there_is_an_error(search, tmp_path):
    with (
        pytest.raises(DeviceError, match="expected a serial device, got none"),
        search.watch(str(tmp_path / "none")),
    ):
        raise AssertionError("opened")


def test_files_of_a_role_lie_in_lerobots_folders(search, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_LEROBOT_CALIBRATION", str(tmp_path))
    path = name_file("mine", is_leader=False)
    path.parent.mkdir(parents=True)
    path.write_text("{}")

    assert path == tmp_path / "robots/so_follower/mine.json"
    assert list(search.list_calibrations(is_leader=False)) == [path]
    assert list(search.list_calibrations(is_leader=True)) == []


def test_the_home_folder_is_meant_by_its_sign(tmp_path, monkeypatch):
    for name in ("HF_LEROBOT_CALIBRATION", "HF_LEROBOT_HOME", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    path = name_file("mine", is_leader=True)

    assert path.is_relative_to(tmp_path)
