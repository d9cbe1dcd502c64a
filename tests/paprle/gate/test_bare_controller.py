"""The gate's controller by hand: joints without bodies, one period at a time."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import FollowerInfo, FollowerState, GateState, LeaderInfo
from paprle.gate.controller import GateController
from paprle.gate.reasons import Reason, from_bits
from paprle.ipc.records import Request, make_layout
from paprle.testing.robots import make_robot_info

H_NS = 5_000_000
ROBOT = make_robot_info(2)
LAYOUT = make_layout(ROBOT, LeaderInfo(limbs=()))


class Ideal:
    """A follower that is where it was told to be, but for what a test makes of it."""

    def __init__(self):
        self.q, self.dq, self.sent = np.zeros(2), np.zeros(2), []
        self.state, self.read_error, self.write_error = {}, None, None

    def read(self):
        if self.read_error:
            raise self.read_error
        measured = {"q": self.q.copy(), "dq": self.dq.copy(), **self.state}
        return FollowerState(**{"stamp_ns": self.now_ns, **measured})

    def write(self, q_cmd):
        if self.write_error:
            raise self.write_error
        self.sent.append(np.array(q_cmd))
        self.dq, self.q = (q_cmd - self.q) * (1e9 / H_NS), np.array(q_cmd)


class Rig:
    """A gate, what it is asked, and a clock."""

    def __init__(self, **said):
        self.follower, self.now_ns = Ideal(), 0
        info = FollowerInfo(joint_names=ROBOT.joint_names, rate=1e9 / H_NS, **said)
        self.gate = GateController(
            ROBOT, GateSettings(), self.follower, info, LAYOUT, 0.005
        )
        self.asked = np.zeros((), LAYOUT.setpoint)
        self.asked["valid_for_ns"] = 100_000_000
        self.ask(Request.READY)

    def ask(self, request, **fields):
        for name, value in {"request": request, **fields}.items():
            self.asked[name] = value
        return self

    def step(self, n=1, *, late_ns=0, speaks=True):
        for _ in range(n):
            self.now_ns += H_NS
            self.follower.now_ns = self.now_ns
            if speaks:
                self.asked["seq"] += 1
                for name in ("stamp_ns", "source_ns"):
                    self.asked[name] = self.now_ns
                self.asked["at_ns"] = self.now_ns - late_ns
            self.status = self.gate.step(self.asked, self.now_ns)
        return self

    @property
    def state(self):
        return GateState(int(self.status["state"])).name

    def reasons(self, field="reasons"):
        return from_bits(int(self.status[field]))


@pytest.fixture
def rig():
    return Rig().step(2)


@pytest.fixture
def stopped(rig):
    return rig.ask(Request.STOP).step(2).ask(Request.READY).step()


def test_a_ready_gate_stands_and_a_requested_move_is_made(rig):
    assert (rig.state, rig.reasons()) == ("READY", ())
    rig.step(20)
    assert (np.array(rig.follower.sent) == 0.0).all()

    rig.ask(Request.MOVE, q_des=[0.3, -0.2]).step(300)

    assert rig.state == "ENGAGED"
    assert rig.follower.sent[-1] == pytest.approx([0.3, -0.2])


def test_states_that_come_seldom_may_be_as_old_as_three_of_them():
    rig = Rig(state_rate=50.0).step(2)
    rig.follower.state = {"stamp_ns": rig.now_ns}

    assert rig.step(11).reasons() == ()
    assert rig.step(2).reasons() == (Reason.STATE_STALE,)


def test_a_gate_whose_session_is_gone_says_so(rig):
    rig.gate.is_orphaned = True

    assert rig.step().reasons() == (Reason.PEER_DIED,)
    assert rig.state == "STOPPED"


def make_lagging(rig):
    """Go on with a follower that moves, half a radian behind."""
    rig.ask(Request.MOVE, q_des=[1.5, 0.0]).step(20)
    while rig.state == "ENGAGED":
        behind = rig.follower.q - [0.5, 0.0]
        rig.follower.state = {"q": behind, "dq": rig.follower.dq.copy()}
        rig.step()
    rig.follower.state = {"q": behind, "dq": np.zeros(2)}
    return behind


def test_the_command_comes_back_to_a_robot_that_lagged(rig):
    behind = make_lagging(rig)
    assert (rig.state, rig.reasons("latched")) == ("HOLD", (Reason.LAG,))

    rig.step(300)

    assert rig.gate.gate.q_cmd == pytest.approx(behind, abs=1e-6)


def test_stopped_it_comes_back_to_nobody(rig):
    behind = make_lagging(rig)

    rig.ask(Request.STOP).step(100)

    assert rig.state == "STOPPED"
    assert abs(rig.gate.gate.q_cmd - behind)[0] > 0.3


def test_a_hold_for_another_reason_keeps_its_place(rig):
    rig.ask(Request.MOVE, q_des=[1.5, 0.0]).step(20)
    rig.step(90, speaks=False)
    rig.follower.state = {"q": rig.follower.q - [0.02, 0.0], "dq": np.zeros(2)}
    at = rig.gate.gate.q_cmd.copy()

    rig.step(40, speaks=False)

    assert rig.state == "HOLD"
    assert rig.gate.gate.q_cmd == pytest.approx(at)


def test_nothing_arms_before_a_set_point_or_when_asked_to_disarm():
    rig = Rig()
    rig.now_ns = rig.follower.now_ns = H_NS
    for _ in range(3):
        rig.status = rig.gate.step(None, H_NS)
    assert rig.state == "DISARMED"
    assert rig.ask(Request.DISARM).step(3).state == "DISARMED"
    assert rig.ask(Request.MOVE).step().state == "READY"


def test_the_operators_stop_is_said_once_and_stays_latched(rig):
    rig.ask(Request.STOP).step()
    assert rig.reasons() == rig.reasons("latched") == (Reason.OPERATOR_STOP,)

    rig.step(5)

    assert rig.reasons() == ()
    assert rig.reasons("latched") == (Reason.OPERATOR_STOP,)
    assert rig.status["counts"][Reason.OPERATOR_STOP] == 1


def test_the_first_reset_frees_and_an_old_one_does_not(stopped):
    stopped.step(5)
    assert stopped.state == "STOPPED"

    stopped.ask(Request.READY, n_resets=1).step()
    assert stopped.state == "DISARMED"
    stopped.step()
    assert stopped.state == "READY"

    stopped.ask(Request.STOP).step().ask(Request.READY).step(5)
    assert stopped.state == "STOPPED"


def test_a_reset_frees_nothing_that_is_asked_to_move(stopped):
    stopped.ask(Request.MOVE, n_resets=1).step(3)
    assert stopped.state == "STOPPED"

    stopped.ask(Request.READY).step(3)
    assert stopped.state == "STOPPED", "the press is used up"


def test_a_reset_frees_nothing_while_its_cause_is_there_nor_in_motion(rig):
    rig.ask(Request.MOVE, q_des=[1.0, 1.0]).step(40)
    rig.follower.state = {"stop_reason": "pressed"}
    rig.step()
    assert rig.state == "STOPPED"
    assert rig.status["stop_reason"].item().decode().strip("\0") == "pressed"
    assert rig.ask(Request.READY, n_resets=1).step().state == "STOPPED"

    rig.follower.state = {}
    assert not rig.gate.is_at_rest
    assert rig.ask(Request.READY, n_resets=2).step().state == "STOPPED"
    rig.step(100)
    assert rig.ask(Request.READY, n_resets=3).step().state == "DISARMED"


def test_disarming_waits_for_rest(rig):
    rig.ask(Request.MOVE, q_des=[1.0, 1.0]).step(40)
    rig.ask(Request.DISARM).step()
    assert rig.state == "READY"
    rig.step(100)

    assert rig.gate.is_at_rest
    assert rig.state == "DISARMED"


@pytest.mark.parametrize(
    ("change", "reason", "state"),
    [
        ({"q": np.full(2, np.nan)}, Reason.STATE_BAD, "HOLD"),
        ({"stamp_ns": -100_000_000}, Reason.STATE_STALE, "HOLD"),
        ({"stamp_ns": -300_000_000}, Reason.STATE_LOST, "STOPPED"),
    ],
)
def test_a_state_that_cannot_be_used_is_the_only_reason_said(
    rig, change, reason, state
):
    rig.step(5)
    if "stamp_ns" in change:
        change = {"stamp_ns": rig.now_ns + H_NS + change["stamp_ns"]}
    rig.follower.state = change
    rig.step()

    assert (rig.state, rig.reasons()) == (state, (reason,))
    assert rig.reasons("latched") == (reason,)


def test_a_driver_that_raises_on_reading_stops(rig):
    rig.follower.read_error = OSError("gone")
    rig.step()

    assert (rig.state, rig.reasons()) == ("STOPPED", (Reason.FOLLOWER_FAULT,))
    assert rig.gate.fault is rig.follower.read_error
    assert not rig.gate.is_cut_off


def test_a_driver_that_raises_on_writing_is_written_to_no_more(rig):
    rig.follower.write_error = OSError("gone")
    rig.step()
    n = len(rig.follower.sent)
    rig.follower.write_error = None
    rig.step(5)

    assert rig.state == "STOPPED"
    assert rig.reasons("latched") == (Reason.FOLLOWER_FAULT,)
    assert rig.gate.is_cut_off
    assert rig.gate.is_at_rest
    assert len(rig.follower.sent) == n


def test_the_first_reason_of_a_stop_is_kept(rig):
    rig.follower.read_error = OSError("gone")
    rig.step()
    rig.ask(Request.STOP).step()

    assert rig.reasons("latched") == (Reason.FOLLOWER_FAULT,)


def test_silence_holds_then_latches_and_is_counted(rig):
    rig.ask(Request.MOVE, q_des=[1.0, 1.0]).step(5)
    rig.step(20, speaks=False)
    assert rig.state == "ENGAGED"
    rig.step(1, speaks=False)
    assert rig.state == "HOLD"
    rig.step(180, speaks=False)

    assert rig.state == "STOPPED"
    assert Reason.COMMAND_LOST in rig.reasons()
    assert rig.status["counts"][Reason.COMMAND_STALE] == 180


@pytest.mark.parametrize(("gap_ms", "is_stalled"), [(20, False), (21, True)])
def test_a_gate_that_stood_still_for_20_ms_holds(rig, gap_ms, is_stalled):
    rig.now_ns += gap_ms * 1_000_000 - H_NS
    rig.step()

    assert (Reason.STALLED in rig.reasons()) == is_stalled
    assert (rig.state == "HOLD") == is_stalled


@pytest.mark.parametrize("goes_on", [True, False], ids=["speaks again", "is gone"])
def test_a_state_as_old_as_the_gate_stood_still_is_lost_if_it_stays_old(rig, goes_on):
    rig.follower.state = {"stamp_ns": rig.now_ns}
    rig.now_ns += 500_000_000
    rig.step()
    assert rig.state == "HOLD"
    assert rig.reasons("latched") == (Reason.STATE_STALE, Reason.STALLED)

    rig.step(9)
    assert rig.state == "HOLD", "what receives stood still, too"

    rig.follower.state = {} if goes_on else rig.follower.state
    rig.step()
    assert rig.state == ("READY" if goes_on else "STOPPED")


def test_a_gate_that_stands_still_again_and_again_tells_a_lost_state_too(rig):
    rig.follower.state = {"stamp_ns": rig.now_ns}
    rig.now_ns += 500_000_000
    for _ in range(4):
        rig.step()
        rig.now_ns += 30_000_000

    assert rig.state == "STOPPED"
    assert Reason.STATE_LOST in rig.reasons("latched")


def test_set_points_that_end_are_gone_on_with_for_three_periods_at_most(rig):
    """What the reference foresees is reached, and stood at, without another word."""
    for k in range(20):
        rig.ask(Request.MOVE, q_des=[0.002 * k, 0.0], dq_des=[0.4, 0.0]).step()
    last = float(rig.asked["q_des"][0])

    asked = [rig.step(speaks=False).status["q_des"][0] for _ in range(8)]

    assert max(asked) == pytest.approx(last + 0.4 * 0.015, abs=1e-4)
    assert asked[-1] == asked[3]


def test_a_velocity_above_its_bound_is_none(rig):
    rig.ask(Request.MOVE, q_des=[0.0, 0.01], dq_des=[0.0, 50.0]).step(4)

    assert rig.status["q_des"] == pytest.approx([0.0, 0.01])


def test_a_gate_that_stood_still_for_a_second_stops(rig):
    rig.ask(Request.MOVE, q_des=[0.1, 0.0]).step(20)
    rig.now_ns += 1_100_000_000

    rig.step()

    assert rig.state == "STOPPED"
    assert Reason.COMMAND_LOST in rig.reasons("latched")


def test_poses_of_objects_are_reported_and_ones_of_another_count_are_not():
    layout = make_layout(ROBOT, LeaderInfo(limbs=()), ("cup",))
    follower = Ideal()
    info = FollowerInfo(joint_names=ROBOT.joint_names, rate=1e9 / H_NS)
    gate = GateController(ROBOT, GateSettings(), follower, info, layout, 0.005)
    cup = np.array([[0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]])

    for k, objects in enumerate([cup, np.zeros((2, 7))]):
        follower.state, follower.now_ns = {"objects": objects}, k * H_NS
        status = gate.step(None, k * H_NS)
        assert (status["objects"] == cup).all()


def test_reports_hold_what_was_used_and_measured(rig):
    rig.follower.state = {"tau": np.array([1.0, 2.0]), "sim_time": 4.5}
    rig.ask(Request.MOVE, q_des=[0.1, 0.0], reduced=True).step()
    status, k = rig.status, int(rig.status["k"])

    assert status["setpoint_seq"] == rig.asked["seq"]
    assert status["setpoint_ns"] == rig.asked["stamp_ns"]
    assert status["sim_time"] == 4.5
    assert status["tau_meas"].tolist() == [1.0, 2.0]
    assert status["q_cmd"].tolist() == rig.follower.sent[-1].tolist()
    assert status["speed_scale"] == GateSettings().reduced_scale
    assert rig.step().status["k"] == k + 1
    assert np.isnan(rig.ask(Request.READY).step().status["q_des"]).all()


@pytest.mark.parametrize(
    ("asked", "robots_own", "kept"),
    [
        (2.0, 1.2, 0.96),
        (None, 0.6, 0.48),
        (0.5, 1.2, 0.5),
        (None, np.inf, np.inf),
        (2.0, np.inf, 2.0),
    ],
)
def test_the_gate_keeps_tools_below_the_speed_at_which_the_robot_stops(
    asked, robots_own, kept
):
    names = ROBOT.joint_names
    info = FollowerInfo(joint_names=names, rate=1e9 / H_NS, tool_speed=robots_own)
    settings = GateSettings(tool_speed=asked)
    controller = GateController(ROBOT, settings, Ideal(), info, LAYOUT, 0.005)

    assert controller.gate.tool_speed == pytest.approx(kept)
    for is_reduced in (True, False):
        controller.gate.reduce(is_reduced)
    assert controller.gate.tool_speed == pytest.approx(kept)
