"""The place of a camera in R³, without a robot (requirements C1 to C6, 4.2)."""

import numpy as np
import pytest
from cells import spread
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.advisors.viewpoint.goal import (
    NO_OBSTACLES,
    GoalScene,
    GoalSolver,
    Shell,
    Wish,
    Wishes,
)
from paprle.advisors.viewpoint.kernels import (
    compute_loss,
    compute_loss_slope,
    find_nearest,
)

WISHES, EVERYWHERE = Wishes(), Shell()
seeds = st.integers(0, 2**32 - 1)


def scene_of(target=(0.0, 0.0, 0.2), distance=0.6, posts=(), shell=EVERYWHERE):
    obstacles = np.array([[*a, *b, r] for a, b, r in posts]) if posts else NO_OBSTACLES
    return GoalScene(np.array(target), distance, obstacles, shell)


@pytest.mark.parametrize(
    ("wish", "chi", "golden"),
    [
        (Wish(1.0), 0.0, -1.0),
        (Wish(1.0), 0.1, -0.606430660),
        (Wish(1.0), 1.0, 1.0),
        (Wish(1.0, n=0), 0.0, 1.0),
        (WISHES.height, 0.7, -1.0),
        (WISHES.height, 0.5, -0.606210660),
        (WISHES.occlusion, 0.12, 0.606530680),
        (WISHES.occlusion, 0.294, 0.049725621),
        (Wish(1.0, power=2, r=10.0), 0.1, -0.506530660),
    ],
)
def test_loss_is_that_of_the_paper(wish, chi, golden):
    assert compute_loss(np.array(wish, dtype=float), chi) == pytest.approx(
        golden, abs=1e-6
    )


@settings(deadline=None)
@given(chi=st.floats(-2, 2), power=st.sampled_from([2, 4]), n=st.sampled_from([0, 1]))
def test_slope_of_the_loss_is_that_of_its_values(chi, power, n):
    wish = np.array(Wish(1.0, n=n, s=0.3, c=0.15, power=power), dtype=float)
    h = 1e-5

    finite = (compute_loss(wish, chi + h) - compute_loss(wish, chi - h)) / (2 * h)

    assert compute_loss_slope(wish, chi) == pytest.approx(finite, abs=1e-6)


def search_distance(a, b, c, d):
    """The distance of segments by search: it is convex in each parameter."""
    low, high = np.zeros(len(a)), np.ones(len(a))
    e = d - c
    ee = np.maximum((e * e).sum(axis=1), 1e-30)

    def at(s):
        p = a + s[:, None] * (b - a)
        u = np.clip(((p - c) * e).sum(axis=1) / ee, 0.0, 1.0)
        return np.linalg.norm(p - c - u[:, None] * e, axis=1)

    for _ in range(60):
        third = (high - low) / 3.0
        is_left = at(low + third) < at(high - third)
        high = np.where(is_left, high - third, high)
        low = np.where(is_left, low, low + third)
    return np.minimum(at(low), np.minimum(at(np.zeros(len(a))), at(np.ones(len(a)))))


def draw_pairs(rng, n):
    """Segments at random; some are points, parallel, crossing, or 100 m long."""
    a, b, c, d = rng.normal(size=(4, n, 3))
    kind = rng.integers(0, 6, n)
    b = np.where((kind == 1)[:, None], a, b)
    d = np.where((kind == 2)[:, None], c + 0.7 * (b - a), d)
    d = np.where((kind == 3)[:, None], 2.0 * (a + 0.4 * (b - a)) - c, d)
    b = np.where((kind == 4)[:, None], a + 100.0 * b, b)
    return a, b, c, d


