"""Viewers are told which bodies are near each other, and how near."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.hosts.plan import make_robot
from paprle.hosts.views.proximity import make_near_bodies

WORDS = ["leader=autopilot", "follower=piper", "env=kinematic"]
WALL = "gate.scene={wall: {shape: box, size: [0.1, 1, 1], xyz: [%s, 0, 0.3]}}"


@pytest.fixture(scope="module")
def robot():
    return make_robot(resolve(WORDS)).info


def find(robot, q, *words):
    return make_near_bodies(resolve([*WORDS, *words]), robot).find(q)


def test_at_home_nothing_is_near(robot):
    assert find(robot, robot.home) == []


def test_a_wall_is_told_of_with_its_distance_and_where(robot):
    q = robot.home.copy()
    q[1] += 0.6  # stretched out ahead
    near = find(robot, q, WALL % 0.62)

    assert near
    assert near[0].links[1] == "wall"
    shares = [one.share for one in near]
    assert shares == sorted(shares, reverse=True)
    for one in near:
        between = np.linalg.norm(one.points[0] - one.points[1])
        assert between == pytest.approx(abs(one.distance), abs=1e-6)
        assert 0.0 < one.share <= 1.0


def test_nearer_bodies_come_first_and_count_more(robot):
    q = robot.home.copy()
    q[1] += 0.6
    far, close = (find(robot, q, WALL % x)[0] for x in (0.64, 0.62))

    assert close.distance < far.distance
    assert close.share > far.share
