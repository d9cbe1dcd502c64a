"""What ``paprle identify`` writes for a site, and who uses it."""

import pytest
import yaml

from paprle.cli.identify import (
    _open_leader,
    advise_lag,
    count_periods,
    summarise_lags,
    write_site,
)
from paprle.config import resolve
from paprle.config.measured import say_others
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import FollowerInfo
from paprle.haptics.identify import FollowerLag
from paprle.haptics.stability.check import Delays
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_feedback
from paprle.ipc.process import WORKSPACE

NAMES = {"leader": "puppeteer_piper", "follower": "piper", "env": "mujoco"}
OF_LEADER = {"loop_delay": 0.02, "viscous": {"arm/joint1": 0.04}}
OF_FOLLOWER = {"dead_time": 0.01, "time_constant": 0.02}


@pytest.fixture
def site(tmp_path):
    """A workspace with a site of its own."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "urdf").symlink_to(WORKSPACE / "urdf")
    for part in NAMES:
        (tmp_path / "configs" / part).symlink_to(WORKSPACE / "configs" / part)
    return tmp_path


def path_of(site):
    return site / "configs/site/session.yaml"


def read_rig(site, **other):
    words = [f"{part}={name}" for part, name in {**NAMES, **other}.items()]
    return resolve(words, site).feedback.rig


def test_identified_values_join_those_of_the_site(site):
    path = path_of(site)
    path.parent.mkdir()
    path.write_text("session: {rate: 100}\nfeedback: {rig: {dead_time: 0.03}}\n")
    write_site(path, OF_LEADER, NAMES)

    assert yaml.safe_load(path.read_text()) == {
        "session": {"rate": 100},
        "feedback": {
            "rig": {
                "dead_time": 0.03,
                **OF_LEADER,
                "measured_with": {"leader": "puppeteer_piper"},
            }
        },
    }


def test_measured_values_are_used_by_the_same_rig(site):
    write_site(path_of(site), {**OF_LEADER, **OF_FOLLOWER}, NAMES)

    rig = read_rig(site)
    assert rig.viscous == OF_LEADER["viscous"]
    assert (rig.dead_time, rig.time_constant) == (0.01, 0.02)
    assert not list(say_others(rig.measured_with, NAMES))


@pytest.mark.parametrize(
    ("other", "is_leaders", "is_followers"),
    [
        ({"leader": "puppeteer_papras_7dof"}, False, True),
        ({"follower": "piper_2arm"}, True, False),
        ({"env": "kinematic"}, True, False),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_another_rig_does_without_it_and_says_so(site, other, is_leaders, is_followers):
    write_site(path_of(site), {**OF_LEADER, **OF_FOLLOWER}, NAMES)

    rig = read_rig(site, **other)
    assert bool(rig.viscous) == (rig.loop_delay == 0.02) == is_leaders
    assert (rig.dead_time == 0.01) == (rig.time_constant == 0.02) == is_followers
    (note,) = say_others(rig.measured_with, {**NAMES, **other})
    part, name = next(iter(other.items()))
    assert f"{part}={NAMES[part]}" in note
    assert "paprle identify " in note
    assert f"{part}={name}" in note


def test_measuring_another_leader_replaces_the_first_ones_joints(site):
    write_site(path_of(site), {**OF_LEADER, **OF_FOLLOWER}, NAMES)
    other = {**NAMES, "leader": "puppeteer_ur5"}
    write_site(path_of(site), {"coulomb": {"arm/elbow": 0.1}}, other)

    rig = yaml.safe_load(path_of(site).read_text())["feedback"]["rig"]
    assert rig == {
        **OF_FOLLOWER,
        "coulomb": {"arm/elbow": 0.1},
        "measured_with": other,
    }


def test_a_site_with_a_friction_of_nothing_is_refused(site):
    write_site(path_of(site), {"coulomb": {"arm/joint1": 0.0}}, NAMES)

    with pytest.raises(ConfigError, match=r"feedback\.rig\.coulomb\.arm/joint1"):
        read_rig(site)


def test_the_slowest_joint_counts_where_stability_is_judged(site):
    """Not the middle one; in the model of free motion each has its own."""
    lags = {"joint1": (0.01, 0.02), "joint2": (0.03, 0.01), "joint3": (0.02, 0.06)}
    found = summarise_lags({name: FollowerLag(*lag, 0.1) for name, lag in lags.items()})
    write_site(path_of(site), found, NAMES)

    rig = read_rig(site)
    assert (rig.dead_time, rig.time_constant) == (0.02, 0.06)
    assert rig.lags == lags
    assert Delays.of(400.0, rig).lag == pytest.approx(0.08 * (1 + rig.lag_spread))


def test_a_slow_gate_and_a_slow_tick_are_in_the_delay():
    words = [f"{part}={name}" for part, name in {**NAMES, "env": "kinematic"}.items()]
    usual = resolve(words)
    slow = resolve([*words, "env.rate=50", "session.rate=100"])
    leader = make_leader(usual).info

    more = count_periods(slow, 400.0) - count_periods(usual, 400.0)
    gate = 2 / 50 - 2 / usual.env.rate
    assert more == pytest.approx(1 / 100 - 1 / usual.session.rate + gate)
    assert make_feedback(usual, leader).rig.loop_delay == usual.feedback.rig.loop_delay
    least = 1 / 400 + 0.5 / 100 + 1 / 50
    assert make_feedback(slow, leader).rig.loop_delay == pytest.approx(least)


@pytest.mark.parametrize(
    ("lag", "is_simulated", "is_told"),
    [(0.025, False, True), (0.05, False, False), (0.025, True, False)],
)
def test_a_lag_that_the_gate_does_not_know_of_is_told(lag, is_simulated, is_told):
    info = FollowerInfo(joint_names=("a",), rate=200.0, lag=lag, simulated=is_simulated)
    found = {"dead_time": 0.015, "time_constant": 0.037}

    told = advise_lag(found, info, "piper", "can")

    assert ("set envs.can.lag to 0.052" in told) == is_told


def test_the_lag_of_several_arms_is_set_arm_by_arm():
    info = FollowerInfo(joint_names=("left_a",), rate=200.0, lag=0.02)
    found = {"dead_time": 0.015, "time_constant": 0.037}

    told = advise_lag(found, info, "duo", "mix", "LIMB.lag")

    assert "set envs.mix.LIMB.lag to 0.052" in told
    assert "env.LIMB.lag=0.052" in told


def test_a_leader_that_falls_without_torque_is_not_swung(capsys):
    words = ("leader=openarm", "follower=openarm", "env=kinematic")

    assert _open_leader(resolve(words)) is None

    assert "falls without torque" in capsys.readouterr().out
