"""F2 and F3: nothing diverges below the bound, and what is above it is refused."""

import itertools

import numpy as np
import pytest
from cells import spread
from feel_rig import (
    FeelRig,
    Hand,
    Motors,
    Servos,
    make_settings,
    make_toy_leader,
    wall_at,
)

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.feedback import RigSettings
from paprle.feedback.damping import Damping, DampingConfig
from paprle.feedback.friction import Friction, FrictionConfig
from paprle.feedback.tracking import Tracking, TrackingConfig
from paprle.haptics.haptics import make_haptics
from paprle.haptics.stability.check import (
    Delays,
    Weighted,
    measure_margin,
    read_springs,
    refuse_unstable,
)
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot
from paprle.ipc.records import make_layout
from paprle.testing import make_feedback_input

pytestmark = pytest.mark.long

B = 0.05
LAG = {"dead_time": 0.02, "time_constant": 0.04}
TICK = 0.01  # delay of session and gate


def find_stiffness(delay, ratio, rate):
    """Stiffness of either spring that takes this share of the bound alone."""
    delays = Delays.of(rate, RigSettings(loop_delay=delay + TICK, **LAG))
    return ratio * B / (2 * delays.local), ratio * B / (2 * delays.delayed)


def release(late, loss, ratio, part, *, has_controller=True, damping=None, **rig):
    """Press on something for a second and let go; ``part`` of the local spring.

    Caps are out of the way: they would hide a divergence. With ``damping``, settings of
    that law, the springs are so much stiffer that their share of the bound stays.
    """
    k_gate, k_follower = find_stiffness(
        late, min(ratio, 0.9), rig.get("sample_rate", 400)
    )
    settings = make_settings(
        {"loop_delay": late + TICK, "damping": B, **LAG},
        tracking={"k_gate": part * k_gate, "k_follower": (1 - part) * k_follower},
        options={"handle_force": 15.0},
        **({} if damping is None else {"damping": damping}),
    )
    made = {
        "motors": Motors([0.0], rig.pop("inertia", 0.004), viscous=B),
        "hand": Hand(lambda t: np.array([min(0.6, t)]), 60.0, 1.0),
        "servos": Servos([0.0], touch=wall_at(0.2)),
        "command": np.zeros_like if part > 0.5 else np.copy,
        "bus_delay": late,
        "delay": TICK,
    }
    rig = FeelRig(settings, loss=loss, **{**made, **rig})
    composer = rig.haptics.composer
    composer.caps, composer._rise = np.array([50.0]), np.array([1e5])
    weight = ratio / rig.haptics.margins["arm"].ratio
    rig.haptics._laws = tuple(
        law._replace(weight=weight) if law.name == "tracking" else law
        for law in rig.haptics._laws
    )
    if not has_controller:
        composer.passivity.control = lambda tau, _dq, _dt: tau
    rig.run(1.0)
    rig.hand = None
    return rig.run(2.0)


def check_below(delay, loss, part, sample_rate):
    """The bound alone has to hold it; and with the controller, no energy comes out.

    Not as the observer believes, but as the joint really moved; and together with what
    the leader's own friction takes, not even of torques that were late.
    """
    leader = make_toy_leader(rate=sample_rate)
    how = {"sample_rate": sample_rate, "leader": leader}
    for has_controller in (False, True):
        felt = release(delay, loss, 0.99, part, has_controller=has_controller, **how)
        q = felt["q"][:, 0]

        assert np.ptp(q[-200:]) < 0.05 * 0.6
        assert np.abs(q).max() < 0.75
        assert felt["port"].min() >= 0.0
    assert felt["energy"].min() >= 0.0
    assert felt["true"].min() >= 0.0


RATES = (400, 250, 200)  # of samples; the feedback has 400
INERTIAS = (4e-4, 0.004, 0.02)  # [kg·m²]


def release_at_random(rng):
    """Let go of some leader after some motion against something, below the bound."""
    depth, lasts, f = rng.uniform(0.1, 1.2), rng.uniform(0.15, 0.9), rng.uniform(1, 6)
    motions = (
        lambda t: min(depth * t / lasts, depth),
        lambda t: depth * (0.5 - 0.5 * np.cos(2 * np.pi * f * t)),
        lambda t: 0.3 + 0.15 * np.sin(2 * np.pi * f * t),
    )
    motion = motions[rng.integers(3)]
    rate = float(rng.choice(RATES))
    return release(
        rng.uniform(0.0, 0.1), rng.uniform(0.0, 0.1), rng.choice([0.5, 0.99]),
        rng.uniform(), sample_rate=rate, leader=make_toy_leader(rate=rate),
        inertia=rng.uniform(0.001, 0.02),
        hand=Hand(
            lambda t: np.array([motion(t)]), rng.uniform(3, 90), rng.uniform(0.1, 1.5)
        ),
        servos=Servos([0.0], touch=wall_at(rng.uniform(0.0, 0.5))),
    )  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("seed", spread(range(60), 6))
