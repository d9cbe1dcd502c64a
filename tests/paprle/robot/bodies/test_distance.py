"""Distances against coal, and against what makes a distance one.

A number d with points x, y and a unit normal n is the distance of two convex bodies if
x and y are theirs, y - x = d n, and the planes through x and y along n have them on
either side: the last makes it a lower bound, the first two an upper one.
"""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies
from paprle.robot.bodies.arrays import to_arrays
from paprle.robot.bodies.distance import bound_along, bound_pair, measure_pair
from paprle.robot.tree import Primitive

CONVEX = ("sphere", "capsule", "box", "cylinder")
EXACT = {("sphere", shape) for shape in CONVEX} | {("capsule", "capsule")}
N_SIZES = {"sphere": 1, "capsule": 2, "box": 3, "cylinder": 2, "ground": 0}

sizes = st.floats(0.005, 0.5)
places = st.tuples(*[st.floats(-0.6, 0.6)] * 3).map(np.array)
# Also turns by right angles: parallel edges and faces are where iterations stumble.
turns = st.one_of(
    st.tuples(*[st.sampled_from([0.0, np.pi / 2, np.pi])] * 3),
    st.tuples(*[st.floats(-3.2, 3.2)] * 3),
).map(lambda rpy: pin.rpy.rpyToMatrix(*rpy))


def make(shape: str, size: tuple[float, ...]) -> Primitive:
    return Primitive(link="l", T_link_body=pin.SE3.Identity(), shape=shape, size=size)


@st.composite
def bodies_of(draw: st.DrawFn, *shapes: str) -> Primitive:
    shape = draw(st.sampled_from(shapes))
    return make(shape, tuple(draw(sizes) for _ in range(N_SIZES[shape])))


def place(bodies: Bodies, *poses: pin.SE3) -> tuple[Vec, Vec]:
    R = np.array([T.rotation @ bodies.R[i] for i, T in enumerate(poses)])
    p = np.array([T.act(bodies.p[i]) for i, T in enumerate(poses)])
    return R, p


def measure(
    one: Primitive, two: Primitive, T_one: pin.SE3, T_two: pin.SE3
) -> tuple[float, Vec, float]:
    bodies = to_arrays([one, two], {})
    R, p = place(bodies, T_one, T_two)
    out = np.full(9, np.nan)
    distance = measure_pair(bodies, 0, 1, R, p, out)
    return distance, out, bound_pair(bodies, 0, 1, R, p)


def coal_shape(body: Primitive) -> coal.CollisionGeometry:
    if body.shape == "ground":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    return getattr(coal, body.shape.capitalize())(*body.size)


def coal_distance(
    one: Primitive, two: Primitive, T_one: pin.SE3, T_two: pin.SE3
) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-9, 500
    places = [coal.Transform3s(T.rotation, T.translation) for T in (T_one, T_two)]
    shapes = [coal_shape(one), coal_shape(two)]
    return coal.distance(shapes[0], places[0], shapes[1], places[1], request, result)


def width_along(body: Primitive, T: pin.SE3, n: Vec) -> float:
    """How far a body reaches from its centre along n."""
    m = np.abs(T.rotation.T @ n)
    size = body.size
    if body.shape == "box":
        return float(m @ size) / 2
    if body.shape == "cylinder":
        return size[0] * float(np.hypot(m[0], m[1])) + m[2] * size[1] / 2
    return size[0] + (m[2] * size[1] / 2 if body.shape == "capsule" else 0.0)


def is_inside(body: Primitive, T: pin.SE3, point: Vec, slack: float) -> bool:
    x = np.abs(T.actInv(point))
    size = body.size
    if body.shape == "box":
        return bool((x <= np.array(size) / 2 + slack).all())
    if body.shape == "cylinder":
        return np.hypot(x[0], x[1]) <= size[0] + slack and x[2] <= size[1] / 2 + slack
    if body.shape == "capsule":
        x[2] = max(x[2] - size[1] / 2, 0.0)
    return bool(np.linalg.norm(x) <= size[0] + slack)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(bodies_of(*CONVEX), bodies_of(*CONVEX), places, places, turns, turns)
