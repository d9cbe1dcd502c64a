"""Several leaders of one live session: who dies takes its own limbs alone."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from cells import spread
from dynamixel_rig import running_rig
from running import SLACK, judge

from paprle.contracts.types import SessionState

pytestmark = [pytest.mark.process, pytest.mark.timed]

LIMBS = {"left": "left_arm", "right": "right_arm", "file": "left_leg"}
PUPPETEER = "puppeteer_papras_7dof"
TRIPLE = ["leader=mix", "follower=g1", "env=kinematic", "session.episodes=1"]
STALE = 0.1  # [s] spec: safety.md A1
LOST = 3
VICTIMS = spread(["left", "right", "file"], "left")


def pair_limbs(**sources):
    return [
        word
        for name, limb in LIMBS.items()
        for word in (
            f"retarget.limbs.{limb}.rule=relative",
            f"retarget.limbs.{limb}.from={sources.get(name, f'{name}.hand')}",
        )
    ]


def draw(name):
    words = {"type": "autopilot", "laps": 100, "size": 0.04, "speed": 0.08}
    return [f"leaders.{name}.{key}={value}" for key, value in words.items()]


def check_limbs(session, at_ns, victim):
    """The victim's limb came to rest in time and stayed; the others went on."""
    episode = session.episode()
    gate, robot = episode.gate, episode.robot_info
    limbs = {limb.name: limb for limb in robot.limbs}
    after = gate["stamp_ns"] > at_ns
    for name, limb in LIMBS.items():
        own = [robot.joint_names.index(j) for j in limbs[limb].joint_names]
        speed = np.abs(gate["dq_cmd"][:, own]).max(axis=1)
        before = (gate["stamp_ns"] > at_ns - 2e8) & ~after
        assert speed[before].max() > 0.01, f"{limb} moved"
        v_over_a = float((robot.dq_max / robot.ddq_max)[own].max())
        late = gate["stamp_ns"] > at_ns + (STALE + v_over_a + SLACK) * 1e9
        late &= gate["stamp_ns"] < at_ns + 1.4e9
        if name == victim:
            assert speed[late].max() == 0.0, f"{limb} still moves"
        else:
            assert speed[late].max() > 0.01, f"{limb} stopped as well"
    states = episode.ticks["state"][episode.ticks["stamp_ns"] < at_ns + 1.4e9]
    assert states[-1] == SessionState.ENGAGED
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_killed_leader_takes_its_own_limb_and_the_others_go_on(start, victim):
    words = [word for name in LIMBS for word in draw(name)]
    session = start(*TRIPLE, *pair_limbs(), *words)
    session.wait_for("ENGAGED", 120.0)
    session.find_pids(("gate", "recorder", *(f"leader:{name}" for name in LIMBS)))
    time.sleep(1.0)

    at_ns = session.kill(f"leader:{victim}")
    time.sleep(1.5)
    assert session.process.poll() is None, session.text()
    session.kill("session", signal.SIGINT)

    assert session.wait_gone() == LOST
    assert f"leader:{victim}: the process ended: it was killed" in session.text()
    assert "its limbs hold, the others go on" in session.text()
    check_limbs(session, at_ns, victim)


@pytest.fixture
def hands(tmp_path):
    """Settings of two puppeteers in two hands, and of a recorded hand."""
    path = tmp_path / "hand.csv"
    times = np.arange(0.0, 60.0, 0.02)
    rows = [f"{t:.2f},0,{0.04 * np.sin(2.0 * t):.5f},0,0,0,0,1" for t in times]
    path.write_text("t,x,y,z,qx,qy,qz,qw\n" + "\n".join(rows) + "\n")
    words = ["leaders.file.type=offline", f"leaders.file.path={path}"]
    motion = "motion=grasp_all:8,sines:60"
    with running_rig(PUPPETEER, motion) as one, running_rig(PUPPETEER, motion) as two:
        for name, rig in {"left": one, "right": two}.items():
            words += [
                f"leaders.{name}.type={PUPPETEER}",
                f"leaders.{name}.limbs.arm.port={rig.ports['arm']}",
            ]
        yield [*words, *pair_limbs(left="left.arm", right="right.arm")]


@pytest.mark.nightly
@pytest.mark.parametrize("victim", LIMBS)
def test_two_puppeteers_and_a_recording_die_one_by_one(start, hands, victim):
    session = start(*TRIPLE, *hands)
    session.wait_for("ENGAGED", 120.0)
    session.find_pids(("gate", "recorder", *(f"leader:{name}" for name in LIMBS)))
    time.sleep(8.0)  # until the hands move

    at_ns = session.kill(f"leader:{victim}")
    time.sleep(1.5)
    assert session.process.poll() is None, session.text()
    session.kill("session", signal.SIGINT)

    assert session.wait_gone() == LOST
    assert f"leader:{victim}: the process ended: it was killed" in session.text()
    check_limbs(session, at_ns, victim)


def test_the_last_leader_that_dies_ends_the_session(start):
    words = [word for name in LIMBS for word in draw(name)]
    session = start(*TRIPLE, *pair_limbs(), *words)
    session.wait_for("ENGAGED", 120.0)
    session.find_pids(("gate", "recorder", *(f"leader:{name}" for name in LIMBS)))

    for name in LIMBS:
        session.kill(f"leader:{name}")

    assert session.wait_gone() == LOST
    assert "ended: leader died" in session.text()
    assert judge(session.episode()).is_ok
