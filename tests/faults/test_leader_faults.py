"""A leader that is off, stuck, slow, late or wild, in lock-step (rows 1 to 20)."""

from __future__ import annotations

import random
import time

import numpy as np
import pinocchio as pin
import pytest
from lock_step import AUTOMATIC, H_NS, HUMAN, MEASURED, PIPER, make_progress

from paprle.ipc.records import pack_sample

V_OVER_A = float((PIPER.dq_max / PIPER.ddq_max).max())


def eef(session):
    limb = PIPER.limbs["arm"]
    return limb.fk(limb.take(session.q_cmd)).translation


def n_engaged(session):
    return session.trace().count("ENGAGED")


def move_hidden(session, n, speed=0.2):
    """The hand moves on while nothing of it arrives."""
    session.leader_speaks = False
    session.move(n, speed)


@pytest.mark.parametrize("after", [1, 40, 137])
def test_off_holds_brakes_and_waits_for_a_press(lock_step, after):
    session = lock_step().engage().move(after, speed=0.3)
    session.leader_speaks = False
    n = 0
    while session.gate_state != "HOLD" and session.state == "ENGAGED":
        session.step()
        n += 1
    assert n * H_NS * 1e-9 <= 0.1 + 2 * H_NS * 1e-9

    session.step(int(V_OVER_A / (H_NS * 1e-9)) + 2)
    assert session.gate.is_at_rest
    still = session.q_cmd
    session.leader_speaks = True
    session.step(200)

    assert session.state == "CLUTCHED"
    assert (session.q_cmd == still).all()


def test_stuck_is_legal_and_stands(lock_step):
    session = lock_step().engage().move(50)
    asked = session.step().setpoint["q_des"].copy()
    while (session.step().setpoint["q_des"] != asked).any():
        asked = session.setpoint["q_des"].copy()
    session.step(20)  # 0.1 s after its set-points the command stands as well
    still = session.q_cmd

    session.step(600)

    assert session.state == "ENGAGED"
    assert (session.q_cmd == still).all()


def count_stuck(session):
    return sum(event["event"] == "stuck" for event in session.events)


def test_a_measured_leader_that_is_stuck_goes_on_with_a_warning(lock_step):
    session = lock_step(MEASURED)
    session.noise = 1e-7
    session.engage().move(50).step(600)
    assert count_stuck(session) == 0, "a hand that is held still"

    session.noise = 0.0
    session.step(395)
    assert not session.core.stuck.limbs, "not yet for 2 s"
    session.step(10)

    assert session.state == "ENGAGED"
    assert session.core.stuck.limbs == ("hand",)
    assert "leader stuck: hand" in make_progress(session).compose(0, "", (), 200)
    session.step(1000)
    assert count_stuck(session) == 1, "told once"

    session.noise = 1e-7
    session.step(2)
    assert "stuck" not in make_progress(session).compose(0, "", (), 200)
    session.noise = 0.0
    session.step(410)
    assert count_stuck(session) == 2
    assert "leader stuck (times): 2" in list(make_progress(session).summarise(0, {}))


@pytest.mark.parametrize(
    ("leader", "held"), [(HUMAN, True), (MEASURED, False)], ids=["keys", "let go"]
)
def test_a_leader_that_may_stand_still_makes_no_warning(lock_step, leader, held):
    session = lock_step(leader).engage().move(50)
    session.engaged = held

    session.step(1000)

    assert count_stuck(session) == 0
    assert session.core.stuck.limbs == ()


@pytest.mark.parametrize("human", [True, False])
@pytest.mark.parametrize(("on", "off"), [(1, 39), (30, 30)], ids=["5 Hz", "bursts"])
def test_slow_and_bursty_leaders_never_make_it_engage_to_and_fro(
    lock_step, human, on, off
):
    session = lock_step() if human else lock_step(AUTOMATIC)
    session.start = not human
    if human:
        session.engage()
    session.until("ENGAGED")
    for _ in range(10):
        session.leader_speaks = True
        session.move(on)
        move_hidden(session, off)

    # one who holds it has to press; what plays by itself may go on once it stands
    assert n_engaged(session) <= (1 if human else 11)
    assert session.states[-1] == "CLUTCHED"


def test_every_other_sample_is_enough(lock_step):
    session, rng = lock_step().engage(), random.Random(1)
    for _ in range(400):
        session.leader_speaks = rng.random() < 0.5
        session.move(1, speed=0.1)
    session.leader_speaks = True
    session.step(50)

    assert session.trace().count("CLUTCHED") == 0
    assert eef(session)[1] == pytest.approx(0.2, abs=2e-3)


def test_delayed_by_300_ms_is_followed_late_and_stops_with_its_leader(lock_step):
    session, late = lock_step().engage(), []
    session.leader_speaks = False
    for k in range(400):
        session.T_hand = pin.SE3(
            np.eye(3), np.array([0.0, 0.0005 * np.clip(k - 100, 0, 150), 0.0])
        )
        late.append(pack_sample(session.layout, session.sample()))
        session.record = late[max(0, k - 60)]
        if k == 80:
            assert session.state == "CLUTCHED", "nothing came for 300 ms"
            session.press("engage", 0)
        session.step()

    assert session.trace()[-2:] == ["CLUTCHED", "ENGAGED"]
    assert eef(session)[1] == pytest.approx(0.075, abs=2e-3)
    assert session.gate.is_at_rest


