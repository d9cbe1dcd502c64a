"""Each process of the table, each way to hurt it, in each world: judged at the robot.

Rows of the table come from ``list_roles``: a new kind of process has its cells at once.
"""

from __future__ import annotations

import signal
import time

import pytest
import ros_rig
from emulated_arms import CanArm, RosArm, SimulatedArm
from ros_rig import need_dds
from running import SLACK, RunningSession
from worlds import judge_arrived

from paprle.config import resolve
from paprle.hosts import NOT_RECORDED
from paprle.hosts.roles import IfLost, list_roles

OBSERVED = ["observers.ros.transport=dds", "observers.ros.interface=loopback"]
MOTION = ["leader=autopilot", "leader.size=0.1", "leader.speed=0.25"]
MOTION += ["leader.laps=100", "session.episodes=1"]
ROLES = {
    role.name: role
    for role in list_roles(
        resolve(
            [*MOTION, *OBSERVED, "follower=piper", "env=mujoco", "record.dir=anywhere"]
        )
    )
}
HURTS = ("killed", "stopped for 1 s", "stopped for ever", "group TERM", "group HUP")
WORLDS = ("mujoco", "ros2", "can")
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
FAST = 0.1  # [rad/s] an arm that has to brake
SETTLED = 0.3  # [s] a braking gate, five lags of the servo, and a shared machine
STALE = 0.1  # [s] spec: safety.md A1
STOPPED = 4
LOST, KILLED = 3, "the process ended: it was killed"

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(200)]


@pytest.fixture
def make_arm(tmp_path):
    made = []

    def make(world):
        if world == "mujoco":
            made.append(SimulatedArm())
        else:
            pytest.importorskip("piper_sdk")
            need_dds()
            arm = CanArm(tmp_path) if world == "can" else RosArm(world, tmp_path, {})
            made.append(arm)
        return made[-1]

    yield make
    for arm in made:
        arm.end()


@pytest.fixture
def begin(tmp_path):
    running = []

    def start(arm, role):
        words = [*MOTION, *arm.args]
        names = ["gate", "leader", "recorder"]
        if role.startswith("observer"):
            need_dds()
            words += [*OBSERVED, f"observers.ros.domain={ros_rig.choose_domain()}"]
            names.append(role)
        session = RunningSession(words, tmp_path / "out", env=arm.env)
        running.append(session)
        session.wait_for("ENGAGED", 120.0)
        session.find_pids(names)
        time.sleep(0.7)
        return session

    yield start
    for session in running:
        session.end()


def hurt_it(session, role, hurt):
    """Do it, and end the session where it goes on; when it was, and the right code."""
    if hurt.startswith("group"):
        number = {"group TERM": signal.SIGTERM, "group HUP": signal.SIGHUP}[hurt]
        return session.kill_group(number), 128 + number
    if hurt == "killed":
        at_ns = session.kill(role)
        if ROLES[role].if_lost is not IfLost.WARN:
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
    if role == "recorder" and hurt in {"killed", "stopped for ever"}:
        session.kill("session", signal.SIGTERM)
        return at_ns, NOT_RECORDED
    is_lost = hurt == "stopped for ever" and ROLES[role].if_lost is not IfLost.WARN
    session.kill("session", signal.SIGTERM)
    return at_ns, LOST if is_lost else 128 + signal.SIGTERM


def has_to_rest(role, hurt):
    """Whether the arm brakes within the documented time of this."""
    return hurt.startswith("group") or ROLES[role].if_lost is not IfLost.WARN


def is_dead(hurt):
    return hurt in {"killed", "stopped for ever"}


@pytest.mark.parametrize("world, role, hurt", CELLS)
def test_the_robot_is_at_rest_and_everybody_is_told(make_arm, begin, world, role, hurt):
    arm = make_arm(world)
    session = arm.session = begin(arm, role)

    at_ns, code = hurt_it(session, role, hurt)

    assert session.wait_gone(40.0) == code, session.text()
    told = f"{role}: {KILLED}" in session.text()
    assert told == is_dead(hurt), session.text()
    assert "Traceback" not in session.text()
    time.sleep(0.5)
    arm.end()
    check_robot(arm, at_ns, role, hurt)


def check_robot(arm, at_ns, role, hurt):
    arrived, t_ns, speeds = arm.read()
    assert all(v.is_ok for v in judge_arrived(arrived, arm.robot, find_period(arm)))
    assert speeds[(t_ns > at_ns - 3e8) & (t_ns < at_ns)].max() > FAST, "it moved"
    if not has_to_rest(role, hurt):
        return
    within = (t_ns > at_ns) & (t_ns < at_ns + 1e9)
    moving = t_ns[(speeds > 0.02) & within]
    rest = 0.0 if not len(moving) else (moving[-1] - at_ns) * 1e-9
    V, A = arm.robot.dq_max[:6], arm.robot.ddq_max[:6]
    bound = STALE + float((V / A).max()) + SETTLED + 5 * SLACK
    assert rest <= bound, f"rest after {rest:.3f} s, allowed {bound:.3f} s"


def find_period(arm):
    if arm.session is not None and isinstance(arm, SimulatedArm):
        return float(arm.session.episode().header["gate_period"])
    return 0.005
