"""Each port is listed with what answers there, and with a remedy where nothing does."""

import pytest
from scripted_rig import Person, ScriptedSearch, make_arm

from paprle_lab.quickstart import ports
from paprle_lab.quickstart.ports import describe_arm, find_arms

PATH = "/dev/serial/by-id/usb-1a86"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "servos 1 to 6 (sts3215), 12.0 [V], calibrated"),
        ({"is_calibrated": False, "has_torque": True}, "not calibrated, it holds torq"),
        ({"models": {}}, "no servo answers: switch on the arm's power supply"),
        ({"models": {}}, "leader.limbs.arm.port=" + PATH),
        (
            {"models": dict.fromkeys((1, 2, 3), "sts3215")},
            "servos 1, 2, 3 answer, none with id 4, 5, 6: check the cable behind",
        ),
        ({"models": {}, "problem": "run: sudo usermod"}, "run: sudo usermod"),
    ],
)
def test_a_port_is_described_with_a_remedy(changes, text):
    assert text in describe_arm(make_arm(PATH, **changes))


def test_whole_arms_are_numbered_and_emulated_ones_marked(monkeypatch):
    monkeypatch.setattr(ports, "list_emulated_ports", lambda: ["/dev/pts/7"])
    arms = [make_arm(PATH), make_arm("/dev/ttyACM1", models={})]
    search, person = ScriptedSearch(*arms), Person()
    search.arms["/dev/pts/7"] = make_arm("/dev/pts/7")
    search.list_ports = lambda: [PATH, "/dev/ttyACM1"]

    found = find_arms(search, person)

    assert found == {PATH: False, "/dev/pts/7": True}
    assert f"   1  {PATH}: servos" in person.text
    assert "   -  /dev/ttyACM1: no servo answers" in person.text
    assert "   2  /dev/pts/7 EMULATED: servos" in person.text


def test_without_any_port_the_cable_is_named(monkeypatch):
    monkeypatch.setattr(ports, "list_emulated_ports", list)
    person = Person()

    assert find_arms(ScriptedSearch(), person) == {}
    assert "a cable that carries data" in person.text


def test_only_single_arms_of_emulators_are_listed(monkeypatch):
    words = ["env.port=/dev/pts/1", "env.ports.left=/dev/pts/2", "env.rate=100"]
    monkeypatch.setattr(
        ports, "list_emulated", lambda part, _: words if part == "env" else []
    )

    assert ports.list_emulated_ports() == ["/dev/pts/1"]