def test_a_release_at_random_gives_no_energy(seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        felt = release_at_random(rng)

        assert felt["energy"].min() >= 0.0
        assert felt["true"].min() >= 0.0


CORNERS = [
    (*cell, part)
    for cell in (
        (0.0, 0.0, 250),
        (0.0, 0.1, 200),
        (0.03, 0.0, 200),
        (0.03, 0.1, 400),
        (0.1, 0.0, 250),
        (0.1, 0.1, 400),
    )
    for part in (1.0, 0.0)
]


@pytest.mark.parametrize(
    ("delay", "loss", "sample_rate", "part"),
    spread(CORNERS, (0.0, 0.1, 200, 1.0), (0.1, 0.0, 250, 0.0)),
)
def test_nothing_diverges_below_the_bound(delay, loss, sample_rate, part):
    check_below(delay, loss, part, sample_rate)


@pytest.mark.nightly
@pytest.mark.parametrize("sample_rate", RATES)
@pytest.mark.parametrize("part", [1.0, 0.75, 0.5, 0.25, 0.0])
@pytest.mark.parametrize("loss", [0.0, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.01, 0.02, 0.05, 0.07, 0.1])
def test_nothing_diverges_anywhere_below_the_bound(delay, loss, part, sample_rate):
    check_below(delay, loss, part, sample_rate)


@pytest.mark.parametrize(
    ("k_gate", "sample_rate"),
    spread(itertools.product((0.3, 1.0), RATES), (0.3, 400), (1.0, 200)),
)
def test_a_spring_let_go_of_gives_back_no_more_than_it_took(k_gate, sample_rate):
    """At the caps of a small servo, with samples slower than the feedback."""
    settings = make_settings({"damping": 0.2}, tracking={"k_gate": k_gate})
    rig = FeelRig(
        settings,
        motors=Motors([0.0], viscous=B),
        hand=Hand(lambda t: np.array([min(0.6, t)]), 60.0, 1.0),
        command=np.zeros_like,
        sample_rate=sample_rate,
    )
    rig.haptics.composer.caps[:] = 0.3
    rig.haptics.composer._rise[:] = 0.3 / 0.03
    rig.run(1.0)
    rig.hand = None

    assert rig.run(2.0)["true"].min() >= 0.0


def test_far_above_the_bound_it_does_diverge():
    """The bound has something to say: five times as stiff, nobody holds the leader."""
    felt = release(0.05, 0.0, 5.0, 1.0, has_controller=False)
    tail = felt["q"][-200:, 0]

    assert np.ptp(tail) > 0.6


def test_the_controller_keeps_even_that_from_running_away():
    felt = release(0.05, 0.0, 5.0, 1.0)

    assert np.ptp(felt["q"][-200:, 0]) < 0.2
    assert felt["energy"].min() >= 0.0
    assert felt["true"].min() >= 0.0


# --- the gate at load ----------------------------------------------------------------

N = 3
JOINTS = tuple(f"arm/joint{i}" for i in range(N + 1))
DELAYS = Delays(period=0.0025, loop=0.01, lag=0.05, bus=0.01)


def measure(laws, damping=B):
    weighted = [Weighted(type(law).__name__.lower(), law, 1.0) for law in laws]
    springs = read_springs(weighted, [make_feedback_input(N)])
    return measure_margin(springs, np.full(N + 1, damping), JOINTS, DELAYS)


def test_a_joint_spring_meets_the_formula():
    """½ B / (T/2 + T_d + L̂), which is where the ratio is 1."""
    bound = 0.5 * B / (0.00125 + 0.01 + 0.05)
    law = Tracking(TrackingConfig(k_gate=0.0, k_follower=bound))

    assert measure([law]).ratio == pytest.approx(1.0)


def test_a_spring_to_what_stands_still_is_late_by_the_loop_alone():
    bound = 0.5 * B / (0.00125 + 0.01)
    law = Tracking(TrackingConfig(k_gate=bound, k_follower=0.0))

    assert measure([law]).ratio == pytest.approx(1.0)


def test_laws_add_up():
    law = Tracking(TrackingConfig(k_gate=0.4, k_follower=0.1))

    one, two = measure([law]), measure([law, law])
    assert two.ratio == pytest.approx(2 * one.ratio)
    assert abs(two.K - 2 * one.K) < 1e-12


def test_friction_compensation_takes_damping_away():
    law = Tracking(TrackingConfig(k_gate=0.4, k_follower=0.1))
    help_along = Friction(FrictionConfig(viscous_share=0.5, coulomb_share=0.0))

    assert measure([law, help_along]).ratio == pytest.approx(2 * measure([law]).ratio)
    assert measure([law, help_along]).lost == pytest.approx(0.025)


def test_friction_that_cancels_all_damping_is_refused():
    help_along = Friction(FrictionConfig(viscous_share=0.5, coulomb_share=0.0))
    with pytest.raises(ConfigError, match=r"expected damping above 0, got -0\.025"):
        refuse_unstable([measure([help_along] * 3)], DELAYS)


@pytest.mark.parametrize(("share", "weight"), [(0.8, 1.05), (0.5, 2.0)])
def test_cancelling_more_than_the_sure_dry_friction_is_refused(share, weight):
    friction = {"coulomb_share": share, "weight": weight}
    with pytest.raises(ConfigError, match="expected at most 0.8 of the dry friction"):
        FeelRig(make_settings({"damping": B}, friction=friction))


@pytest.mark.parametrize(
    ("late", "inertia"),
    spread(itertools.product((0.0, 0.02), INERTIAS), (0.0, 0.02), (0.02, 4e-4)),
)
def test_dry_friction_cancelled_late_never_moves_the_leader(late, inertia):
    """At most its share of c |dq| is given, and the gears take c |dq| meanwhile."""
    settings = make_settings(
        {"viscous": {"arm/joint1": 0.006}, "coulomb": {"arm/joint1": 0.018}},
        friction={"coulomb_share": 0.8},
    )
    motors = Motors([0.0], inertia=inertia, viscous=0.006, coulomb=0.018)
    motors.dq[:] = 2.0
    rig = FeelRig(settings, motors=motors, bus_delay=late)
    felt = rig.run(1.5)
    speed = np.abs(felt["dq"][:, 0])

    assert np.all(np.diff(speed) <= 1e-9)
    assert speed[-1] < 0.5 * speed[0]


def test_the_refusal_names_the_numbers_and_what_to_lower():
    margin = measure([Tracking(TrackingConfig(k_gate=0.0, k_follower=2.0))])
    with pytest.raises(ConfigError) as refusal:
        refuse_unstable([margin], DELAYS)

    text = str(refusal.value)
    assert "arm/joint0: expected 2 (T/2 + T_d + L̂) K / B ≤ 1, got 4.90" in text
    assert "K 2 N·m/rad; B 0.05 N·m·s/rad" in text
    assert "T/2 1.2 ms + T_d 10.0 ms + L̂ 50.0 ms" in text
    assert "lower feedback.laws.tracking.weight, or all weights by 0.20" in text


def test_the_lag_counts_as_far_as_it_may_be_learnt():
    rig = RigSettings(dead_time=0.02, time_constant=0.04, lag_spread=0.25)

    assert Delays.of(400.0, rig).lag == pytest.approx(0.075)


def test_samples_slower_than_the_thread_make_its_period():
    settings = make_settings(
        {"damping": 0.2}, tracking={"k_gate": 0.4, "k_follower": 0.0}
    )
    ratios = [
        FeelRig(settings, leader=make_toy_leader(rate=rate))
        .haptics.margins["arm"]
        .ratio
        for rate in (800.0, 400.0, 100.0)
    ]

    assert ratios[0] == ratios[1]
    assert ratios[2] / ratios[1] == pytest.approx((5.0 + 12.0) / (1.25 + 12.0))


@pytest.mark.parametrize("mode", ["relative", "absolute"])
def test_a_scale_counts_where_motion_is_relative_alone(mode):
    """The session leaves it out of absolute poses."""
    words = ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic")
    resolved = resolve((*words, f"retarget.mode={mode}"))
    robot, leader = make_robot(resolved), make_leader(resolved).info
    layout = make_layout(robot.info, leader)
    settings = make_settings({}, task_tracking={})
    parts = settings, robot, leader, resolved.retarget, layout
    haptics, gain_scale = make_haptics(*parts), []
    for scale in (1.0, 3.0):
        haptics.check_stability(scale)
        gain_scale.append(haptics.gain_scale[0])

    assert (gain_scale[0] == gain_scale[1]) == (mode == "absolute")


def test_a_law_that_stands_as_it_comes_makes_room_for_what_was_configured():
    """Switching one law on must not refuse a rig that nobody has measured."""
    rig = {"damping": 0.008}
    alone = FeelRig(make_settings(rig, tracking={})).haptics
    beside = FeelRig(
        make_settings(
            rig, tracking={}, bias={"stiffness": 0.1}, options={"base": {"arm": (0.0,)}}
        )
    ).haptics

    assert alone.margins["arm"].ratio == pytest.approx(0.9)
    assert 0.0 < beside.gain_scale[0] < alone.gain_scale[0] < 1.0
    assert beside.margins["arm"].ratio == pytest.approx(0.9)


def test_configured_laws_may_couple_joints_that_are_scaled_one_by_one():
    """An arm's own weight does: joint by joint there was room, in all there was not."""
    weight = "feedback.laws.gravity.share=0.4"
    rig = ("leader=puppeteer_piper", "follower=piper", "env=kinematic", weight)
    resolved = resolve(rig)
    robot, info = make_robot(resolved), make_leader(resolved).info
    layout = make_layout(robot.info, info)

    haptics = make_haptics(resolved.feedback, robot, info, resolved.retarget, layout)

    assert 0.5 < haptics.margins["arm"].ratio < 0.9 + 1e-9
    assert haptics.gain_scale.max() > 0.0


def test_added_damping_makes_room_but_never_as_much_as_if_it_were_the_motors():
    law = Tracking(TrackingConfig(k_gate=0.4, k_follower=0.1))
    active = measure([law, Damping(DampingConfig(share=1.0))])

    assert measure([law], 2 * B).ratio < active.ratio < 0.8 * measure([law]).ratio


def test_added_damping_that_comes_too_late_to_damp_is_refused():
    """Half a period late it pushes; with 15 ms of delay that is from 200 rad/s on."""
    law = Damping(DampingConfig(share=2.0, lag=1e-4))
    with pytest.raises(ConfigError, match="turned against quick motion"):
        refuse_unstable([measure([law])], DELAYS)


LATE = {"bus_delay": TICK, "delay": 0.0, "has_controller": False}


@pytest.mark.parametrize(
    ("part", "inertia"),
    spread(itertools.product((1.0, 0.0), INERTIAS), (1.0, 4e-4), (0.0, 0.02)),
)
def test_with_added_damping_nothing_diverges_whatever_the_inertia(part, inertia):
    felt = release(0.0, 0.0, 0.99, part, damping={}, inertia=inertia, **LATE)
    q = felt["q"][:, 0]  # let go after 400 steps

    assert np.ptp(q[-200:]) < 0.5 * np.ptp(q[400:600])
    assert np.abs(q).max() < 0.75


@pytest.mark.parametrize("k_follower", [0.3, 30.0])
def test_gains_that_somebody_configured_are_refused_and_never_scaled(k_follower):
    settings = make_settings({"damping": B}, tracking={"k_follower": k_follower})
    if k_follower < 1.0:
        settings = make_settings({"damping": 0.2}, tracking={"k_follower": k_follower})
        assert np.all(FeelRig(settings).haptics.gain_scale == 1.0)
    else:
        with pytest.raises(ConfigError, match="joint1: expected 2"):
            FeelRig(settings)


@pytest.mark.parametrize("is_measured", [False, True])
def test_the_start_says_how_much_of_a_wall_an_unmeasured_rig_has(is_measured):
    known = ("viscous", 0.016), ("coulomb", 0.035)
    names = [f"arm/{j}" for j in (*(f"joint{i}" for i in range(1, 8)), "gripper")]
    words = [f"feedback.rig.{k}.{n}={v}" for k, v in known for n in names]
    resolved = resolve(
        (
            "leader=puppeteer_papras_7dof",
            "follower=papras_7dof",
            "env=kinematic",
            *((*words, "feedback.rig.leader_delay=0.002") if is_measured else ()),
        )
    )
    robot, leader = make_robot(resolved), make_leader(resolved).info
    layout = make_layout(robot.info, leader)
    haptics = make_haptics(resolved.feedback, robot, leader, resolved.retarget, layout)

    assert ("a wall has 3" in haptics.describe()) is not is_measured
    assert ("its bus's delay are guesses" in haptics.describe()) is not is_measured
    assert haptics.is_measured is is_measured
    assert haptics.held_scale.min() > (0.9 if is_measured else 0.25)