@pytest.mark.parametrize("n", spread([1_000, 100_000], 1_000))
def test_distance_of_segments_is_never_wrong(n):
    pairs = draw_pairs(np.random.default_rng(7), n)
    places, found = np.empty((n, 2)), np.empty(n)

    for i, (a, b, c, d) in enumerate(zip(*pairs, strict=True)):
        found[i] = find_nearest(a, b, c, d, places[i])

    assert (np.abs(found - search_distance(*pairs)) > 1e-6).sum() == 0
    a, b, c, d = pairs
    at = [a + places[:, :1] * (b - a), c + places[:, 1:] * (d - c)]
    np.testing.assert_allclose(np.linalg.norm(at[0] - at[1], axis=1), found, atol=1e-9)
    assert ((places >= 0.0) & (places <= 1.0)).all()


def test_cost_of_a_place_is_the_weighted_sum():
    post = ((0.1, -1.0, 0.4), (0.1, 1.0, 0.4), 0.0)
    scene = scene_of(target=(0.0, 0.0, 0.0), distance=0.4, posts=[post])

    value, _ = GoalSolver().cost(np.array([0.0, 0.0, 0.5]), scene)

    # 3·(e^(−.1²/.0288) + 1e-4·.1⁴) + (.2·.2⁴ − e^−.5) + 2·(.1⁴ − e^−.5)
    assert value == pytest.approx(2.119944864 - 0.606210660 - 1.212861319, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_gradient_of_the_cost_is_that_of_its_values(seed):
    rng = np.random.default_rng(seed)
    posts = [(*rng.normal(size=(2, 3)), 0.05 * rng.random()) for _ in range(4)]
    shell = Shell((0.0, 0.0, 0.0), 0.3, 0.8)
    scene = scene_of(rng.normal(size=3), 0.5, posts, shell)
    g, solver, h = rng.normal(size=3), GoalSolver(), 1e-6

    _, slope = solver.cost(g, scene)

    finite = [
        (solver.cost(g + h * e, scene)[0] - solver.cost(g - h * e, scene)[0]) / (2 * h)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(slope, finite, atol=1e-4 * (1 + np.abs(slope).max()))


def test_a_free_camera_is_as_far_and_as_high_as_asked():
    scene = scene_of(target=(0.3, 0.1, 0.2), distance=0.8)

    goal = GoalSolver().solve(scene, [np.array([1.0, 0.5, 0.4])])

    assert np.linalg.norm(goal.g - scene.target) == pytest.approx(0.8, abs=1e-3)
    assert goal.g[2] == pytest.approx(0.7, abs=1e-3)
    assert goal.cost == pytest.approx(-3.0, abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_the_goal_looks_past_what_is_in_the_way(seed):
    rng = np.random.default_rng(seed)
    start = np.array([0.6, 0.0, 0.7]) + 0.05 * rng.normal(size=3)
    target = np.array([0.0, 0.0, 0.2])
    middle = 0.5 * (start + target) + [0.0, 0.03 * rng.choice([-1, 1]), 0.0]
    begin, end = middle - [0, 0, 0.5], middle + [0, 0, 0.1]
    scene = scene_of(target, 0.7, [(begin, end, 0.02)])

    goal = GoalSolver().solve(scene, [start])

    before = find_nearest(start, target, begin, end, np.empty(2))
    after = find_nearest(goal.g, target, begin, end, np.empty(2))
    assert after > max(0.1, before)
    assert goal.cost <= GoalSolver().cost(start, scene)[0]


def test_the_goal_stays_within_reach():
    shell = Shell((2.0, 0.0, 0.5), 0.2, 0.9)
    scene = scene_of(distance=0.4, shell=shell)

    goal = GoalSolver().solve(scene, [np.array([1.5, 0.0, 0.7])])

    assert np.linalg.norm(goal.g - shell.centre) < 0.95


def test_the_goal_stays_above_what_is_lowest():
    shell = Shell((0.5, 0.0, -0.1), 0.0, 0.1)  # all that is in reach is below
    scene, start = scene_of(shell=shell), np.array([0.5, 0.0, 0.25])
    low = GoalSolver().solve(scene, [start])

    goal = GoalSolver().solve(scene._replace(lowest=0.2), [start])

    assert low.g[2] < 0.15, "nothing draws it down"
    assert goal.g[2] >= 0.2 - 1e-9
