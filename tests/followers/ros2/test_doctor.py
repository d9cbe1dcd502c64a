"""``paprle doctor env=ros2``: a robot is looked at before anything is armed."""

from __future__ import annotations

import re

import pytest
from ros_memory import MemoryGraph, MemoryRobot

from paprle.cli.app import main
from paprle.followers.ros2 import follower as module

WORDS = ["doctor", "follower=piper", "env=ros2_sim", "env.timeout=0.5"]


@pytest.fixture
def graph(monkeypatch):
    graph = MemoryGraph()
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("doctor"))
    monkeypatch.setattr("time.monotonic_ns", graph.clock)
    make = module.RosFollower.__init__
    monkeypatch.setattr(
        module.RosFollower,
        "__init__",
        lambda self, config, robot, _: make(self, config, robot, graph.clock),
    )
    return graph


def test_rate_and_age_of_states_are_measured_and_nothing_is_published(graph, capsys):
    rig = MemoryRobot(graph)

    assert main(WORDS) == 0

    told = capsys.readouterr().out
    rate = int(re.search(r"(\d+) states a second", told)[1])
    assert rate == pytest.approx(200, abs=3)
    assert "a session brakes at 20 [ms]" in told
    assert "/arm_controller/joint_trajectory: taken by robot" in told
    assert "interpolate_from_desired_state: true" in told
    assert not rig.log.all("command")
    assert not [w for w in graph.writers if w.bus.node == "doctor"]


@pytest.mark.parametrize(
    "fault, why",
    [
        ("silent", "expected states of joint1"),
        ("degrees", "outside the limits of the URDF: degrees"),
        ("inactive", "as one that is not active"),
        ("rogue", "1 publisher(s) command it; end all but one"),
    ],
)
def test_each_planted_fault_is_named(graph, capsys, fault, why):
    MemoryRobot(graph).robot.switch(fault, is_on=True)

    assert main(WORDS) == 1

    assert why in capsys.readouterr().out


def test_states_that_are_old_are_a_fault(graph, capsys):
    rig, ticks = MemoryRobot(graph), []

    def fall_behind():
        ticks.append(1)
        if len(ticks) == 400:  # a second after the first of them
            rig.robot.switch("delayed", is_on=True)

    graph.stepped.append(fall_behind)

    assert main(WORDS) == 1

    told = capsys.readouterr().out
    assert re.search(r"FAULT \d+ states a second .* 29\d\.\d|30\d\.\d", told), told


def test_states_that_are_rare_are_told_with_their_rate(graph, capsys):
    MemoryRobot(graph, every=10)

    assert main(WORDS) == 1

    assert (
        "FAULT 40 states a second of each joint, expected 200"
        in capsys.readouterr().out
    )
