from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from paprle.oracle import INVARIANTS, JudgedLimits, OracleStream, check_commands

H = 0.005
V, A = 2.0, 10.0
STEP_V = A * H  # what one period may add to a velocity
LIMITS = JudgedLimits(
    q_min=np.array([-2.0, -np.inf]),
    q_max=np.array([2.0, np.inf]),
    dq_max=np.array([V, V]),
    ddq_max=np.array([A, A]),
    h=H,
)


def commands(*velocities: float, start: float = 0.0) -> np.ndarray:
    """Two joints: the first has these velocities, the second stands still."""
    q = start + H * np.cumsum([0.0, *velocities])
    return np.column_stack([q, np.zeros_like(q)])


def ramp(v_from: float, v_to: float) -> list[float]:
    """Velocities from one to another at full acceleration, the last one included."""
    n = round(abs(v_to - v_from) / STEP_V)
    return [v_from + (v_to - v_from) * (k + 1) / n for k in range(n)]


def broken(verdict) -> set[str]:
    return {key for key, count in verdict.counts.items() if count}


def trapezoid() -> np.ndarray:
    return commands(0.0, *ramp(0, V), *[V] * 40, *ramp(V, 0), 0.0, 0.0)


def with_nan() -> np.ndarray:
    q = commands(*[0.0] * 10)
    q[5, 1] = np.nan
    return q


def with_inf() -> np.ndarray:
    q = commands(*[0.0] * 10)
    q[5, 0] = -np.inf
    return q


def creep_past_limit() -> np.ndarray:
    # slower than one brake step, so that there is never anything left to brake
    return commands(*[0.5 * STEP_V] * 10, 0.0, start=2.0 - 4 * H * STEP_V)


def overspeed() -> np.ndarray:
    return commands(*ramp(0, 1.05 * V), *ramp(1.05 * V, 0))


def overspeed_by_a_hair() -> np.ndarray:
    return commands(*ramp(0, V), V * (1 + 1e-8), V, *ramp(V, 0))


def jerked_by_a_hair() -> np.ndarray:
    return commands(0.0, STEP_V * (1 + 1e-5), 0.5 * STEP_V, 0.0)


def reversal() -> np.ndarray:
    return commands(*ramp(0, 1.0), *[-v for v in ramp(0, 1.0)[::-1]])


def stops_one_step_too_late() -> np.ndarray:
    """Brakes harder than A in the sample after it became too late, within M4."""
    # A full brake from V travels d; begin where d does not fit by 1e-6 and then turn
    # the last command into a stop on the limit.
    speeds = np.array(ramp(V, 0))
    d = H * speeds.sum()
    q = commands(*ramp(0, V), *ramp(V, 0), start=0.0)
    travelled = q[:, 0].max()
    assert d < travelled
    return q + np.array([2.0 - travelled + 1e-6, 0.0])


@pytest.mark.parametrize(
    ("q_cmd", "invariant"),
    [
        pytest.param(with_nan(), "M1", id="nan"),
        pytest.param(with_inf(), "M1", id="inf"),
        pytest.param(creep_past_limit(), "M2", id="creeps past a limit"),
        pytest.param(overspeed(), "M3", id="5 % too fast"),
        pytest.param(overspeed_by_a_hair(), "M3", id="1e-8 too fast"),
        pytest.param(jerked_by_a_hair(), "M4", id="1e-5 too much acceleration"),
        pytest.param(reversal(), "M4", id="full reversal in one step"),
    ],
)
def test_a_sequence_that_breaks_one_invariant_is_caught_for_that_alone(
    q_cmd, invariant
):
    verdict = check_commands(q_cmd, LIMITS)

    assert broken(verdict) == {invariant}
    assert not verdict.is_ok
    assert verdict.violations[0].invariant == invariant


def test_an_approach_that_cannot_stop_any_more_breaks_viability_before_position():
    q_cmd = stops_one_step_too_late()

    verdict = check_commands(q_cmd[:-3], LIMITS)

    assert broken(verdict) == {"V1"}


