"""Errors of hand, robot and picture, of a hand whose robot and picture are known."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from paprle.contracts.session_view import HeldHand
from paprle.contracts.types import LeaderSample, LimbCommand
from paprle.link.remote_leader.discrepancy import Discrepancy
from paprle.link.remote_leader.error_report import StreamCounts

MS = 1_000_000
SPEED, WAY, VIEW = 0.2, 50, 20  # [m/s]; [ms] there, and back; [ms] between views


def place(ms):
    return np.array([SPEED * 1e-3 * ms, 0.3, -0.1])


def note_hand(errors, ms, n=1):
    T = pin.SE3(np.eye(3), place(ms))
    command = LimbCommand(T_leader_base_leader_eef=T)
    stamp_ns = ms * MS
    errors.note_sample(LeaderSample(stamp_ns=stamp_ns, seq=n, limbs={"hand": command}))


def note_robot(errors, ms, *, share=0.0):
    """What arrives at a time: a robot that was where the hand had been."""
    p = place(ms - 2 * WAY)
    held = HeldHand(0, share, np.append(p, [0, 0, 0, 1.0]), np.zeros(6))
    errors.note_view((held,), (ms - WAY) * MS, (ms - 2 * WAY) * MS, ms * MS)


@pytest.fixture
def errors():
    made = Discrepancy()
    for ms in range(1000, 5000, 10):
        note_hand(made, ms)
        if ms % VIEW == 0 and ms > 1200:
            note_robot(made, ms)
    return made


def test_errors_of_a_steady_hand_are_its_speed_times_the_ways(errors):
    assert errors.user_robot.find(0.5) == pytest.approx(1e3 * SPEED * 0.05, abs=1)
    shown = 1e3 * SPEED * 0.1  # and what was shown is up to one view older
    assert shown <= errors.user_shown.find(0.5) <= shown + 1e-3 * VIEW * 1e3 * SPEED
    assert 10 <= errors.shown_robot.find(0.5) <= 14
    assert errors.latency.find(0.5) == errors.latency.find(0.99) == 2 * WAY


def test_a_picture_that_goes_on_by_its_velocity_is_measured_on_the_same_motion():
    made, turn = Discrepancy(), 3000  # [ms] at which the hand turns back at once

    def place_turned(ms):
        return place(ms if ms < turn else 2 * turn - ms)

    rows = []
    for ms in range(1000, 5000, 10):
        T = pin.SE3(np.eye(3), place_turned(ms))
        limbs = {"hand": LimbCommand(T_leader_base_leader_eef=T)}
        made.note_sample(LeaderSample(stamp_ns=ms * MS, seq=1, limbs=limbs))
        if ms % VIEW == 0 and ms > 1200:
            pose = np.append(place_turned(ms - 2 * WAY), [0, 0, 0, 1.0])
            held = HeldHand(0, 0.0, pose, np.zeros(6))
            came = (ms - WAY) * MS, (ms - 2 * WAY) * MS, ms * MS
            rows += made.note_view((held,), *came)
            made.note_predicted(0, place_turned(ms - WAY), ms * MS)

    straight = [one.velocity_robot for one in rows if 1600 * MS < one.t_ns < turn * MS]
    assert max(straight) < 1e-3 * SPEED * (VIEW + 1), "as old as its last drawing"
    after = (turn + WAY) * MS
    bent = [one.velocity_robot for one in rows if after < one.t_ns < after + 100 * MS]
    assert max(bent) > 2 * SPEED * 1e-3 * WAY, "it goes on the wrong way"
    assert "picture by velocity to robot" in made.summarise(StreamCounts())


def test_errors_are_reported_live_and_of_the_whole(errors):
    assert errors.describe().startswith("robot 10 mm from your hand, 2")
    words = errors.summarise(StreamCounts(400, 7, 200, 190))
    assert "hand to robot 10 and 10" in words or "hand to robot 9 and" in words
    assert "7 of 400 captures and 10 of 200 words of the robot never came" in words
    assert "p99 100 ms" in words


def test_late_ones_count_where_others_leave_them_out(errors):
    n = errors.latency.n
    note_hand(errors, 5000)

    held = HeldHand(0, 0.0, np.append(place(0), [0, 0, 0, 1.0]), np.zeros(6))
    for _ in range(n):
        errors.note_view((held,), 4900 * MS, 1, 9_000 * MS)

    assert errors.latency.find(0.9) > 2000


def test_nothing_is_said_while_nobody_drives(errors):
    errors.note_view((), 5000 * MS, 0, 5000 * MS)

    assert not errors.describe()
    assert not Discrepancy().summarise(StreamCounts())


def test_memory_is_bounded_whatever_comes(errors):
    for ms in range(5000, 25_000, 10):
        note_hand(errors, ms)
        note_robot(errors, ms)

    kept = [
        len(one) for part in (errors._hands, errors._shown) for one in part.values()
    ]
    assert max(kept) <= 512
    assert errors.user_robot.n > 2000
