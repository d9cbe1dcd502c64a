"""The delay of a robot that is held off its target for some of the time."""

from __future__ import annotations

import numpy as np
import pytest

from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.limb import measure_limb
from paprle_lab.evaluation.poses import Dropped, Trajectory
from paprle_lab.evaluation.shift import find_shift
from paprle_lab.evaluation.tracks import LimbTrack

T = np.arange(0.0, 12.0, 0.01)
DELAY = 0.0137


def wave(t):
    p = [0.1 * np.sin(2 * t), 0.08 * np.cos(3.1 * t), 0.03 * np.sin(1.3 * t)]
    return np.stack(p, axis=1)


def make_track(p_target, p_measured, t_measured=T) -> LimbTrack:
    """Make a track of which nothing is known but the motions, as of a bag."""
    turn = [0.0, 0.0, 0.0, 1.0]
    return LimbTrack(
        limb="arm",
        target=Trajectory(T, p_target, np.tile(turn, (len(T), 1))),
        measured=Trajectory(t_measured, p_measured, np.tile(turn, (len(T), 1))),
        spans=np.array([[0.0, T[-1]]]),
        dropped=Dropped(nan=0, quaternion=0, duplicate=0, disorder=0),
    )


def test_the_delay_of_a_robot_that_follows_is_found():
    shift = find_shift(make_track(wave(T), wave(T - DELAY)))

    assert shift.tau == pytest.approx(DELAY, abs=1e-4)
    assert shift.lag == pytest.approx(DELAY, abs=1e-4)
    assert not shift.note


@pytest.mark.parametrize("share", [0.1, 0.2, 0.4])
@pytest.mark.parametrize("off", [0.005, 0.02, 0.3])
def test_a_robot_held_off_its_target_has_the_right_delay_or_none(share, off):
    measured = wave(T - DELAY)
    measured[: int(share * len(T))] += [0.0, 0.0, off]

    shift = find_shift(make_track(wave(T), measured))

    is_right = shift.tau == pytest.approx(DELAY, abs=5e-4)
    assert is_right or (shift.tau is None and shift.note)


@pytest.mark.long
def test_the_delay_is_that_of_targets_that_were_reached(make_episode):
    """The robot freezes for two of nine seconds while the target goes on."""

    def freeze(at):
        at.gate["q_meas"][800:1200] = at.gate["q_meas"][800]
        at.ticks["err_pos"][800:1200] = 0.05

    entry = measure_source(make_episode(delay=0.01, motion_delay=0.02)).entry
    frozen = measure_source(
        make_episode(delay=0.01, motion_delay=0.02, change=freeze)
    ).entry

    tau_ms = frozen["ate_mm"]["lag_compensated"]["tau_ms"]
    assert tau_ms == pytest.approx(32, abs=0.1)  # 2 ms from capture to tick
    assert tau_ms == pytest.approx(
        entry["ate_mm"]["lag_compensated"]["tau_ms"], abs=0.1
    )
    assert frozen["lag_ms"] == pytest.approx(32, abs=0.2)
    assert frozen["ate_mm"]["within_limits"]["max"] < 0.1


def test_two_delays_that_disagree_are_not_told():
    half = len(T) // 2
    measured = np.vstack([wave(T[:half] - 0.03), wave(T[half:] - 0.2)])

    figures = measure_limb(make_track(wave(T), measured))

    assert figures.figures["lag_ms"] is None
    assert figures.figures["ate_mm"]["lag_compensated"]["tau_ms"] is None
    assert figures.figures["ate_mm"]["lag_compensated"]["median"] is None
    assert "disagree" in " ".join(figures.notes)


def test_a_motion_without_a_bend_has_a_reason_in_place_of_a_delay():
    ramp = np.stack([T, 0 * T, 0 * T], axis=1) * 0.01

    figures = measure_limb(make_track(ramp, ramp))

    assert figures.figures["lag_ms"] is None
    assert "a straight line" in " ".join(figures.notes)


def test_a_robot_that_never_reached_its_target_has_no_delay(make_episode):
    def lose(at):
        at.ticks["err_pos"][:] = 0.5
        at.gate["q_meas"] *= 0.5

    entry = measure_source(make_episode(change=lose)).entry

    assert entry["lag_ms"] is None
    assert entry["ate_mm"]["within_limits"]["mean"] is None
    assert "its delay is not known" in " ".join(entry["notes"])


def test_an_error_that_grows_without_lag_is_explained(make_episode):
    """Most of the time the robot is in phase with a target that it never reaches."""

    def stand_off(at):
        in_phase = at.gate["q_meas"][20 + 300 : 20 + 1500].copy()
        at.gate["q_meas"][300:1500] = in_phase + 0.002
        at.ticks["err_pos"][300:1500] = 0.005

    entry = measure_source(make_episode(motion_delay=0.1, change=stand_off)).entry

    ate = entry["ate_mm"]
    assert ate["lag_compensated"]["tau_ms"] == pytest.approx(102, abs=0.5)
    assert ate["lag_compensated"]["median"] > ate["raw"]["median"]
    assert "without lag the median is larger" in " ".join(entry["notes"])


def test_nothing_is_said_of_limits_where_nothing_is_known():
    figures = measure_limb(make_track(wave(T), wave(T - DELAY))).figures

    assert figures["reach"] is None
    assert figures["ate_mm"]["within_limits"]["share_percent"] is None
    assert figures["lag_ms"] == pytest.approx(13.7, abs=0.2)
