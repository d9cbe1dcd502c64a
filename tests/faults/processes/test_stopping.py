"""Ctrl-C, SIGTERM, a closed terminal and the keys, in every state (rows 28 to 31)."""

from __future__ import annotations

import json
import signal
import time

import numpy as np
import pytest
from cells import spread
from motions import make_wave, write_joints
from running import SLACK, find_child, find_rest_ns, judge
from terminal import CTRL_C

from paprle.hosts.exit_codes import LOST, NOT_RECORDED

pytestmark = pytest.mark.process

KEYBOARD = ["leader=keyboard", "leader.deadman=toggle", "follower=piper"]
KEYBOARD += ["env=kinematic"]
LOGGED = ["follower.envs={logged: {}}", "env=logged"]
DETECTION = 0.01  # [s] a tick and a period of the gate


def check_files(session, n):
    """Every episode is closed, and the oracle is content with all of it."""
    episodes = sorted(session.out.glob("*.mcap"))
    assert len(episodes) == n
    manifests = [json.loads(p.with_suffix(".json").read_text()) for p in episodes]
    for number in range(n):
        verdict = judge(session.episode(number))
        assert verdict.is_ok, str(verdict)
    return [manifest["end_reason"] for manifest in manifests]


def check_rest(session, at_ns):
    episode = session.episode()
    robot = episode.robot_info
    v_over_a = float((robot.dq_max / robot.ddq_max)[:6].max())
    rest = (find_rest_ns(episode, at_ns) - at_ns) * 1e-9
    bound = DETECTION + float(episode.header["gate_period"]) + v_over_a + SLACK
    assert rest <= bound, f"rest after {rest:.3f} s, allowed {bound:.3f} s"


def check_end(session, code):
    """It has ended as it should: code, no process, no traceback, a sane terminal."""
    assert session.wait_gone() == code, session.text()
    assert "Traceback" not in session.text()
    assert session.is_restored


def reach_home(_):
    return [*KEYBOARD, "env.start=zero", "session.speed=0.05"]


def reach_keyboard(_):
    return KEYBOARD


def reach_alignment(tmp_path):
    settings = write_joints(tmp_path / "far.csv", *make_wave(0.0, 9.0, 1.0))
    return [*settings, "session.speed=0.05"]


def reach_motion(tmp_path):
    return write_joints(tmp_path / "wave.csv", *make_wave(0.0, 20.0))


def reach_gap(tmp_path):
    times, joint1 = make_wave(0.0, 30.0)
    keep = (times < 1.0) | (times > 25.0)
    settings = write_joints(tmp_path / "gap.csv", times[keep], joint1[keep])
    return [*settings, "leader.allow_loss=true"]


def reach_reset(tmp_path):
    times = np.arange(0.0, 1.0, 0.01)
    settings = write_joints(tmp_path / "short.csv", times, 0.8 * times)
    return [*settings, "session.speed=0.05"]


STATES = {
    "HOMING": (reach_home, b"", 0),
    "WAITING": (reach_keyboard, b"", 0),
    "ALIGNING": (reach_alignment, b"", 1),
    "ENGAGED": (reach_motion, b"", 1),
    "CLUTCHED": (reach_gap, b"", 1),
    "RESETTING": (reach_reset, b"", 1),
    "STOPPED": (reach_keyboard, b" ", 0),
}


@pytest.mark.parametrize("state", spread(STATES, "ENGAGED"))
def test_ctrl_c_ends_any_state_cleanly(type_at, tmp_path, state):
    make, keys, n_episodes = STATES[state]
    session = type_at(*make(tmp_path))
    session.find_pids()
    if keys:
        session.wait_for("WAITING")
        session.press(keys)
    session.wait_for(f"{state} ")

    at_ns = session.press(CTRL_C)

    check_end(session, 128 + signal.SIGINT)
    reasons = check_files(session, n_episodes)
    if state in {"ALIGNING", "ENGAGED", "CLUTCHED"}:
        assert reasons == ["quit"]
    if state == "ENGAGED":
        check_rest(session, at_ns)


