"""Each process of the table, each way to hurt it, in each world: judged at the robot.

Rows come from ``list_roles``, of a session with every kind of process: a kind that is
not among them fails here.
"""

from __future__ import annotations

import os
import re
import signal
import time
import urllib.request

import numpy as np
import pytest
import ros_rig
from emulated_arms import MAKERS, RosArm, SimulatedArm, make_on_line
from emulated_pair import MixedArms
from ros_rig import need_dds
from running import SLACK, RunningSession, find_child

from paprle.config import resolve
from paprle.hosts.exit_codes import NOT_RECORDED
from paprle.hosts.roles import IfLost, list_roles
from paprle.ipc.process import WORKSPACE

OBSERVED = ["observers.ros.transport=dds", "observers.ros.interface=loopback"]
FILMED = ["cameras.front.type=pictures", "cameras.front.folder=FOLDER"]
ADVISED = ["advisors.tags.type=markers", "advisors.tags.poses=FOLDER/cell.yaml"]
SHOWN = ["console=on", "observers.view.scene=false", "observers.view.port=18680"]
ASKED = {  # what brings a process that a session has only when asked for it
    "observer:ros": OBSERVED,
    "camera:front": FILMED,
    "advisor:tags": ADVISED,
    "observer:view": SHOWN,
}
MOTION = ["leader=autopilot", "leader.size=0.1", "leader.speed=0.25"]
MOTION += ["leader.laps=100", "session.episodes=1"]
EVERYTHING = [*MOTION, *(word for words in ASKED.values() for word in words)]
EVERYTHING += ["follower=piper", "env=mujoco", "record.dir=anywhere"]
ROLES = {role.name: role for role in list_roles(resolve(EVERYTHING))}
HURTS = ("killed", "stopped for 1 s", "stopped for ever", "group TERM", "group HUP")
WORLDS = ("mujoco", "ros2", *MAKERS)
IN_CI = ("mujoco", "leader", "stopped for ever")  # other tests kill and signal there
CELLS = [
    pytest.param(
        *cell,
        id="-".join(cell).replace(" ", "_"),
        marks=() if cell == IN_CI else pytest.mark.nightly,
    )
    for world in WORLDS
    for role in ROLES
    for hurt in HURTS
    for cell in [(world, role, hurt)]
]
CELLS += [pytest.param("mix", "gate", "killed", marks=pytest.mark.nightly)]
EVERY_WORLD = ("kinematic", *WORLDS, "ros1")
STALLED = ("gate", "session", "leader", "all at once")
STALLS = (0.6, 1.5)  # [s] a robot rests by then; longer than gate.latch_after
STALLS_IN_CI = {
    ("can", "gate", 0.6),
    ("ros2", "gate", 0.6),
    ("mujoco", "all at once", 0.6),
}
STALL_CELLS = [
    pytest.param(*cell, marks=() if cell in STALLS_IN_CI else pytest.mark.nightly)
    for world in EVERY_WORLD
    for victim in STALLED
    for seconds in STALLS
    for cell in [(world, victim, seconds)]
]
STALL_CELLS += [pytest.param("mix", "gate", 0.6, marks=pytest.mark.nightly)]
FAST = 0.1  # [rad/s] an arm that has to brake
STANDS = 0.03  # [rad/s] one that rests, and its encoders
SETTLED = 0.3  # [s] a braking gate, five lags of the servo, and a shared machine
STALE = 0.1  # [s] spec: safety.md A1
STOPPED = 4
LOST, KILLED = 3, "the process ended: it was killed"
HANGS, AGAIN = "the process stands still", "; it is started again"
BACK = 90.0  # [s] chosen: imports on a busy machine, begun again after 20 s

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def master():
    yield from ros_rig.run_master()


@pytest.fixture
def make_arm(tmp_path, request):
    made = []

    def make(world, role):
        if world in {"mujoco", "kinematic"}:
            folder = tmp_path if role == "recorder" else None
            made.append(SimulatedArm(folder, world))
        elif world in MAKERS:
            made.append(make_on_line(world, tmp_path))
        elif world == "mix":
            pytest.importorskip("rtde_control")
            pytest.importorskip("xarm")
            made.append(MixedArms(tmp_path))
        else:
            need_dds()
            env = request.getfixturevalue("master") if world == "ros1" else {}
            made.append(RosArm(world, tmp_path, env))
        return made[-1]

    yield make
    for arm in made:
        arm.end()


