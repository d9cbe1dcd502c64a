"""A gate that stood still begins anew at rest, judged by how the robot moved."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import FollowerInfo, FollowerState, GateState, LeaderInfo
from paprle.gate.controller import GateController
from paprle.gate.reason_text import describe_reasons
from paprle.gate.reasons import Reason, from_bits
from paprle.ipc.records import Request, make_layout
from paprle.testing.robots import make_robot_info

H_NS, MS = 5_000_000, 1_000_000
H = H_NS * 1e-9
ROBOT = make_robot_info(2)
LAYOUT = make_layout(ROBOT, LeaderInfo(limbs=()))
FAST = 0.5  # of V
STALLS = (0.03, 0.3, 0.9, 1.5, 21.0)
LAG = 0.02  # [s] of a servo


class Robot:
    """Moves by itself, millisecond by millisecond, whether its gate runs or not.

    One kind goes to its last target; one has a brake with each command, as behind a
    trajectory controller, and says where it ends.
    """

    def __init__(self, *, brakes):
        self.brakes, self.now_ns = brakes, 0
        self.q = self.dq = self.target = self.speed = np.zeros(2)
        self.creep, self.path, self.sent = 0.0, [], []
        self.sent_ns = 0

    def run(self, dt_ns):
        A = ROBOT.ddq_max
        for _ in range(dt_ns // MS):
            self.now_ns += MS
            if self.brakes and self.now_ns > self.sent_ns + H_NS:
                less = np.maximum(np.abs(self.speed) - A * 1e-3, 0.0)
                self.speed = np.sign(self.speed) * less
                self.target = self.target + 1e-3 * self.speed
            before = self.q
            self.target = self.target + 1e-3 * self.creep
            self.q = before + (self.target - before) * (1e-3 / LAG)
            self.dq = (self.q - before) * 1e3
            self.path.append((self.now_ns, self.q))

    def read(self):
        is_alone = self.brakes and self.now_ns > self.sent_ns + 3 * H_NS
        end = self.target + np.sign(self.speed) * self.speed**2 / (2 * ROBOT.ddq_max)
        return FollowerState(
            stamp_ns=self.now_ns,
            q=self.q,
            dq=self.dq,
            q_held=end if is_alone else None,
        )

    def write(self, q):
        self.speed = (q - self.target) / H if self.sent else np.zeros(2)
        if self.now_ns > self.sent_ns + 3 * H_NS:
            self.speed = np.zeros(2)
        self.target, self.sent_ns = q, self.now_ns
        self.sent.append(np.array(q))


class Rig:
    """A gate in fast motion, and a session that goes on asking for it."""

    def __init__(self, *, brakes=False):
        self.robot, self.asleep_ns, self.asked = Robot(brakes=brakes), 0, None
        info = FollowerInfo(joint_names=ROBOT.joint_names, rate=1 / H, lag=LAG)
        args = (ROBOT, GateSettings(), self.robot, info, LAYOUT, H)
        self.gate = GateController(*args)
        self.request, self.q_des, self.speed = Request.READY, np.zeros(2), np.zeros(2)
        self.seq = self.n_resets = 0
        self.step(3)
        self.request = Request.MOVE
        for share in (*np.linspace(0.0, 1.0, 40), *[1.0] * 20):
            self.speed = share * FAST * ROBOT.dq_max
            self.step()

    def step(self, n=1):
        for _ in range(n):
            self.robot.run(H_NS)
            self.seq, self.q_des = self.seq + 1, self.q_des + H * self.speed
            asked = np.zeros((), LAYOUT.setpoint)
            asked["seq"], asked["request"] = self.seq, self.request
            asked["stamp_ns"] = asked["source_ns"] = asked["at_ns"] = self.now_ns
            asked["valid_for_ns"], asked["n_resets"] = 100 * MS, self.n_resets
            asked["q_des"], asked["dq_des"] = self.q_des, self.speed
            self.asked = asked
            self.period()
        return self

    def period(self):
        boot_ns = self.now_ns + self.asleep_ns
        self.status = self.gate.step(self.asked, self.now_ns, None, boot_ns)

    @property
    def now_ns(self):
        return self.robot.now_ns - self.asleep_ns

    def stall(self, seconds, *, suspended=False):
        """Nothing of ours runs; the robot does."""
        self.robot.run(round(seconds * 1e9))
        self.asleep_ns += round(seconds * 1e9) * suspended

    @property
    def state(self):
        return GateState(int(self.status["state"])).name

    def reasons(self, field="reasons"):
        return from_bits(int(self.status[field]))

    def moved_after(self, since_ns):
        path = np.array([q for t_ns, q in self.robot.path if t_ns >= since_ns])
        return np.abs(path - path[0]).max()

    def hardest_after(self, since_ns):
        """Largest acceleration of the robot, over a period at a time."""
        path = np.array([q for t_ns, q in self.robot.path if t_ns >= since_ns])[::5]
        return (np.abs(np.diff(path, 2, axis=0)).max(axis=0) / H**2).max()


@pytest.fixture(params=[False, True], ids=["holds its target", "brakes"])
def rig(request):
    rig = Rig(brakes=request.param)
    assert rig.state == "ENGAGED"
    assert np.abs(rig.robot.dq).min() > 0.7 * FAST * ROBOT.dq_max.min()
    return rig


@pytest.mark.parametrize("seconds", STALLS)
def test_after_a_stall_the_robot_stands_until_it_is_engaged_again(rig, seconds):
    rig.stall(seconds)
    at_ns = rig.robot.now_ns
    rig.step(300)

    settled_ns = at_ns + (0 if seconds > 0.2 else 600 * MS)
    assert rig.moved_after(settled_ns) < 2e-3
    assert rig.state == ("STOPPED" if seconds > 1.0 else "HOLD")
    assert len({tuple(q) for q in rig.robot.sent[-200:]}) == 1, "one place, from rest"
    if rig.state == "STOPPED":
        return

    rig.request, rig.speed = Request.READY, np.zeros(2)
    rig.step(2)
    assert rig.state == "READY"
    rig.request, rig.q_des = Request.MOVE, rig.status["q_cmd"].copy()
    begin_ns = rig.robot.now_ns
    for share in np.linspace(0.0, 1.0, 60):
        rig.speed = share * 0.3 * ROBOT.dq_max
        rig.step()
    assert rig.moved_after(begin_ns) > 0.02
    assert rig.hardest_after(begin_ns) <= 1.01 * ROBOT.ddq_max.max()


def test_a_suspension_of_any_length_latches_a_stop_and_moves_nothing(rig):
    rig.stall(0.3, suspended=True)
    at_ns = rig.robot.now_ns
    rig.step(300)

    assert rig.state == "STOPPED"
    assert rig.moved_after(at_ns) < 2e-3
    assert set(rig.reasons("latched")) == {Reason.COMMAND_LOST, Reason.STALLED}
    told = describe_reasons(int(rig.status["latched"]))
    assert told == "command_lost (the gate stood still)"


def test_a_command_that_was_made_before_a_stall_is_not_sent_after_it(rig):
    n_sent, begin_ns = len(rig.robot.sent), rig.robot.now_ns
    rig.gate.pace = lambda: begin_ns + round(0.5e9)
    rig.step()
    assert len(rig.robot.sent) == n_sent
    assert Reason.STALLED in rig.reasons()

    rig.gate.pace = lambda: None
    rig.stall(0.5)
    at_ns = rig.robot.now_ns
    rig.step(100)
    assert rig.moved_after(at_ns) < 2e-3
    assert rig.state == "HOLD"


def test_nothing_is_sent_while_the_robot_moves_and_what_moves_on_is_stopped(rig):
    rig.stall(0.3)
    rig.robot.creep = 0.2
    n_sent = len(rig.robot.sent)
    rig.step(190)
    assert len(rig.robot.sent) == n_sent
    assert rig.state == "HOLD"

    rig.step(20)
    assert rig.state == "STOPPED"
    assert Reason.OVERSPEED in rig.reasons("latched")
    assert not rig.gate.is_at_rest

    rig.robot.creep = 0.0
    rig.step(30)
    assert len(rig.robot.sent) > n_sent
    assert rig.gate.is_at_rest


def test_a_robot_that_was_moved_meanwhile_is_held_where_it_is(rig):
    rig.stall(0.5)
    place = rig.robot.q - 0.5
    rig.robot.q = rig.robot.target = place
    rig.step(60)

    assert rig.status["q_cmd"] == pytest.approx(place, abs=1e-9)
    assert rig.moved_after(rig.robot.now_ns - 55 * H_NS) == 0.0


def test_a_reset_that_was_pressed_while_the_robot_moves_frees_nothing_later(rig):
    rig.stall(1.5)
    rig.robot.creep = 0.2
    rig.request, rig.speed = Request.READY, np.zeros(2)
    rig.step(5)
    rig.n_resets += 1
    rig.step(5)
    rig.robot.creep = 0.0
    rig.step(100)
    assert rig.state == "STOPPED"

    rig.n_resets += 1
    rig.step(2)
    assert rig.state == "READY"


def test_a_second_stall_while_the_robot_is_waited_for_begins_anew(rig):
    rig.stall(0.3)
    rig.step(3)
    rig.stall(0.3)
    at_ns = rig.robot.now_ns
    rig.step(100)

    assert rig.moved_after(at_ns) < 2e-3
    assert rig.state == "HOLD"
