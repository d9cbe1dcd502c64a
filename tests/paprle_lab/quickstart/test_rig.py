"""A rig's settings are those that somebody would type."""

from pathlib import Path

import pytest

from paprle.config import resolve
from paprle_lab.quickstart import rig as module
from paprle_lab.quickstart.rig import Arm, Rig

PAIR = Rig(
    leader=Arm(port="/dev/a", calibration="/x/l.json"), follower=Arm(port="/dev/b")
)


@pytest.fixture(autouse=True)
def no_emulators(monkeypatch):
    monkeypatch.setattr(module, "list_emulated", lambda *_: [])


def test_two_arms_are_named_with_ports_calibration_and_consent():
    words = PAIR.list_words(Path("out"), 3, "wave")

    assert words == [
        "leader=so101", "leader.limbs.arm.port=/dev/a",
        "leader.limbs.arm.calibration=/x/l.json",
        "follower=so101", "env=feetech", "env.port=/dev/b",
        "gate.accept_unattended=true", "observers.view={}", "session.episodes=3",
        "record.dir=out", "record.task=wave",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "rig",
    [PAIR, Rig(), Rig(is_autopilot=True), Rig(leader=PAIR.leader)],
    ids=["pair", "page", "program", "leader"],
)
def test_its_settings_are_accepted(rig):
    camera = {"type": "opencv", "device": "http://127.0.0.1:1/"}
    words = rig.list_words(Path("out"), 1, "put the cube, gently: into 'the box'")
    resolved = resolve([*words, *(f"cameras.front.{k}={v}" for k, v in camera.items())])

    assert resolved.record.task == "put the cube, gently: into 'the box'"
    assert resolved.robot.urdf


def test_a_port_that_an_emulators_notice_gives_is_left_to_it(monkeypatch):
    monkeypatch.setattr(
        module,
        "list_emulated",
        lambda part, _: ["env.port=/dev/b"] if part == "env" else [],
    )

    assert PAIR.follower_words == ["follower=so101", "env=feetech"]
    swapped = Rig(leader=PAIR.follower, follower=PAIR.leader)
    assert "leader.limbs.arm.port=/dev/b" in swapped.leader_words


def test_a_phone_needs_the_page_on_the_network():
    words = Rig(is_on_network=True).list_words(Path("out"), 1, "")

    assert "observers.view.listen=lan" in words
    assert "observers.view={}" not in words