@pytest.fixture
def folder(tmp_path):
    """Two pictures, and a list of markers."""
    cv2 = pytest.importorskip("cv2")
    for k in range(2):
        cv2.imwrite(str(tmp_path / f"{k}.png"), np.full((120, 160, 3), 90 * k, "u1"))
    marker = "- {id: 3, xyz: [0.4, 0.0, 0.1], quat_xyzw: [0, 0, 0, 1]}\n"
    (tmp_path / "cell.yaml").write_text(marker)
    return tmp_path


@pytest.fixture
def begin(tmp_path, folder):
    running = []

    def start(arm, role):
        asked = ASKED.get(role, [])
        words = [*MOTION, *arm.args]
        words += [word.replace("FOLDER", str(folder)) for word in asked]
        names = ["gate", "leader", "recorder", *[role] * bool(asked)]
        if role == "observer:ros":
            need_dds()
            words.append(f"observers.ros.domain={ros_rig.choose_domain()}")
        session = RunningSession(words, tmp_path / "out", env=arm.env)
        running.append(session)
        session.wait_for("ENGAGED", 120.0)
        session.find_pids(names)
        time.sleep(0.7)
        return session

    yield start
    for session in running:
        session.end()


def goes_on(role):
    """Whether the session goes on without this process."""
    return ROLES[role].if_lost in {IfLost.WARN, IfLost.RESTART}


def is_dead(hurt):
    return hurt in {"killed", "stopped for ever"}


def hurt_it(session, role, hurt):
    """Do it, and end the session where it goes on; when it was, and the right code."""
    if hurt.startswith("group"):
        number = {"group TERM": signal.SIGTERM, "group HUP": signal.SIGHUP}[hurt]
        return session.kill_group(number), 128 + number
    if hurt == "killed":
        at_ns = session.kill(role)
        if not goes_on(role):
            return at_ns, LOST
    else:
        at_ns = session.kill(role, signal.SIGSTOP)
    time.sleep(1.0)
    if hurt == "stopped for 1 s":
        session.kill(role, signal.SIGCONT)
        if role == "gate":  # a standstill longer than gate.latch_after is a stop
            return at_ns, STOPPED
        time.sleep(1.5)
    assert session.process.poll() is None, session.text()
    if role == "recorder" and is_dead(hurt):
        session.kill("session", signal.SIGTERM)
        return at_ns, NOT_RECORDED
    if ROLES[role].if_lost is IfLost.RESTART and is_dead(hurt):
        wait_until_back(session, role)
    is_lost = hurt == "stopped for ever" and not goes_on(role)
    session.kill("session", signal.SIGTERM)
    return at_ns, LOST if is_lost else 128 + signal.SIGTERM


def wait_until_back(session, role):
    """Wait for another process in the place of this one, which does its work."""
    before, end = session.pids[role], time.monotonic() + BACK
    while time.monotonic() < end:
        pid = find_child(session.process.pid, role)
        if pid not in {None, before} and does_its_work(session, role):
            session.pids[role] = pid
            return
        time.sleep(0.1)
    raise AssertionError(f"{role} never came back:\n{session.text()}")


def does_its_work(session, role):
    """Whether a process that was started again gives images, or serves its page."""
    told = session.text()
    if role == "camera:front":
        return f"{role}: gives images again" in told
    [address] = re.findall(r"open (http://[^\s#]+)", told)
    try:
        with urllib.request.urlopen(address, timeout=1.0) as answer:
            return answer.status == 200
    except OSError:
        return False


def tell_loss(role, hurt):
    """Return what the operator is told of a process that is gone for good."""
    if ROLES[role].if_lost is IfLost.RESTART:
        return f"{role}: {KILLED if hurt == 'killed' else HANGS}{AGAIN}"
    return f"{role}: {KILLED}"


@pytest.mark.parametrize("world, role, hurt", CELLS)
def test_the_robot_is_at_rest_and_everybody_is_told(make_arm, begin, world, role, hurt):
    arm = make_arm(world, role)
    session = arm.session = begin(arm, role)

    at_ns, code = hurt_it(session, role, hurt)

    assert session.wait_gone(40.0) == code, session.text()
    assert (f"{role}: the process" in session.text()) == is_dead(hurt), session.text()
    assert not is_dead(hurt) or tell_loss(role, hurt) in session.text(), session.text()
    assert "Traceback" not in session.text()
    time.sleep(0.5)
    arm.end()
    check_robot(arm, at_ns, role, hurt)