@example(  # parts of two end faces touch
    make("cylinder", (0.5, 0.5)),
    make("cylinder", (0.5, 0.5)),
    np.zeros(3),
    np.array([0.5, -0.5, 0.0]),
    pin.rpy.rpyToMatrix(np.pi / 2, np.pi / 2, 0.0),
    pin.rpy.rpyToMatrix(np.pi / 2, np.pi / 2, 0.0),
)
def test_distances_points_and_normals_are_right(
    one: Primitive, two: Primitive, p1: Vec, p2: Vec, R1: Vec, R2: Vec
) -> None:
    T_one, T_two = pin.SE3(R1, p1), pin.SE3(R2, p2)
    tolerance = (
        1e-9 if {(one.shape, two.shape), (two.shape, one.shape)} & EXACT else 1e-6
    )

    distance, out, bound = measure(one, two, T_one, T_two)
    on_one, on_two, n = out[:3], out[3:6], out[6:]
    reference = coal_distance(one, two, T_one, T_two)

    assert np.isfinite(out).all()
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    apart = n @ (p2 - p1) - width_along(one, T_one, n) - width_along(two, T_two, n)
    assert apart == pytest.approx(distance, abs=tolerance)
    assert bound <= distance + 1e-12
    if max(distance, reference) > 1e-7:
        assert distance == pytest.approx(reference, abs=max(tolerance, 2e-8))
    if distance > 0.0:
        assert n @ (on_two - on_one) == pytest.approx(distance, abs=tolerance)
        # An error e of a distance d lets the points slide by √(2 d e) on round rims.
        slide = tolerance if tolerance < 1e-6 else 2e-4
        assert on_two - on_one == pytest.approx(distance * n, abs=slide)
        assert is_inside(one, T_one, on_one, tolerance)
        assert is_inside(two, T_two, on_two, tolerance)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(bodies_of(*CONVEX), bodies_of(*CONVEX), places, places, turns, turns, turns)
def test_a_plane_that_kept_two_apart_never_tells_too_much(
    one: Primitive, two: Primitive, p1: Vec, p2: Vec, R1: Vec, R2: Vec, R3: Vec
) -> None:
    bodies, out = to_arrays([one, two], {}), np.full(9, np.nan)
    R, p = place(bodies, pin.SE3(R1, p1), pin.SE3(R2, p2))
    distance = measure_pair(bodies, 0, 1, R, p, out)
    n = out[6:].copy()

    same = bound_along(bodies, 0, 1, R, p, n)
    R, p = place(bodies, pin.SE3(R3, 0.9 * p1), pin.SE3(R2, p2))
    moved = bound_along(bodies, 0, 1, R, p, n)

    assert same == pytest.approx(distance, abs=1e-6)
    assert moved <= max(measure_pair(bodies, 0, 1, R, p, out), 0.0) + 1e-7


def test_a_half_space_is_bounded_by_its_height_alone() -> None:
    bodies = to_arrays([make("ground", ()), make("sphere", (0.1,))], {})
    R, p = place(bodies, pin.SE3.Identity(), pin.SE3(np.eye(3), np.ones(3)))

    for a, b in ((0, 1), (1, 0)):
        assert bound_along(bodies, a, b, R, p, np.eye(3)[2]) == -np.inf


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(bodies_of(*CONVEX), places, turns, turns)
def test_the_height_over_a_half_space_is_exact(
    body: Primitive, p: Vec, R: Vec, R_ground: Vec
) -> None:
    T, T_ground = pin.SE3(R, p), pin.SE3(R_ground, np.array([0.1, 0.2, -0.3]))
    up = R_ground[:, 2]
    height = up @ (p - T_ground.translation) - width_along(body, T, -up)

    distance, out, bound = measure(make("ground", ()), body, T_ground, T)

    assert distance == pytest.approx(height, abs=1e-12)
    assert bound == pytest.approx(height, abs=1e-12)
    assert out[6:] == pytest.approx(up)
    assert out[3:6] - out[:3] == pytest.approx(height * up, abs=1e-12)
    assert is_inside(body, T, out[3:6], 1e-9)
    assert up @ (out[:3] - T_ground.translation) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(bodies_of(*CONVEX), bodies_of(*CONVEX), places, turns, turns)