def test_a_brake_that_ends_exactly_on_the_limit_is_viable():
    q_cmd = stops_one_step_too_late() - np.array([1e-6, 0.0])

    assert check_commands(q_cmd, LIMITS).is_ok


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("h", [0.001, 0.005, 0.05])
@pytest.mark.parametrize("v", [0.03, 0.2, 1.0, 1.99])
def test_viability_agrees_with_a_brake_played_step_by_step(v, h, sign):
    limits = JudgedLimits(q_min=[-2.0], q_max=[2.0], dq_max=[V], ddq_max=[A], h=h)
    travel, speed = 0.0, v
    while speed > 0:
        speed = max(speed - A * h, 0.0)
        travel += speed * h

    def verdict_when_rest_is(position):
        last = sign * (position - travel)
        past = np.array([[last - 2 * sign * v * h], [last - sign * v * h]])
        return check_commands([[last]], limits, q_start=past)

    assert verdict_when_rest_is(2.0).is_ok
    expected = {"V1"} if v >= A * h else set()
    assert broken(verdict_when_rest_is(2.0 + 1e-7)) == expected or travel == 0


def test_a_trapezoidal_profile_passes():
    verdict = check_commands(trapezoid(), LIMITS)

    assert verdict.is_ok
    assert str(verdict).startswith("ok: ")
    assert set(verdict.counts) == set(INVARIANTS) - {"T1", "M5"}
    assert "T1" not in str(verdict)


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e5])
def test_rounding_of_large_continuous_angles_is_no_violation(offset):
    q_cmd = np.repeat(trapezoid()[:, :1], 2, axis=1)
    q_cmd[:, 0] = 0.0

    assert check_commands(q_cmd + np.array([0.0, offset]), LIMITS).is_ok


@pytest.mark.parametrize("kind", ["batch", "stream"])
def test_a_start_outside_the_limits_may_only_move_inward(kind):
    inward = commands(*[-0.5 * STEP_V] * 8, 0.0, start=2.0 + 4 * H * STEP_V)
    back = np.concatenate([inward[:5], inward[3:5]])

    if kind == "batch":
        inside, outside = (check_commands(q, LIMITS).is_ok for q in (inward, back))
    else:
        streams = OracleStream(LIMITS), OracleStream(LIMITS)
        inside = not any(streams[0].step(c) for c in inward)
        outside = not any("M2" in streams[1].step(c) for c in back)

    assert inside
    assert not outside


def test_the_widened_limit_narrows_as_the_joint_comes_in():
    q_cmd = commands(*[-0.5 * STEP_V] * 20, start=2.0 + 4 * H * STEP_V)
    again = np.concatenate([q_cmd, q_cmd[::-1]])

    verdict = check_commands(again, LIMITS)

    assert verdict.counts["M2"] > 0
    assert verdict.violations[0].limit == pytest.approx(2.0)


def test_a_jump_away_from_where_the_robot_stood_is_caught():
    verdict = check_commands(commands(0.0, 0.0), LIMITS, q_start=[0.1, 0.0])

    assert {"M3", "M4"} <= broken(verdict)


def test_two_past_commands_give_the_starting_velocity():
    q_cmd = trapezoid()

    assert check_commands(q_cmd[30:], LIMITS, q_start=q_cmd[28:30]).is_ok
    assert not check_commands(q_cmd[30:], LIMITS, q_start=q_cmd[29]).is_ok


def test_arming_again_elsewhere_starts_a_new_sequence():
    q_cmd = np.concatenate([trapezoid(), trapezoid() - 1.0])

    assert not check_commands(q_cmd, LIMITS).is_ok
    assert check_commands(q_cmd, LIMITS, armed_at=[0, len(trapezoid())]).is_ok


@pytest.mark.parametrize(
    ("gap_ns", "is_ok"), [(5_000_000, True), (4_000_000, True), (3_990_000, False)]
)
def test_commands_sent_too_close_together_break_spacing(gap_ns, is_ok):
    t_ns = np.array([0, 5_000_000, 5_000_000 + gap_ns])

    verdict = check_commands(commands(0.0, 0.0), LIMITS, t_ns=t_ns)

    assert verdict.is_ok is is_ok
    if not is_ok:
        assert verdict.violations[0].index == 2
        assert verdict.violations[0].joint == -1


def lowered_in_motion(q_cmd, dddq_max=None):
    limits_by_sample = np.full(q_cmd.shape, V)
    limits_by_sample[60:] = 0.25 * V
    return JudgedLimits(
        q_min=LIMITS.q_min,
        q_max=LIMITS.q_max,
        dq_max=limits_by_sample,
        ddq_max=LIMITS.ddq_max,
        dddq_max=dddq_max,
        h=H,
    )


