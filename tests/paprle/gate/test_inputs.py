"""Whatever the gate is given: no exception, no breach, nothing compiled anew."""

from __future__ import annotations

import numpy as np
import pytest
from adversary import H, judge_joints, load

from paprle.gate import step
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.testing.robots import make_robot_info


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


class Shared:
    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return self._values


def freeze(values):
    values.setflags(write=False)
    return values


KINDS = {
    "list": list,
    "tuple": tuple,
    "float32": lambda q: q.astype(np.float32),
    "integers": lambda q: np.zeros(len(q), dtype=np.int16),
    "big-endian": lambda q: q.astype(">f8"),
    "longdouble": lambda q: q.astype(np.longdouble),
    "every other": lambda q: np.repeat(q, 2)[::2],
    "backwards": lambda q: np.ascontiguousarray(q[::-1])[::-1],
    "column": lambda q: np.tile(q[:, None], 3)[:, 1],
    "read-only": lambda q: freeze(q.copy()),
    "masked": np.ma.masked_array,
    "array-like": Shared,
}
"""Ways to give a vector."""


@pytest.fixture
def gate():
    return Gate(load("piper"), h=H)


def count_compiled():
    """Count the signatures of the kernel that a step calls from Python."""
    return len(getattr(step.step, "signatures", []))


@pytest.mark.parametrize("kind", KINDS)
def test_a_vector_may_come_in_any_form(kind, gate):
    wanted = gate.q_cmd + 0.01
    if kind in {"integers", "float32"}:
        wanted = np.round(wanted).astype(np.float32).astype(float)
    given = KINDS[kind](wanted)
    twin = Gate(load("piper"), h=H)
    plain = np.zeros(7) if kind == "integers" else wanted
    before = count_compiled()

    for _ in range(3):
        got = gate.step(given, H, q_meas=given, dq_des=given)
        expected = twin.step(plain, H, q_meas=plain, dq_des=plain)

    assert (got.q_cmd == expected.q_cmd).all()
    assert Reason.NOT_FINITE not in got.events
    assert count_compiled() == before


@pytest.mark.parametrize(
    "garbage",
    [
        Broken(),
        np.full(7, np.longdouble("1e400")),
        [10**400] * 7,
        np.zeros(7) * 1j,
        b"",
    ],
    ids=["raises", "longdouble", "huge", "complex", "bytes"],
)
@pytest.mark.parametrize("place", ["q_des", "q_meas", "dq_des"])
def test_garbage_in_any_place_never_escapes(garbage, place, gate):
    given = {"q_des": gate.q_cmd, "q_meas": None, "dq_des": None, place: garbage}

    results = [
        gate.step(given["q_des"], H, 0.0, given["q_meas"], dq_des=given["dq_des"])
    ]

    assert np.isfinite(results[-1].q_cmd).all()
    assert (Reason.NOT_FINITE in results[-1].events) == (place == "q_des")


@pytest.mark.parametrize("garbage", [Broken(), np.zeros(1) * 1j, b"", None])
def test_garbage_is_no_position_of_a_single_joint_either(garbage):
    gate = Gate(make_robot_info(1), h=H)

    results = [gate.step([0.5], H) for _ in range(5)]
    results += [gate.step(garbage, H) for _ in range(200)]

    assert (Reason.NOT_FINITE in results[-1].events) == (garbage is not None)
    assert results[-1].q_cmd == results[-2].q_cmd < 0.5


@pytest.mark.parametrize("dt", [np.float64(H), np.float32(H)], ids=type)
@pytest.mark.parametrize("scale", [1, np.float32(0.5), np.float64(0.5)], ids=type)
@pytest.mark.parametrize("is_blocked", [1, np.True_, None], ids=type)
def test_scalars_of_other_types_compile_nothing(dt, scale, is_blocked):
    gate = Gate(make_robot_info(2), h=dt)
    before = count_compiled()
    gate.speed_scale = scale

    gate.step(np.ones(2), dt, is_blocked=is_blocked)
    result = gate.step(np.ones(2), dt, np.float32(0.0), is_blocked=is_blocked)

    assert (result.q_cmd > 0.0).all()
    assert count_compiled() == before


@pytest.mark.parametrize("scale", [np.nan, -1.0, 0.0, 5.0, np.inf])
def test_a_share_of_the_speed_limit_is_never_more_than_all_of_it(scale):
    robot = make_robot_info(2)
    gate = Gate(robot, h=H)
    gate.speed_scale = scale

    path = [gate.step(np.full(2, 1.5), H).q_cmd for _ in range(100)]

    assert judge_joints(path, robot).is_ok
    assert (path[-1] > 0.0).all() == (scale >= 1.0)


def test_a_result_does_not_change_and_cannot_be_changed(gate):
    first = gate.step(gate.q_cmd + 0.1, H)
    kept = first.q_cmd.copy()
    given = gate.q_cmd + 0.2
    gate.step(given, H)
    given[:] = np.nan

    assert (first.q_cmd == kept).all()
    assert np.isfinite(gate.step(None, H).q_cmd).all()
    with pytest.raises(ValueError, match="read-only"):
        first.q_cmd[0] = 9.0
    with pytest.raises(ValueError, match="read-only"):
        gate.q_max[0] = 9.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_speed_that_is_no_number_is_none(gate, bad):
    other = Gate(load("piper"), h=H)
    q = gate.q_cmd + 0.05
    for _ in range(60):
        got = gate.step(q, H, dq_des=np.full_like(q, bad)).q_cmd

        assert np.array_equal(got, other.step(q, H, dq_des=np.zeros_like(q)).q_cmd)
