"""A session and a gate on two hosts: age is enforced where the robot is."""

from __future__ import annotations

import numpy as np
import pytest
from linked_step import SKEW_NS, LinkedStep
from lock_step import AUTOMATIC, H_NS

from paprle.gate.reasons import Reason, from_bits
from paprle.link.batch_compression import squeeze
from paprle.link.packets import DatagramKind

pytestmark = pytest.mark.long

STALE = 0.1  # [s] of GateSettings
HOUR_NS = 3_600_000_000_000


def make(leader=None, **wire):
    session = LinkedStep() if leader is None else LinkedStep(leader)
    for way in (session.up, session.down):
        for name, value in wire.items():
            setattr(way, name, value)
    return session


def drive(session):
    session.engage().move(60, speed=0.2)
    assert session.far_state == "ENGAGED"
    assert session.is_moving_far
    return session


@pytest.fixture
def far_away():
    """20 ms each way, 1 % loss: the network of acceptance 5."""
    return drive(make(delay=0.02, loss=0.01))


def test_a_hand_drives_a_robot_far_away_within_its_limits(far_away):
    far_away.move(200, speed=0.2).move(200, speed=-0.2).step(100)

    assert far_away.far_state == "ENGAGED"
    assert far_away.judge().is_ok
    assert far_away.near.clock.trip_ns == pytest.approx(40e6, abs=12e6)
    assert far_away.far.clock.trip_ns == pytest.approx(40e6, abs=12e6)


def test_a_blackout_brakes_at_the_robot_and_only_a_press_goes_on(far_away):
    begin = len(far_away.follower.sent)
    far_away.cut()
    braked = None
    for k in range(100):  # half a second
        far_away.move(1, speed=0.2)
        if braked is None and far_away.far_state == "HOLD":
            braked = k
    stood = far_away.follower.sent[-1]

    assert braked is not None
    assert braked * H_NS * 1e-9 <= STALE + 0.02, "by age, what was under way included"
    assert not far_away.is_moving_far
    assert Reason.COMMAND_STALE in from_bits(int(far_away.gate_status["latched"]))
    far_away.cut(is_dead=False).move(200, speed=0.2)
    assert far_away.core.state.name == "CLUTCHED"
    np.testing.assert_array_equal(far_away.follower.sent[-1], stood)

    far_away.press("engage").until("ENGAGED").move(60, speed=0.2)
    assert far_away.is_moving_far
    assert len(far_away.follower.sent) > begin
    assert far_away.judge().is_ok


def test_a_long_blackout_latches_and_needs_somebody_at_the_robot(far_away):
    far_away.cut().move(240, speed=0.2)
    assert far_away.far_state == "STOPPED"
    far_away.cut(is_dead=False).step(20)
    far_away.engaged = False
    far_away.step(5).press("clear").step(100)
    assert far_away.far_state == "STOPPED"
    assert far_away.far.refused["reset from afar"] == 1

    far_away.far.permit(far_away.clock())
    far_away.step(5).press("clear").step(100)

    assert far_away.far_state == "READY"
    assert far_away.judge().is_ok


def test_an_automatic_leader_goes_on_by_itself_after_it_engaged_again():
    session = make(AUTOMATIC, delay=0.02, loss=0.01)
    session.start = True
    session.until("ENGAGED").move(60, speed=0.2)
    n_states = len(session.states)

    session.cut().move(100, speed=0.2).cut(is_dead=False).move(600, speed=0.02)

    after = session.states[n_states:]
    assert "CLUTCHED" in after
    assert after[-1] == "ENGAGED"
    assert session.judge().is_ok


@pytest.mark.parametrize(
    "wire",
    [
        {"delay": 0.005, "jitter": 0.03},
        {"delay": 0.02, "doubled": 0.3},
        {"delay": 0.02, "jitter": 0.02, "loss": 0.2, "doubled": 0.2},
    ],
    ids=["overtaking", "doubled", "bad"],
)
def test_doubled_lost_or_late_packets_are_no_jump(wire):
    session = drive(make(**wire))

    session.move(300, speed=0.2).move(300, speed=-0.2)

    assert session.far.refused["old or doubled"] or not session.up.jitter
    assert session.judge().is_ok