@pytest.mark.parametrize("stall", [0.3, 0.5, 2.0])
def test_after_a_stall_nothing_moves_before_a_press_and_then_by_its_own_motion(
    lock_step, stall
):
    session = lock_step().engage().move(50, speed=0.1)
    move_hidden(session, int(stall / (H_NS * 1e-9)), speed=0.05)
    session.leader_speaks = True
    session.step(5)
    still, before = session.q_cmd, eef(session)
    session.move(100, speed=0.1)
    assert session.state == "CLUTCHED"
    assert (session.q_cmd == still).all()

    session.engaged = False
    session.step(5)
    session.engaged = True
    session.until("ENGAGED").step(100)
    assert (session.q_cmd == still).all()

    session.move(100, speed=0.1).step(30)
    assert eef(session) - before == pytest.approx([0.0, 0.05, 0.0], abs=1e-4)


@pytest.mark.parametrize("change", [0, -1, -50, 2_000_000])
def test_duplicate_replayed_and_absurd_numbers_change_nothing(lock_step, change):
    clean, noisy = lock_step().engage(), lock_step().engage()
    for _ in range(100):
        clean.move(1)
        noisy.move(1)
        again = noisy.record.copy()
        again["seq"] = max(1, int(again["seq"]) + change)
        again["pose"][:, :3] += 0.3
        noisy.core.leaders.update([again], noisy.clock())

    assert np.array_equal(np.array(clean.follower.sent), np.array(noisy.follower.sent))


@pytest.mark.parametrize("jump", [3600, -3600])
def test_a_clock_of_the_sender_that_jumps_neither_stops_nor_extends_life(
    lock_step, jump
):
    session = lock_step().engage().move(50, speed=0.1)
    whole = session.sample

    def sample():
        made = whole()
        object.__setattr__(made, "stamp_ns", made.stamp_ns + jump * 10**9)
        return made

    session.sample = sample
    session.move(100, speed=0.1).step(40)
    assert session.state == "ENGAGED"
    assert eef(session)[1] == pytest.approx(0.075, abs=2e-3)

    session.leader_speaks = False
    session.step(60)
    assert session.gate.is_at_rest


def test_no_wall_clock_is_read_by_what_controls(lock_step, monkeypatch):
    def refuse():
        raise AssertionError("control code read the wall clock")

    session = lock_step()
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", refuse)
        patch.setattr(time, "time_ns", refuse)
        session.engage().move(50)
        session.press("next_episode").until("WAITING")

    assert session.state == "WAITING"


def test_garbage_costs_no_time(lock_step):
    session = lock_step().engage()
    rng = np.random.default_rng(2)
    worst = []
    for poison in (np.nan, np.inf, -np.inf, 1e30, 5e-324, -0.0, 1e308):
        times = []
        for _ in range(30):
            session.move(1)
            bad = session.record.copy()
            bad["seq"] += 1
            bad["pose"].flat[rng.integers(bad["pose"].size)] = poison
            began = time.perf_counter()
            session.core.leaders.update([bad], session.clock())
            times.append(time.perf_counter() - began)
        worst.append(sorted(times)[15])

    assert max(worst) < 1e-3


@pytest.mark.parametrize("n", [1, 5, 50])
def test_an_overrun_of_the_tick_sends_one_step_a_period_and_brakes_if_long(
    lock_step, n
):
    session = lock_step().engage().move(60, speed=0.3)
    session.session_speaks = False
    for _ in range(n):
        session.move(1, speed=0.3)
    stood = session.gate.is_at_rest
    session.session_speaks = True
    session.step(2)

    assert stood == (n == 50)
    assert session.state == ("ENGAGED" if n < 20 else "CLUTCHED")


MOTIONS = {
    "beyond reach": (lambda s: pin.SE3(np.eye(3), np.array([1.5 * s, 0.0, 0.0]))),
    "far below": (lambda s: pin.SE3(np.eye(3), np.array([0.0, 0.0, -1.5 * s]))),
    "over the shoulder": (lambda s: pin.SE3(np.eye(3), np.array([-0.9 * s, 0.0, 0.1]))),
    "beside the shoulder": (
        lambda s: pin.SE3(np.eye(3), np.array([-0.33 * s, 1e-4 * s, 0.2 * s]))
    ),
    "roll": (lambda s: pin.SE3(pin.rpy.rpyToMatrix(2 * np.pi * s, 0, 0), np.zeros(3))),
    "pitch": (lambda s: pin.SE3(pin.rpy.rpyToMatrix(0, 2 * np.pi * s, 0), np.zeros(3))),
    "yaw": (lambda s: pin.SE3(pin.rpy.rpyToMatrix(0, 0, 2 * np.pi * s), np.zeros(3))),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_targets_without_a_solution_and_singularities_make_no_leap(lock_step, name):
    session = lock_step().engage()
    leaps, times, q_before = [], [], session.setpoint["q_des"].copy()
    path = [*np.linspace(0, 1, 600), *np.linspace(1, 0, 600)]
    for s in path:
        session.T_hand = MOTIONS[name](s)
        q_cmd, began = session.q_cmd, time.perf_counter()
        session.step()
        times.append(time.perf_counter() - began)
        q_des = session.setpoint["q_des"].copy()
        # a refused solution keeps the command, however far ahead the target was
        leaps.append(min(np.abs(q_des - q).max() for q in (q_before, q_cmd)))
        q_before = q_des
        if session.state != "ENGAGED":
            break

    # a seed that was pulled to a command which slides aside may still take a least step
    assert max(leaps) <= 0.2 + 1e-3, "ik.max_step"
    assert sorted(times)[len(times) // 2] < 0.01
    assert np.isfinite(session.q_cmd).all()