N_TURNING = 4
J = np.full(2, 2 * A / (N_TURNING * H))  # turns A to −A in four periods


def smoothed(q_cmd, n=N_TURNING):
    """The mean of the last few commands: its jerk is 2 A / (n h) at most."""
    padded = np.concatenate([np.repeat(q_cmd[:1], n - 1, axis=0), q_cmd])
    return np.lib.stride_tricks.sliding_window_view(padded, n, axis=0).mean(axis=-1)


def test_a_jerk_within_its_limit_passes_and_a_higher_one_is_caught():
    limits = replace(LIMITS, dddq_max=J)
    there_and_back = commands(*ramp(0, V), *ramp(V, -V), *ramp(-V, 0), 0, 0, 0, 0)

    assert broken(check_commands(there_and_back, limits)) == {"M5"}
    assert check_commands(smoothed(there_and_back), limits).is_ok
    again = check_commands(smoothed(there_and_back, N_TURNING - 1), limits)
    assert broken(again) == {"M5"}
    assert again.violations[0].limit == pytest.approx(J[0])


@pytest.mark.parametrize("dddq_max", [1e-6, 5e-324])
def test_a_jerk_limit_that_would_fill_the_memory_is_refused(dddq_max):
    with pytest.raises(ValueError, match="turn around within 10000 periods"):
        replace(LIMITS, dddq_max=np.full(2, dddq_max))


def test_a_lowered_velocity_limit_leaves_time_for_the_jerk():
    slow = [0.25 * V] * 30
    q_cmd = commands(*ramp(0, V), *[V] * 19, *ramp(V, 0.25 * V), *slow)
    ignored = commands(*ramp(0, V), *[V] * 60, *ramp(V, 0))
    late = np.concatenate([q_cmd[:1].repeat(N_TURNING, axis=0), smoothed(q_cmd)])

    assert check_commands(smoothed(q_cmd), lowered_in_motion(q_cmd, J)).is_ok
    assert broken(check_commands(late, lowered_in_motion(late, J))) == {"M3"}
    judged = check_commands(smoothed(ignored), lowered_in_motion(ignored, J))
    assert broken(judged) == {"M3"}


def test_jerk_is_judged_the_same_in_blocks_and_one_by_one():
    limits = replace(LIMITS, dddq_max=J)
    q_cmd = commands(*ramp(0, V), *ramp(V, -V), *ramp(-V, 0), 0, 0)
    stream = OracleStream(limits, q_start=q_cmd[0])

    found = [stream.step(c) for c in q_cmd]

    counts = check_commands(q_cmd, limits).counts
    assert counts["M5"] == sum("M5" in broken for broken in found) > 0


def test_a_lowered_velocity_limit_is_kept_by_braking_down_to_it():
    slow = [0.25 * V] * 30
    q_cmd = commands(*ramp(0, V), *[V] * 19, *ramp(V, 0.25 * V), *slow)

    assert check_commands(q_cmd, lowered_in_motion(q_cmd)).is_ok


def test_a_lowered_velocity_limit_that_is_ignored_is_caught():
    q_cmd = commands(*ramp(0, V), *[V] * 60, *ramp(V, 0))

    assert broken(check_commands(q_cmd, lowered_in_motion(q_cmd))) == {"M3"}


def test_the_stream_takes_a_velocity_limit_a_step():
    q_cmd = commands(*ramp(0, V), *[V] * 60)
    limits = lowered_in_motion(q_cmd)
    stream = OracleStream(LIMITS)

    found = [
        stream.step(c, dq_max=row) for c, row in zip(q_cmd, limits.dq_max, strict=True)
    ]

    assert found[59] == ()
    assert found[60] == ("M3",)


def follow(targets, limiter):
    """Play a one-joint limiter: (target, c, v) → velocity."""
    c, v, sent = 0.0, 0.0, []
    for target in targets:
        v = limiter(target, c, v)
        c += v * H
        sent.append([c, 0.0])
    return np.array(sent)


def textbook(target, c, v, h=H):
    """Velocity and acceleration clamps below the continuous-time sqrt(2 A d)."""
    wanted = np.clip((target - c) / h, v - STEP_V, v + STEP_V)
    stop = np.sqrt(2 * A * max(2.0 - c, 0.0))
    return float(min(np.clip(wanted, -V, V), stop))


def arbot_eq2(target, c, v):  # noqa: ARG001 - the law has no memory
    """ARBot Eq. 2: identity Hessian and a box of velocities, which is a clip."""
    return float(np.clip((target - c) / H, -V, V))