@pytest.mark.parametrize("world, victim, seconds", STALL_CELLS)
def test_a_resumed_process_moves_no_robot_before_it_engages_again(
    make_arm, begin, world, victim, seconds
):
    arm = make_arm(world, victim)
    session = arm.session = begin(arm, "gate")

    at_ns = stop(session, victim, signal.SIGSTOP)
    time.sleep(seconds)
    on_ns = stop(session, victim, signal.SIGCONT)
    time.sleep(1.5)
    # a UR's controller ends its program when its gate is silent for 0.2 s in motion,
    # Damiao's motors give up their torque after 0.4 s
    is_watched = world in {"ur", "mix", "damiao"} and victim in {"gate", "all at once"}
    ends_by_itself = (seconds > 1.0 or is_watched) and victim != "leader"
    if not ends_by_itself:
        session.kill("session", signal.SIGTERM)

    code = STOPPED if ends_by_itself else 128 + signal.SIGTERM
    assert session.wait_gone(40.0) == code, session.text()
    time.sleep(0.5)
    arm.end()
    # a session engages again at once, and the log of a simulated arm ends with its gate
    is_short = victim == "session" or isinstance(arm, SimulatedArm)
    check_resumption(arm, at_ns, on_ns, n_least=1 if is_short else 6)


def stop(session, victim, number):
    """Stop or resume one process, or all; return when that was, [ns]."""
    if victim == "all at once":
        at_ns = time.monotonic_ns()
        for pid in session.pids.values():
            os.kill(pid, number)
        return at_ns
    return session.kill(victim, number)


def check_resumption(arm, at_ns, on_ns, n_least):
    """The robot stands until the session engages; then it moves within its limits."""
    arrived, t_ns, speeds = arm.read()
    assert speeds[(t_ns > at_ns - 3e8) & (t_ns < at_ns)].max() > FAST, "it moved"
    verdicts = arm.judge(arrived)
    assert all(v.is_ok for v in verdicts), [str(v) for v in verdicts]
    states = [e for e in arm.session.episode().events if e["event"] == "state"]
    engaged = [e["t_ns"] for e in states if e["after"] == "ENGAGED"]
    until_ns = min((t for t in engaged if t > at_ns), default=t_ns[-1] + 1)
    # with samples from before: a session may engage earlier than the next one
    standing = speeds[(t_ns >= on_ns - 5e7) & (t_ns < until_ns)]
    assert len(standing) >= n_least, "it was looked at"
    assert standing.max() < STANDS, f"{standing.max():.3f} [rad/s], and nobody engaged"
    if until_ns < t_ns[-1]:
        assert speeds[t_ns > until_ns].max() > FAST, "it moves on"


def check_robot(arm, at_ns, role, hurt):
    arrived, t_ns, speeds = arm.read()
    verdicts = arm.judge(arrived)
    assert all(v.is_ok for v in verdicts), [str(v) for v in verdicts]
    assert speeds[(t_ns > at_ns - 3e8) & (t_ns < at_ns)].max() > FAST, "it moved"
    if goes_on(role) and not hurt.startswith("group"):
        after = (t_ns > at_ns + 3e8) & (t_ns < at_ns + 1e9)
        assert speeds[after].max() > FAST, "it moves on"
        return
    V, A = arm.robot.dq_max[:6], arm.robot.ddq_max[:6]
    bound = STALE + float((V / A).max()) + SETTLED + 5 * SLACK
    watched = 1.0 if hurt == "stopped for 1 s" else max(1.0, bound + SETTLED)
    within = (t_ns > at_ns) & (t_ns < at_ns + watched * 1e9)
    moving = t_ns[(speeds > 0.02) & within]
    rest = 0.0 if not len(moving) else (moving[-1] - at_ns) * 1e-9
    assert rest <= bound, f"rest after {rest:.3f} s, allowed {bound:.3f} s"


def test_every_kind_of_process_and_every_kind_of_loss_has_its_row():
    modules = [
        ".".join(path.relative_to(WORKSPACE).with_suffix("").parts)
        for path in (WORKSPACE / "paprle/hosts").rglob("*.py")
        if "run_role(main)" in path.read_text()
    ]
    elsewhere = {
        "paprle.hosts.two_hosts.remote_gate"
    }  # on two hosts: test_two_hosts.py

    assert {role.module for role in ROLES.values()} == set(modules) - elsewhere
    assert {role.if_lost for role in ROLES.values()} == set(IfLost)
    observers = [
        r for r in ROLES.values() if r.module == "paprle.hosts.processes.observer"
    ]
    assert {bool(row.writes) for row in observers} == {True, False}, "with controls"
    assert set(ASKED) < set(ROLES)