@pytest.mark.parametrize("loss", [0.0, 0.05, 0.3])
def test_every_period_of_the_gate_arrives_once_and_in_its_order(loss):
    session = drive(make(delay=0.02, jitter=0.01, loss=loss, doubled=0.1))
    session.move(200, speed=0.2)
    session.up.loss = session.down.loss = 0.0
    session.step(200)

    dtype = session.layout.status
    counts = [
        np.frombuffer(one, dtype)[0]["setpoint_seq"] for one in session.near.queued
    ]
    assert not session.near.n_lost
    assert len(counts) > 0.8 * len(session.states)
    assert (np.diff(np.array(counts, dtype=np.int64)) >= 0).all()


@pytest.mark.parametrize(
    "delay, is_near", [(0.04, True), (0.12, False), (0.95, False), (1.1, False)]
)
def test_a_way_longer_than_a_command_may_be_old_drives_nothing(delay, is_near):
    session = make(delay=delay)
    session.until("WAITING").step(100).press("engage").step(200).move(60)

    assert (session.far_state == "ENGAGED") == is_near
    assert session.is_moving_far == is_near


@pytest.mark.parametrize("up, down", [(0.18, 0.001), (0.001, 0.18), (0.09, 0.02)])
def test_ways_of_unequal_length_make_nothing_young(up, down):
    session = make()
    session.up.delay, session.down.delay = up, down

    session.until("WAITING").step(100).press("engage").step(200).move(60)

    assert session.far_state != "ENGAGED"
    assert not session.is_moving_far


@pytest.mark.parametrize("jump", [3600e9, -3600e9, 86400e9])
def test_a_clock_that_jumps_changes_nothing_but_a_count(far_away, jump):
    far_away.skew_ns += int(jump)
    far_away.move(100, speed=0.2)

    assert far_away.far.clock.n_jumps == 1
    assert far_away.far_state in {"ENGAGED", "READY"}
    far_away.cut().move(30, speed=0.2)
    assert far_away.far_state == "HOLD", "a stamp of the future keeps nothing alive"
    assert far_away.judge().is_ok


def test_a_clock_that_drifts_is_followed(far_away):
    for _ in range(2400):  # 12 s at 200 ppm
        far_away.skew_ns += 1000
        far_away.step()

    assert far_away.far_state == "ENGAGED"
    assert not far_away.far.clock.n_jumps
    now = far_away.clock()
    error = far_away.near.clock.to_local(now) - (now + far_away.skew_ns)
    assert abs(error) < 10e6
    assert far_away.skew_ns != SKEW_NS


@pytest.mark.parametrize(
    "values, why",
    [
        ({"q_des": np.nan}, "not plausible"),
        ({"q_des": np.inf}, "not plausible"),
        ({"q_des": 1e30}, "not plausible"),
        ({"q_des": 1e308}, "not plausible"),
        ({"dq_des": np.nan}, "not plausible"),
        ({"request": 7}, "malformed"),
        ({"request": -1}, "malformed"),
    ],
)
def test_a_bad_set_point_is_counted_and_not_obeyed(far_away, values, why):
    before = int(far_away.at_gate["seq"])
    far_away.cut().step(10)
    far_away.up.is_dead = False
    far_away.session_speaks = False
    far_away.forge(far_away.ask(seq=10**5, **values), DatagramKind.SETPOINT)
    far_away.step(6)

    assert far_away.far.refused[why] == 1
    assert int(far_away.at_gate["seq"]) < before + 20
    assert far_away.judge().is_ok