def test_the_textbook_stopping_distance_is_caught():
    q_cmd = follow([5.0] * 600, textbook)

    assert {"M4", "V1"} <= broken(check_commands(q_cmd, LIMITS, q_start=[0.0, 0.0]))


def test_the_textbook_stopping_distance_that_keeps_a_overshoots():
    def clamped(target, c, v):
        return max(textbook(target, c, v), v - STEP_V)

    verdict = check_commands(follow([5.0] * 600, clamped), LIMITS, q_start=[0.0, 0.0])

    assert "M2" in broken(verdict)
    assert "V1" in broken(verdict)
    assert "M4" not in broken(verdict)


def test_a_velocity_clip_alone_is_caught_on_acceleration():
    square = np.where(np.arange(400) // 50 % 2, 1.0, -1.0)

    verdict = check_commands(follow(square, arbot_eq2), LIMITS, q_start=[0.0, 0.0])

    assert broken(verdict) == {"M4"}


@pytest.mark.parametrize("seed", range(5))
def test_stream_and_batch_find_the_same(seed):
    rng = np.random.default_rng(seed)
    q_cmd = np.cumsum(rng.normal(scale=3e-4, size=(300, 2)), axis=0)
    q_cmd[100:120] += 2.0
    q_cmd[rng.integers(0, 300, 3), 1] = np.nan
    t_ns = np.cumsum(rng.integers(3_800_000, 6_000_000, 300))

    verdict = check_commands(q_cmd, LIMITS, t_ns=t_ns)
    stream = OracleStream(LIMITS)
    found = [stream.step(c, t_ns=int(t)) for c, t in zip(q_cmd, t_ns, strict=True)]

    for key, count in verdict.counts.items():
        assert sum(key in names for names in found) == count
    first = next(k for k, names in enumerate(found) if names)
    assert verdict.violations[0].index == first


def test_findings_name_sample_joint_value_and_limit():
    limits = JudgedLimits(
        q_min=LIMITS.q_min,
        q_max=LIMITS.q_max,
        dq_max=LIMITS.dq_max,
        ddq_max=LIMITS.ddq_max,
        h=H,
        joint_names=("shoulder", "wrist"),
    )

    verdict = check_commands(overspeed_by_a_hair(), limits)

    assert str(verdict).splitlines()[0] == "VIOLATED in 83 commands: M3 velocity: 1"
    assert "sample 41 joint 'shoulder': M3 velocity 2.00000002, limit 2" in str(verdict)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_short_sequences_are_judged(size):
    assert check_commands(np.zeros((size, 2)), LIMITS).is_ok


def test_finite_but_absurd_numbers_are_caught_without_a_warning():
    q_cmd = np.array([[0.0, 1e308], [0.0, -1e308], [0.0, 1e308]])

    assert {"M3", "M4"} <= broken(check_commands(q_cmd, LIMITS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"h": 0.0}, "period"),
        ({"dq_max": [1.0]}, "dq_max"),
        ({"ddq_max": [0.0, 1.0]}, "ddq_max > 0"),
        ({"q_min": [3.0, 0.0]}, "q_min <= q_max"),
        ({"q_max": [np.nan, 0.0]}, "NaN"),
    ],
)
def test_limits_that_are_no_limits_are_refused(change, message):
    fields = ("q_min", "q_max", "dq_max", "ddq_max", "h")
    arguments = {name: getattr(LIMITS, name) for name in fields} | change

    with pytest.raises(ValueError, match=message):
        JudgedLimits(**arguments)


@pytest.mark.parametrize("t_ns", [[0], [0, 1, 2, 3]])
def test_stamps_of_the_wrong_length_are_refused(t_ns):
    with pytest.raises(ValueError, match="t_ns"):
        check_commands(np.zeros((3, 2)), LIMITS, t_ns=t_ns)


def test_a_long_recording_is_judged_in_seconds():
    q_cmd = np.zeros((200_000, 7))
    ones = np.ones(7)
    limits = JudgedLimits(q_min=-ones, q_max=ones, dq_max=ones, ddq_max=ones, h=H)

    begin = time.perf_counter()
    verdict = check_commands(q_cmd, limits)
    took = time.perf_counter() - begin

    assert verdict.is_ok
    assert took < 2.0  # measured: 0.2 s on an idle machine