def test_overlaps_have_the_right_sign_and_a_normal_that_parts(
    one: Primitive, two: Primitive, p: Vec, R1: Vec, R2: Vec
) -> None:
    T_one, T_two = pin.SE3(R1, 0.05 * p), pin.SE3(R2, -0.05 * p)
    distance, out, _ = measure(one, two, T_one, T_two)
    assume(distance < -1e-6)

    assert coal_distance(one, two, T_one, T_two) < 1e-6
    parted = pin.SE3(R2, T_two.translation + (1e-6 - distance) * out[6:])
    assert measure(one, two, T_one, parted)[0] > 0.0


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(bodies_of(*CONVEX), bodies_of(*CONVEX), places, turns, turns)
@example(  # the corner of one is in a large face of the other
    make("box", (0.5, 0.5, 0.01)),
    make("box", (0.01, 0.01, 0.01)),
    np.array([0.0, 0.0, -0.09]),
    np.eye(3),
    np.eye(3),
)
def test_points_of_an_overlap_lie_where_the_bodies_overlap(
    one: Primitive, two: Primitive, p: Vec, R1: Vec, R2: Vec
) -> None:
    T_one, T_two = pin.SE3(R1, 0.05 * p), pin.SE3(R2, -0.05 * p)
    distance, out, _ = measure(one, two, T_one, T_two)
    assume(distance < -1e-6)
    on_one, on_two, n = out[:3], out[3:6], out[6:]

    assert on_two - on_one == pytest.approx(distance * n, abs=1e-9)
    slack = 1e-6 - distance / 200
    assert any(
        is_inside(one, T_one, x, slack) and is_inside(two, T_two, x, slack)
        for x in np.linspace(on_one, on_two, 101)
    )


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(bodies_of(*CONVEX), bodies_of(*CONVEX), places, turns, turns)
@example(  # the normal was off by a milliradian
    make("box", (0.5, 0.375, 0.25)),
    make("cylinder", (0.25, 0.5)),
    np.array([0.5, 0.3125, 0.375]),
    np.eye(3),
    pin.rpy.rpyToMatrix(0.5, 0.375, 1.0),
)
@example(  # rim above rim: it comes down beside the other, and touches it
    make("cylinder", (0.5, 0.5)),
    make("cylinder", (0.5, 0.5)),
    np.array([0.0, 0.5, 0.5]),
    np.eye(3),
    np.eye(3),
)
@example(  # rims that graze: 5.6e-17 m of rounding apart
    make("cylinder", (0.2421875, 0.5)),
    make("cylinder", (0.2421875, 0.5)),
    np.array([0.0, 0.5, 0.2421875]),
    pin.rpy.rpyToMatrix(0.0, np.pi / 2, np.pi / 2),
    pin.rpy.rpyToMatrix(np.pi / 2, 0.0, 0.0),
)
def test_bodies_that_touch_are_told_to(
    one: Primitive, two: Primitive, p: Vec, R1: Vec, R2: Vec
) -> None:
    T_one, T_two = pin.SE3(R1, p), pin.SE3(R2, -p)
    distance, out, _ = measure(one, two, T_one, T_two)
    assume(distance > 0.0)

    for gap in (1e-4, 1e-6):
        near = pin.SE3(R2, T_two.translation - (distance - gap) * out[6:])
        assert measure(one, two, T_one, near)[0] == pytest.approx(gap, abs=1e-7)
    deep = pin.SE3(R2, T_two.translation - (distance + 1e-4) * out[6:])
    # what coal finds touching along a tangent has no depth but rounding, all else has
    depth = measure(one, two, T_one, deep)[0]
    assert depth < 0.0 or (
        depth < 1e-15 and coal_distance(one, two, T_one, deep) > -1e-9
    )


@pytest.mark.parametrize("one", CONVEX)
@pytest.mark.parametrize("two", CONVEX)
@pytest.mark.parametrize("size", [0.1, 1e-6])
def test_the_same_place_is_no_riddle(one: str, two: str, size: float) -> None:
    a = make(one, (size,) * N_SIZES[one])
    b = make(two, (size,) * N_SIZES[two])
    T = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2, 0.1), np.array([0.5, 0.0, 0.1]))

    distance, out, bound = measure(a, b, T, T)

    assert np.isfinite(out).all()
    assert np.linalg.norm(out[6:]) == pytest.approx(1.0)
    assert bound <= distance < 0.0


@pytest.mark.parametrize(
    ("one", "two", "shift", "expected"),
    [
        (make("capsule", (0.1, 0.4)), make("capsule", (0.1, 0.4)), (0.5, 0, 0), 0.3),
        (make("capsule", (0.1, 0.4)), make("capsule", (0.1, 0.4)), (0, 0, 1.0), 0.4),
        (make("cylinder", (0.1, 0.4)), make("cylinder", (0.1, 0.4)), (0.5, 0, 0), 0.3),
        (make("cylinder", (0.1, 0.4)), make("cylinder", (0.1, 0.4)), (0, 0, 1.0), 0.6),
        (make("box", (0.2, 0.4, 0.6)), make("box", (0.2, 0.4, 0.6)), (0, 1.0, 0), 0.6),
        (
            make("box", (0.2, 0.4, 0.6)),
            make("box", (0.2, 0.4, 0.6)),
            (0.15, 0, 0),
            -0.05,
        ),
        (make("sphere", (0.1,)), make("box", (0.4, 0.4, 0.4)), (0.05, 0, 0), -0.25),
        (make("sphere", (0.1,)), make("cylinder", (0.2, 2)), (0.15, 0, 0), -0.15),
        (make("box", (0.6, 0.2, 0.2)), make("sphere", (0.1,)), (0.5, 0, 0), 0.1),
    ],
)
def test_distances_by_hand(
    one: Primitive, two: Primitive, shift: tuple[float, ...], expected: float
) -> None:
    T = pin.SE3(np.eye(3), np.array(shift, dtype=float))

    assert measure(one, two, pin.SE3.Identity(), T)[0] == pytest.approx(expected)
    assert measure(two, one, T, pin.SE3.Identity())[0] == pytest.approx(expected)