@pytest.mark.parametrize("lie", [-(2**63), -1, 2**63 - 1])
@pytest.mark.parametrize("is_sealed", [True, False], ids=["of all", "within"])
def test_stamps_that_no_clock_has_make_nothing_young(far_away, lie, is_sealed):
    """A stamp of the whole datagram, or those of what it holds."""
    record = far_away.ask(at_ns=lie, source_ns=lie)(far_away.setpoint.copy())
    (payload,) = squeeze([record.tobytes()])
    now_ns = far_away.clock() + far_away.skew_ns
    for _ in range(3):
        stamp_ns = lie if is_sealed else now_ns
        data = far_away.near._sealer.seal(DatagramKind.SETPOINT, payload, stamp_ns)
        far_away.far.receive([data], far_away.clock())
    far_away.cut().step(round((STALE + 0.02) * 1e9 / H_NS))

    assert far_away.far_state == "HOLD"
    assert far_away.judge().is_ok


@pytest.mark.parametrize("lie", [-(2**62), -HOUR_NS, HOUR_NS, 2**62])
def test_a_gate_whose_stamps_lie_is_a_silent_gate(far_away, lie):
    far_away.tell_of(stamp_ns=lie, meas_ns=lie)
    far_away.step(120)

    assert far_away.state != "ENGAGED", "a stamp of the future keeps no gate alive"
    assert (far_away.near.refused["stamped ahead"] > 50) == (lie > 0)
    far_away.tell_of().step(120)
    assert "the gate was silent" in far_away.core.note
    assert "press Enter" in far_away.core.note
    assert far_away.judge().is_ok


@pytest.mark.parametrize(
    "make_data, why",
    [
        (lambda _: b"", "malformed"),
        (lambda _: b"PL2\x06" + bytes(30), "malformed"),
        (lambda _: b"PL2\x06" + bytes(500), "wrong key"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "wrong key"),
        (lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:], "wrong key"),
        (lambda data: data + bytes(5000), "too large"),
        (lambda data: data, "old or doubled"),
    ],
    ids=["empty", "short", "made up", "tag", "bit", "large", "again"],
)
def test_an_old_sealed_packet_is_only_counted(far_away, make_data, why):
    captured = far_away.up.seen[-20]
    before = far_away.far.refused.copy()

    far_away.far.receive([make_data(captured)], far_away.clock())

    assert far_away.far.refused - before == {why: 1}


def test_packets_of_another_session_open_nothing(far_away):
    far_away.far.close()
    for data in far_away.up.seen:
        far_away.far.receive([data], far_away.clock())

    assert not far_away.far.is_open


def test_words_of_its_own_do_not_come_back(far_away):
    own = far_away.down.seen[-1]
    before = far_away.far.refused["wrong key"]

    far_away.far.receive([own], far_away.clock())

    assert far_away.far.refused["wrong key"] == before + 1


def test_a_jump_of_numbers_is_refused(far_away):
    far_away.near._sealer._sent[DatagramKind.SETPOINT] += 2_000_000
    far_away.step(50)

    assert far_away.far.refused["far ahead"] > 40
    assert far_away.far_state == "HOLD"


def test_a_flood_costs_the_robots_host_no_more_than_some_datagrams(far_away):
    good = far_away.up.seen[-1]
    before = far_away.far.refused.copy()

    far_away.far.receive([b"PL2\x06" + bytes(500)] * 4000 + [good], far_away.clock())

    refused = far_away.far.refused - before
    assert refused["too many at once"] > 3700
    assert refused["wrong key"] <= 256, "one source's bound"


def test_set_points_beyond_twice_their_rate_are_counted_and_not_obeyed(far_away):
    before = int(far_away.at_gate["seq"])
    for k in range(1000):  # 0.5 s of ten times the rate
        change = far_away.ask(seq=before + 1 + k)
        far_away.forge(change, DatagramKind.SETPOINT)
        if k % 10 == 9:
            far_away.step()

    refused = far_away.far.refused["more than twice the rate"]
    assert refused > 500
    assert far_away.judge().is_ok


def test_a_session_that_only_waits_is_still_heard(far_away):
    far_away.session_speaks = False
    far_away.step(1200)  # 6 s

    assert far_away.clock() - far_away.far.heard_ns < 0.5e9
    assert far_away.far_state == "STOPPED", "being there is no command (A4)"