@pytest.mark.nightly
@pytest.mark.parametrize("phase", ["spawning", "opening"])
def test_ctrl_c_during_start_up_leaves_nothing_behind(type_at, phase):
    session = type_at(*KEYBOARD)
    while find_child(session.process.pid, "gate") is None:
        assert session.process.poll() is None
        time.sleep(0.005)
    if phase == "opening":
        session.find_pids(("gate", "leader"))
        time.sleep(0.4)

    session.press(CTRL_C)

    check_end(session, 128 + signal.SIGINT)
    check_files(session, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["session", "recorder", "gate"])
def test_a_process_killed_at_the_start_leaves_nothing_behind(type_at, victim):
    session = type_at(*KEYBOARD)
    session.find_pids()
    assert "WAITING" not in session.text(), "they start beside each other"

    session.kill(victim)

    code = session.wait_gone()
    if victim != "session":
        assert code == LOST
        assert f"{victim}: it died while starting" in session.text()


@pytest.mark.parametrize("number", spread([signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_while_moving_is_like_ctrl_c(type_at, tmp_path, number):
    session = type_at(*reach_motion(tmp_path))
    session.wait_for("ENGAGED ")
    session.find_pids()
    time.sleep(0.3)

    at_ns = session.kill("session", number)

    check_end(session, 128 + number)
    assert check_files(session, 1) == ["quit"]
    check_rest(session, at_ns)


@pytest.mark.nightly
@pytest.mark.parametrize("state", ["WAITING", "ENGAGED"])
def test_a_closed_terminal_ends_the_session_cleanly(type_at, tmp_path, state):
    make, _, n_episodes = STATES[state]
    session = type_at(*make(tmp_path))
    session.wait_for(f"{state} ")
    session.find_pids()
    time.sleep(0.3)

    at_ns = session.hang_up()

    assert session.wait_gone() == 128 + signal.SIGHUP
    check_files(session, n_episodes)
    if state == "ENGAGED":
        check_rest(session, at_ns)


@pytest.mark.nightly
def test_a_session_in_the_background_ends_on_sigterm(start, tmp_path):
    session = start(*reach_motion(tmp_path))
    session.find_pids()
    session.wait_for("ENGAGED")

    at_ns = session.kill("session", signal.SIGTERM)

    assert session.wait_gone() == 128 + signal.SIGTERM
    assert check_files(session, 1) == ["quit"]
    check_rest(session, at_ns)


def test_keys_lead_through_stop_clear_next_discard_and_quit(type_at):
    session = type_at(*KEYBOARD)
    session.wait_for("WAITING")
    session.find_pids()
    session.engage()
    session.press(b"a")
    time.sleep(0.4)
    at_ns = session.press(b" ")
    session.wait_for("STOPPED ")
    session.press(b" \r")
    session.wait_for("let go")
    session.press(b"a")  # the toggle: hands off
    session.wait_for("; press c")
    session.press(b"c")
    session.wait_for("WAITING")
    for key in (b"n", b"x"):
        session.engage()
        session.press(key)
        session.wait_for("WAITING")

    session.press(b"q")

    check_end(session, 0)
    reasons = check_files(session, 3)
    assert reasons[0].startswith("stopped")
    assert reasons[1:] == ["next", "discarded"]
    check_rest(session, at_ns)


def read_log(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def drop_height(log, home):
    """How far from home the arm is when its power goes; 0 when it stays on."""
    if log[-1] != {**log[-1], "event": "close", "policy": "off"}:
        return 0.0
    return float(np.abs(np.array(log[-2]["q"]) - home).max())


@pytest.mark.parametrize(
    ("policy", "power_off", "closed", "goes_home"),
    spread(
        [
            ("hold", "falls", "hold", False),
            ("park", "falls", "hold", True),
            ("off", "falls", "hold", False),
            ("off", "brakes", "off", False),
        ],
        ("park", "falls", "hold", True),
    ),
)
def test_a_raised_arm_is_never_dropped_at_exit(
    start, outside, tmp_path, policy, power_off, closed, goes_home
):
    log = tmp_path / "commands.jsonl"
    settings = write_joints(tmp_path / "raised.csv", *make_wave(0.0, 20.0, 0.3))
    session = start(
        *settings, *LOGGED, f"env.log={log}", f"env.power_off={power_off}",
        f"session.close_policy={policy}", "session.speed=0.5", env=outside,
    )  # fmt: skip
    session.find_pids()
    session.wait_for("ENGAGED")

    session.kill("session", signal.SIGINT)

    assert session.wait_gone() == 128 + signal.SIGINT, session.text()
    events = read_log(log)
    q = np.array([event["q"] for event in events if event["event"] == "write"])
    home = session.episode().robot_info.home
    assert [events[0]["event"], events[-1]["event"]] == ["open", "close"]
    assert events[-1]["policy"] == closed
    assert (q[-1] == q[-2]).all(), "it stood before it was let go"
    assert (np.abs(q[-1] - home).max() < 2e-3) == goes_home
    if power_off == "falls":
        assert drop_height(events, home) == 0.0
    assert check_files(session, 1) == ["quit"]


@pytest.mark.nightly
def test_a_second_ctrl_c_skips_the_park_and_nothing_else(type_at, outside, tmp_path):
    log = tmp_path / "commands.jsonl"
    settings = write_joints(tmp_path / "raised.csv", *make_wave(0.0, 20.0, 0.3))
    session = type_at(
        *settings, *LOGGED, f"env.log={log}", "session.close_policy=park",
        "session.speed=0.1", env=outside,
    )  # fmt: skip
    session.find_pids()
    session.wait_for("ENGAGED ")
    session.press(CTRL_C)
    session.wait_for("CLOSING")

    at = time.monotonic()
    session.press(CTRL_C)

    check_end(session, 128 + signal.SIGINT)
    assert time.monotonic() - at < 3.0
    events = read_log(log)
    q = np.array([event["q"] for event in events if event["event"] == "write"])
    home = session.episode().robot_info.home
    assert events[-1]["policy"] == "hold"
    assert (q[-1] == q[-2]).all()
    assert np.abs(q[-1] - home).max() > 0.01, "it was not parked"
    check_files(session, 1)


@pytest.mark.nightly
def test_a_park_takes_no_longer_than_its_time(start, tmp_path):
    session = start(
        *reach_motion(tmp_path), "session.close_policy=park",
        "session.park_timeout=0.5", "session.speed=0.001",
    )  # fmt: skip
    session.find_pids()
    session.wait_for("ENGAGED")
    time.sleep(0.4)

    at = time.monotonic()
    session.kill("session", signal.SIGINT)

    assert session.wait_gone() == 128 + signal.SIGINT
    assert time.monotonic() - at < 8.0  # the time for braking, and the park's own
    check_files(session, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("child", ["gate", "leader", "recorder"])
def test_sigterm_to_one_child_is_left_to_the_session(start, tmp_path, child):
    session = start(*reach_motion(tmp_path))
    session.find_pids()
    session.wait_for("ENGAGED")

    session.kill(child, signal.SIGTERM)
    time.sleep(0.5)

    assert session.process.poll() is None, session.text()
    session.kill("session", signal.SIGINT)
    assert session.wait_gone() == 128 + signal.SIGINT, session.text()
    assert check_files(session, 1) == ["quit"]


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_whole_group_is_like_one_to_the_session(
    start, tmp_path, number
):
    session = start(*reach_motion(tmp_path))
    session.find_pids()
    session.wait_for("ENGAGED")
    time.sleep(0.3)

    at_ns = session.kill_group(number)

    assert session.wait_gone() == 128 + number, session.text()
    assert "process ended" not in session.text()
    assert check_files(session, 1) == ["quit"]
    check_rest(session, at_ns)


@pytest.mark.timed
@pytest.mark.parametrize(
    "victim",
    [
        "gate",
        pytest.param("leader", marks=pytest.mark.nightly),
        pytest.param("recorder", marks=pytest.mark.nightly),
    ],
)
def test_ctrl_c_ends_everything_within_5_s_though_a_process_is_stopped(start, victim):
    session = start("leader=autopilot", "follower=piper", "env=kinematic")
    session.wait_for("ENGAGED", 120.0)
    session.find_pids()
    session.kill(victim, signal.SIGSTOP)
    time.sleep(0.3)
    at_ns = session.kill("session", signal.SIGINT)

    code = session.wait_gone()

    assert (time.monotonic_ns() - at_ns) * 1e-9 < 5.0, session.text()
    assert code == {"recorder": NOT_RECORDED}.get(victim, LOST), session.text()
    assert "Traceback" not in session.text()
