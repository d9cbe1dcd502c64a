"""ARBot's app plays a recorded hand as its own JSON: what is received, what it drives.

Requirement A2 on the real socket; the time of the leader and of the session is virtual.
"""

from __future__ import annotations

import json
import socket

import numpy as np
import pytest
from phones import TLS_ADDRESS, wait_until
from shared_data import find_shared
from websockets.sync.client import connect

from paprle.hardware.web.hand import HandClutch
from paprle.leaders.webxr.config import AppConfig, WebxrConfig
from paprle.leaders.webxr.leader import Webxr
from paprle.testing import ManualClock
from paprle.testing.stepped import EmulatedHand, H, SteppedSession

BEGAN = 0.5  # [s] that the app speaks before it moves
WORDS = ("leader=arpose", "leader.app.phone=127.0.0.1")


def read_rectangle():
    """Return a person's rectangle: times [s], positions [m], x y z w of its rows."""
    path = find_shared("motion/arbot_rectangle_H1.csv")
    rows = np.genfromtxt(path, delimiter=",", names=True)
    p = np.stack([rows[f"target_pos_{axis}"] for axis in "xyz"], axis=1)
    q = np.stack([rows[f"target_orient_{axis}"] for axis in "xyzw"], axis=1)
    t = rows["capture_timestamp"] - rows["capture_timestamp"][0]
    return t, p, q


def draw_square():
    """Return a square of our own, 6 cm and 4 s, that turns as it goes, at 30 Hz."""
    t = np.arange(0.0, 4.0, 1.0 / 30.0)
    side, part = np.divmod(t, 1.0)
    s = 0.06 * part**3 * (10.0 - 15.0 * part + 6.0 * part**2)
    y = np.choose(side.astype(int), [s, 0.06, 0.06 - s, 0.0])
    z = np.choose(side.astype(int), [0.0, s, 0.06, 0.06 - s])
    half = 0.1 * np.sin(np.pi * t / 4.0)
    q = np.stack([np.sin(half), 0.0 * t, 0.0 * t, np.cos(half)], axis=1)
    return t, np.stack([0.25 + 0.0 * t, 0.1 + y, 0.3 - z], axis=1), q


NIGHTLY = pytest.mark.sim, pytest.mark.nightly
MOTIONS = {"a person's rectangle": read_rectangle, "a square of ours": draw_square}


def write(p, q, gripper):
    """Return a message as the app writes it."""
    values = [float(x) for x in (*p, *q)]
    keys = ("x", "y", "z", "qx", "qy", "qz", "qw")
    return json.dumps(
        {"position": dict(zip(keys, values, strict=True)), "gripper": gripper}
    )


@pytest.fixture
def port():
    with socket.create_server((TLS_ADDRESS, 0)) as probe:
        return probe.getsockname()[1]


def open_app(port):
    return connect(f"ws://{TLS_ADDRESS}:{port}", proxy=None)


@pytest.mark.long
@pytest.mark.parametrize("motion", MOTIONS)
def test_every_pose_that_is_sent_is_received_to_the_bit(motion, port, monkeypatch):
    received, update = [], HandClutch.update
    note = lambda self, seen, *rest: (received.append(seen), update(self, seen, *rest))  # noqa: E731
    monkeypatch.setattr(HandClutch, "update", note)
    t, p, q = MOTIONS[motion]()
    grips = np.linspace(0.0, 1.0, len(t))
    clock, passed_on = ManualClock(), []
    app = AppConfig(phone="127.0.0.1", address=TLS_ADDRESS, port=port)
    leader = Webxr(WebxrConfig(device="phone", app=app), clock)
    leader.open()
    device = leader._station.device
    with open_app(port) as phone:
        for k, dt in enumerate(np.diff(t, prepend=0.0)):
            clock.advance(dt)
            phone.send(write(p[k], q[k], grips[k]))
            wait_until(lambda n=k: device.n_messages == n + 1)
            passed_on.append(leader.latest().limbs["hand"])
    leader.close()

    assert not device.refused
    assert device.n_jumps == 0
    assert np.array_equal([seen.p for seen in received], p)
    unit = q / np.linalg.norm(q, axis=1, keepdims=True)
    np.testing.assert_allclose(
        [seen.quat_xyzw for seen in received], unit, rtol=0.0, atol=2.3e-16
    )
    assert np.array_equal([seen.opening for seen in received], grips)
    moved = [one.T_leader_base_leader_eef.translation for one in passed_on]
    np.testing.assert_allclose(moved, p - p[0], atol=1e-12)


class AppHand(EmulatedHand):
    """A phone with the app, that plays a motion while ``speed`` is not zero."""

    every = 7  # ticks between messages: 29 Hz

    def __init__(self, leader, port, motion):
        super().__init__()
        self.device, self.phone = leader._station.device, open_app(port)
        self.t, self.p, self.q = motion
        self.n, self.now = 0, 0.0

    def tick(self):
        self.n += 1
        self.now = min(self.now + (H if self.speed else 0.0), self.t[-1])
        if self.n % self.every:
            return
        k = int(np.searchsorted(self.t, self.now, side="right")) - 1
        n = self.device.n_messages
        self.phone.send(write(self.p[k], self.q[k], 1.0))
        wait_until(lambda: self.device.n_messages > n)

    def close(self):
        self.phone.close()


@pytest.mark.long
@pytest.mark.parametrize("env", ["kinematic", pytest.param("mujoco", marks=[*NIGHTLY])])
def test_the_app_drives_a_robot_through_a_whole_session(env, port):
    motion = draw_square()
    words = (*WORDS, f"leader.app.address={TLS_ADDRESS}", f"leader.app.port={port}")
    session = SteppedSession(
        words,
        lambda leader, _: AppHand(leader, port, motion),
        ("follower=piper", f"env={env}"),
    )
    session.until("WAITING").step(BEGAN)
    operator = session.session
    operator.actions = operator.actions._replace(engage=operator.actions.engage + 1)
    session.until("ENGAGED").step(BEGAN)
    since = len(session.commands)
    session.hand.speed = 1.0
    session.step(motion[0][-1] + BEGAN)
    at_last = session.state
    session.close()

    session.judge()
    (limb,) = operator.plan.robot.limbs.values()
    poses = [limb.fk(limb.take(q)) for q in session.commands[since:]]
    moved = np.array([T.translation - poses[0].translation for T in poses])
    asked = motion[1] - motion[1][0]
    off = np.linalg.norm(moved[:, None] - asked, axis=2)
    assert at_last == "ENGAGED"
    assert off.min(axis=1).max() < 4e-3, "it leaves the square nowhere"
    assert off.min(axis=0).max() < 4e-3, "and goes through all of it"
