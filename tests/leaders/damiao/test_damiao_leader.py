"""The leader in a still hand, whose arm is well or is not, and one that it leaves."""

import dataclasses
import subprocess
import sys
import time

import numpy as np
import pytest
from cells import spread
from damiao_rig import EmulatedDamiao

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import Feedback, SessionState
from paprle.hardware.damiao.models import ARMS
from paprle.leaders.damiao.leader import DamiaoLeader

can = pytest.importorskip("can")

pytestmark = pytest.mark.process

OTHER = """
import sys, time, can
bus = can.Bus(channel=sys.argv[1], interface="emucan")
print("ready", flush=True)
while True:
    bus.send(can.Message(arbitration_id=3, data=bytes(8), is_extended_id=False))
    time.sleep(0.02)
"""
FAULTS = [
    ("over_voltage", "motor 2: over-voltage (8)"),
    ("under_voltage", "motor 2: under-voltage (9)"),
    ("over_current", "motor 2: over-current (A)"),
    ("mos_hot", "motor 2: transistors too hot (B)"),
    ("coil_hot", "motor 2: coil too hot (C)"),
    ("communication", "motor 2: communication lost (D)"),
    ("overload", "motor 2: overload (E)"),
    ("disable", "motor 2: no torque"),
    ("mute", "motor 2: no answer"),
]
STEP = 54.0 / 4095  # [N·m] spec: of 12 bits over ±54 N·m, twice


def feel(leader, tau=None, state="ENGAGED"):
    tau = {} if tau is None else {"right": np.array(tau, dtype=float)}
    leader.apply(
        Feedback(
            stamp_ns=time.monotonic_ns(),
            state=SessionState[state],
            episode=0,
            is_engaged=state == "ENGAGED",
            tau=tau,
        )
    )


def cycle(leader, tau=None, *, until=None, time_s=1.0, state="ENGAGED"):
    """Lead with these torques for a time, or until a sample is so."""
    for _ in range(int(time_s * 200)):
        feel(leader, tau, state)
        sample = leader.latest()
        if until is not None and until(sample):
            break
        time.sleep(0.005)
    return sample


def is_lost(sample):
    return not sample.valid


@pytest.fixture
def other_program(arm):
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, arm.channel], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "ready\n"
    yield other
    other.kill()
    other.communicate()


def test_an_opened_arm_is_carried_where_it_is_without_stiffness(arm, leader):
    sample = cycle(leader, time_s=0.3, state="WAITING")

    record = arm.read()
    assert record.statuses[-1] == "1" * 8
    assert record.kp.max() == 0.0
    assert np.abs(record.tau_ff[-1][:7]).max() > 2.0
    assert np.abs(record.q - record.q[0])[:, :7].max() < 0.03
    assert sample.limbs["right"].q == pytest.approx(arm.table.q, abs=0.03)
    assert sample.limbs["right"].opening == pytest.approx(1.0, abs=0.01)


def test_torques_are_felt_and_bounded(arm, leader):
    cycle(leader, np.zeros(8), time_s=0.2)
    weight = arm.read().tau_ff[-1]

    cycle(leader, [0, 0, 0, 0, 1e3, 0, 0, 0], time_s=0.1)

    most = 0.3 * ARMS["openarm"].tau[4]
    # the arm yields meanwhile, and with it its weight changes
    assert arm.read().tau_ff[-1][4] - weight[4] == pytest.approx(most, abs=0.2)


@pytest.mark.parametrize("tau", [np.full(8, np.nan), np.zeros(3)], ids=["nan", "few"])
def test_invalid_torques_are_not_rendered(arm, leader, tau):
    cycle(leader, np.zeros(8), time_s=0.2)
    weight = arm.read().tau_ff[-1]

    cycle(leader, tau, time_s=0.2)

    assert arm.read().tau_ff[-1] == pytest.approx(weight, abs=4 * STEP)


def test_torques_end_when_nobody_renews_them(arm, leader):
    cycle(leader, np.zeros(8), time_s=0.2)
    weight = arm.read().tau_ff[-1][4]
    cycle(leader, [0, 0, 0, 0, 0.8, 0, 0, 0], time_s=0.2)
    felt = arm.read().tau_ff[-1][4]

    time.sleep(0.3)

    assert felt - weight > 0.5
    assert arm.read().tau_ff[-1][4] == pytest.approx(weight, abs=0.2)
    assert arm.read().statuses[-1] == "1" * 8, "its weight is carried on"


@pytest.mark.parametrize(("fault", "reason"), spread(FAULTS, *FAULTS[2::2]))
def test_a_motor_that_fails_has_a_name_and_the_others_carry_on(
    arm, leader, fault, reason
):
    tau = [1.0, 0, 0, 1.0, 0, 0, 0, 0]
    cycle(leader, tau, time_s=0.2)
    at_ns = arm.do(fault, joint=2)

    sample = cycle(leader, tau, until=is_lost)
    cycle(leader, tau, time_s=0.3)

    assert not sample.valid
    assert not sample.engaged
    assert any(reason in text for text in leader.take_warnings())
    record = arm.read()
    assert not [s for s in record.specials if s[0] > at_ns], "nothing is enabled"
    if fault != "mute":
        assert record.statuses[-1][0] == "1", "the others carry"
        assert record.tau_ff[-1][3] > 1.0, "the weight"


def test_a_motor_that_failed_gets_no_torque_when_its_cause_is_gone(arm, leader):
    cycle(leader, time_s=0.1)
    arm.do("coil_hot", joint=4)
    cycle(leader, until=is_lost)

    arm.do("none")
    sample = cycle(leader, time_s=0.3)

    assert not sample.valid
    assert any("start the session again" in text for text in leader.take_warnings())
    assert arm.read().statuses[-1][3] == "c"


