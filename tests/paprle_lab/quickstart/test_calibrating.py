"""Calibrations are found or made; an arm with a fault is not passed over unasked."""

import json

import pytest
from scripted_rig import Person, ScriptedSearch, make_arm

from paprle.contracts.errors import DeviceError
from paprle_lab.quickstart import calibrating
from paprle_lab.quickstart.calibrating import calibrate_arms, list_candidates
from paprle_lab.quickstart.rig import Arm, Rig

PATH = "/dev/a"
ARM = Arm(port=PATH)
NEW = Rig()


@pytest.fixture
def search(tmp_path):
    for kind, name in (("leaders", "mine"), ("followers", "his")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{name}.json").write_text("{}")
    return ScriptedSearch(make_arm(PATH), folder=tmp_path)


@pytest.fixture(autouse=True)
def healthy(monkeypatch):
    """An arm in which the doctor finds nothing wrong."""
    monkeypatch.setattr(calibrating, "_diagnose", lambda *_: [(True, "well")])


def lose_calibration(search):
    search.arms[PATH] = make_arm(PATH, is_calibrated=False)


def test_files_of_its_role_are_candidates_after_those_of_the_servos(search, tmp_path):
    mine = str(tmp_path / "leaders/mine.json")

    assert list_candidates(search, ARM, None, is_leader=True) == ["", mine]
    assert list_candidates(search, ARM, None, is_leader=False)[1].endswith("his.json")
    lose_calibration(search)
    assert list_candidates(search, ARM, None, is_leader=True) == [mine]


def test_the_file_of_the_last_time_comes_first_where_it_is_still_there(
    search, tmp_path
):
    lent = tmp_path / "lent.json"
    known = Arm(port=PATH, calibration=str(lent))

    assert str(lent) not in list_candidates(search, ARM, known, is_leader=True)
    lent.write_text("{}")
    assert list_candidates(search, ARM, known, is_leader=True)[0] == str(lent)
    elsewhere = Arm(port="/dev/b", calibration=str(lent))
    assert str(lent) not in list_candidates(search, ARM, elsewhere, is_leader=True)


def test_calibrated_servos_are_taken_without_a_question(search):
    person = Person()

    rig = calibrate_arms(search, Rig(leader=ARM), NEW, person)

    assert rig.leader == ARM
    assert "leader: calibrated, as its servos keep it" in person.text


def test_servos_from_the_factory_are_asked_about(search, tmp_path):
    lose_calibration(search)
    person = Person("1")

    rig = calibrate_arms(search, Rig(follower=ARM), NEW, person)

    assert rig.follower.calibration == str(tmp_path / "followers/his.json")
    assert "calibrate it now: two postures" in person.text


def test_a_fault_is_printed_with_ways_on(search, monkeypatch):
    faults = [[(False, "servo 3: it is hot; let it cool")], [(True, "well")]]
    monkeypatch.setattr(calibrating, "_diagnose", lambda *_: faults.pop(0))
    person = Person("1")

    calibrate_arms(search, Rig(leader=ARM), NEW, person)

    assert "FAULT servo 3: it is hot; let it cool" in person.text
    assert not faults


class Calibrated:
    """An arm whose calibration writes a file, or fails."""

    def __init__(self, path, is_leader=True):
        self.path, self.is_leader = path, is_leader
        self.err, self.is_open = None, False

    def open(self):
        self.is_open = True
        if self.err is not None:
            raise self.err

    def close(self):
        self.is_open = False

    def set_up(self, _):
        yield "connect the servo of gripper alone"
        return {"servos": ["gripper: id 6"]}

    def calibrate(self, _):
        yield "hold the middle"
        self.path.write_text(json.dumps({"new": 1}))
        if not self.is_leader:
            return {"files": [str(self.path)]}
        return {"leader": {"limbs": {"arm": {"calibration": str(self.path)}}}}


@pytest.fixture
def leader(search, monkeypatch, tmp_path):
    lose_calibration(search)
    leader = Calibrated(tmp_path / "leaders/paprle_arm.json")
    monkeypatch.setattr(calibrating, "make_leader", lambda _: leader)
    monkeypatch.setattr("builtins.input", lambda _: "")
    return leader


def test_a_follower_is_calibrated_beside_a_chosen_file(search, monkeypatch, tmp_path):
    lose_calibration(search)
    follower = Calibrated(tmp_path / "followers/paprle_arm.json", is_leader=False)
    asked = []
    monkeypatch.setattr(calibrating, "resolve", asked.append)
    monkeypatch.setattr(calibrating, "make_robot", lambda _: None)
    monkeypatch.setattr(calibrating, "make_follower", lambda *_: follower)
    monkeypatch.setattr("builtins.input", lambda _: "")
    chosen = Arm(port=PATH, calibration=str(tmp_path / "followers/his.json"))

    rig = calibrate_arms(search, Rig(follower=chosen), NEW, Person("2"))

    assert rig.follower.calibration == str(follower.path)
    assert not any("calibration" in word for words in asked for word in words)
    assert not follower.is_open


def test_a_leader_keeps_its_file_where_it_was_written(search, leader):
    rig = calibrate_arms(search, Rig(leader=ARM), NEW, Person("2"))

    assert rig.leader.calibration == str(leader.path)


def test_an_aborted_calibration_writes_nothing(search, leader, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda _: "q")
    person = Person("2")

    rig = calibrate_arms(search, Rig(leader=ARM), NEW, person)

    assert rig.leader == ARM
    assert "nothing was written" in person.text
    assert not leader.path.exists()


def test_an_arm_that_cannot_be_opened_is_reported_and_closed(search, leader):
    leader.err = DeviceError("port '/dev/a': it is gone")
    person = Person("2")

    calibrate_arms(search, Rig(leader=ARM), NEW, person)

    assert "port '/dev/a': it is gone" in person.text
    assert not leader.is_open


@pytest.mark.usefixtures("leader")
def test_new_servos_are_set_up_before_they_are_calibrated(search, monkeypatch):
    faults = [[(False, "clear it with paprle setup-servos")], [(True, "well")]]
    monkeypatch.setattr(calibrating, "_diagnose", lambda *_: faults.pop(0))
    person = Person("1", "2")

    calibrate_arms(search, Rig(leader=ARM), NEW, person)

    assert "gripper: id 6" in person.text
    assert not faults


def test_ctrl_c_in_a_calibration_closes_the_arm(search, leader, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    with pytest.raises(KeyboardInterrupt):
        calibrate_arms(search, Rig(leader=ARM), NEW, Person("2"))

    assert not leader.is_open
    assert not leader.path.exists()