def test_power_that_comes_back_gives_no_torque(arm, leader):
    cycle(leader, time_s=0.1)
    arm.do("power_off")
    lost = cycle(leader, until=is_lost)
    arm.do("power_on")

    sample = cycle(leader, time_s=0.4)

    assert not lost.valid
    assert not sample.valid
    assert any("no torque" in text for text in leader.take_warnings())
    assert set(arm.read().statuses[-1]) == {"0"}


def test_a_cable_that_is_out_for_long_leaves_the_arm_to_its_motors(arm, leader):
    cycle(leader, time_s=0.1)
    at_ns = arm.do("cable")
    cycle(leader, time_s=0.8)
    arm.do("none")

    sample = cycle(leader, time_s=0.3)

    assert not sample.valid
    assert any("communication lost (D)" in text for text in leader.take_warnings())
    record = arm.read()
    early = (record.state_stamps > at_ns) & (record.state_stamps < at_ns + 350_000_000)
    assert {set(flags) == {"1"} for flags in np.array(record.statuses)[early]} == {True}
    assert set(record.statuses[-1]) == {"d"}, "they brake, and stay so"


def test_a_cable_that_is_out_for_a_moment_takes_the_hand_off(arm, leader):
    """Its answers go on, and nothing moves before a new start signal."""
    cycle(leader, time_s=0.1)
    arm.do("cable", time=0.2)

    lost = cycle(leader, until=is_lost)
    back = cycle(leader, until=lambda s: s.valid, state="CLUTCHED")
    after = cycle(leader, time_s=0.2, state="CLUTCHED")

    assert not lost.valid
    assert back.valid
    assert not back.engaged
    assert not after.engaged
    words = leader.take_warnings()
    assert words == ["right: well again; give the start signal to go on"] or not words


def test_the_cable_is_named(arm, leader):
    cycle(leader, time_s=0.1)
    arm.do("silence")

    cycle(leader, until=is_lost)

    (text,) = leader.take_warnings()
    assert text == "right: no motor answers; look at its cable and its supply"


@pytest.mark.usefixtures("other_program")
def test_another_program_on_the_bus_is_refused(config, clock):
    with pytest.raises(DeviceError, match="commands of another program for motor 3"):
        DamiaoLeader(config, clock).open()


def test_another_program_while_it_leads_ends_that(arm, leader):
    cycle(leader, time_s=0.1)
    arm.do("rogue", joint=3)

    sample = cycle(leader, until=is_lost)

    assert not sample.valid
    (text,) = leader.take_warnings()
    assert "another program commands motor 3" in text


@pytest.mark.usefixtures("leader")
def test_a_second_session_on_the_channel_is_refused(config, clock):
    with pytest.raises(DeviceError, match="another process of ours commands"):
        DamiaoLeader(config, clock).open()


def test_motors_of_another_arm_are_refused(tmp_path, config, clock):
    yam = EmulatedDamiao(tmp_path / "yam", "yam", motion="still")
    limb = dataclasses.replace(config.limbs["right"], channel=yam.channel)
    leader = DamiaoLeader(dataclasses.replace(config, limbs={"right": limb}), clock)
    try:
        with pytest.raises(DeviceError, match="got none of motor 8"):
            leader.open()
    finally:
        yam.end()


def test_it_is_left_sinking_slowly_and_braked(arm, config, clock):
    leader = DamiaoLeader(dataclasses.replace(config, descent=1.0), clock)
    leader.open()
    cycle(leader, time_s=0.1)
    arm.do("let_go")
    at_ns = clock()

    leader.close()
    closed_ns = clock()
    time.sleep(0.6)

    record = arm.read()
    sinking = (record.state_stamps > at_ns) & (record.state_stamps < closed_ns)
    assert 0.05 < np.abs(record.dq[sinking][:, :7]).max() < 0.8
    assert record.kp.max() == 0.0
    assert set(record.statuses[-1]) == {"d"}


def test_an_arm_that_is_let_go_of_hardly_sinks(arm, leader):
    """4 % of its weight are not carried, which friction and damping slow down."""
    cycle(leader, time_s=0.1)
    arm.do("let_go")
    cycle(leader, time_s=1.0)

    record = arm.read()
    assert np.abs(record.dq[:, :7]).max() < 0.3
    assert np.abs(record.q - record.q[0])[:, :7].max() < 0.2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"joints": ("joint1",)}, r"joints: expected 7, as 'openarm' has them, got 1"),
        ({"reset_q": (0.0,)}, r"reset_q: expected 7 positions, got 1"),
    ],
)
def test_a_limb_of_another_size_is_refused(config, clock, change, words):
    limb = dataclasses.replace(config.limbs["right"], **change)

    with pytest.raises(ConfigError, match=words):
        DamiaoLeader(dataclasses.replace(config, limbs={"right": limb}), clock)


def test_arms_that_share_a_channel_are_refused(config, clock):
    limb = config.limbs["right"]

    with pytest.raises(ConfigError, match="expected arms with a channel each"):
        DamiaoLeader(dataclasses.replace(config, limbs={"a": limb, "b": limb}), clock)


def test_the_doctor_examines_and_writes_nothing(arm, config, clock):
    findings = list(DamiaoLeader(config, clock).diagnose())

    assert [ok for ok, _ in findings] == [True]
    assert "8 motors are well" in findings[0][1]
    assert arm.read().specials == []
