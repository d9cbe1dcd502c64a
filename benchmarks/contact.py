"""Deviation of a pressing hand, and rest of blocked motions.

``python -m benchmarks.contact [press] [far] [N [FIRST]] [ROBOT ...]``

press: 5 cm into a wall, then 20 cm along it; printed is the final side deviation.
far: N random goals from home, by seeds from FIRST, for four times V's duration, at
least 8 s. Printed are reached goals, and of blocked ones, split at a joint error of 0.3
rad: rest (0.01 rad/s) within 0.5 s of contact, when no joint gains on its goal by a
fifth of V any more; reversals by half of A and more; and those that still move.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.ik import PUBLIC, STRANGERS
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import Vec
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.gate.tcp_limits import STRAIGHT
from paprle.robot import RobotModel
from paprle_lab.onboarding.new_robot import write_new_robot

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/paprle/gate/contact"))
import adversary  # noqa: E402
from test_sliding import make_wall, press_and_slide  # noqa: E402

OWN = ("piper", "papras_7dof", "ur5e", "papras_7dof_2arm")
OTHERS = ("panda", "xarm7", "ur5", "ur3", "z1", "kinova", "tiago")
URDFS = STRANGERS | {
    "tiago": "tiago_description/robots/tiago_no_hand.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "z1": "z1_description/urdf/z1.urdf",
}
FAR_ONLY = ("ur5", "ur10", "tiago")  # their elbow is what is ahead
H = 0.005  # [s]
SHORTEST, PATIENCE = 8.0, 4.0  # [s], of the time that V needs
FIRST = 1000
GAINING = 0.2  # [1] chosen: of V
HARD = 0.5  # [1] chosen: of A
MOVING = 0.01  # [rad/s] chosen
SOON = 0.5  # [s] the bar


class Contact(NamedTuple):
    """End of one blocked goal.

    Attributes:
        is_far: A joint is more than 0.3 rad away.
        duration: From contact to rest or end, [s].
    """

    seed: int
    is_far: bool
    duration: float
    n_reversals: int
    is_moving: bool


def load(name: str) -> RobotModel:
    """Load a named or new-robot's robot."""
    if name in OWN:
        return adversary.load(name)
    with tempfile.TemporaryDirectory() as folder:
        report = write_new_robot(PUBLIC / URDFS[name], Path(folder), name)
        return RobotModel.from_yaml(report.path)


def drive_to(gate: Gate, goal: Vec) -> tuple[Vec, Vec, bool]:
    """Drive to a goal.

    Returns:
        Positions and velocities, (k, n), and whether it is blocked.
    """
    way = np.abs(np.clip(goal, gate.q_min, gate.q_max) - gate.q_limited)
    lasting = max(SHORTEST, PATIENCE * float((way / gate.dq_max).max()))
    q, dq, events = [], [], ()
    for _ in range(round(lasting / H)):
        events = gate.step(goal, H).events
        q.append(gate.q_limited.copy())
        dq.append(gate.dq_limited.copy())
    return np.array(q), np.array(dq), Reason.CLEARANCE in events


def judge(gate: Gate, seed: int, goal: Vec, q: Vec, dq: Vec) -> Contact:
    """Return the end of a blocked goal."""
    error = np.clip(goal, gate.q_min, gate.q_max) - q
    gaining = (dq * np.sign(error) > GAINING * gate.dq_max).any(axis=1)
    begin = 1 + int(np.flatnonzero(gaining).max(initial=-1))
    is_fast = (np.abs(dq) > MOVING).any(axis=1)
    end = 1 + int(np.flatnonzero(is_fast).max(initial=-1))
    ddq = np.diff(dq[begin:], axis=0) / H / gate.ddq_max
    turns = (ddq[1:] * ddq[:-1] < 0) & (np.abs(ddq[1:]) > HARD)
    turns &= np.abs(ddq[:-1]) > HARD
    is_far = float(np.abs(error[-1]).max()) > STRAIGHT
    duration = max(0.0, (end - begin) * H)
    return Contact(seed, is_far, duration, int(turns.sum()), bool(is_fast[-1]))


def measure_far(robot: RobotModel, seeds: range) -> tuple[int, list[Contact]]:
    """Return reached goals' number, and blocked ones' ends."""
    gate, n_reached = Gate(robot, h=H, allow_no_bodies=True), 0
    contacts = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        low, high = np.maximum(robot.q_min, -6.28), np.minimum(robot.q_max, 6.28)
        goal = rng.uniform(low, high)
        gate.reset(robot.home)
        q, dq, is_blocked = drive_to(gate, goal)
        off = np.abs(q[-1] - np.clip(goal, gate.q_min, gate.q_max)).max()
        n_reached += bool(off < 1e-6)
        if is_blocked and off >= 1e-6:
            contacts.append(judge(gate, seed, goal, q, dq))
    return n_reached, contacts


def describe(contacts: list[Contact]) -> str:
    """Return a summary of goals."""
    soon = sum(one.duration <= SOON for one in contacts)
    lasting = np.array([one.duration for one in contacts])
    told = f"{soon} of {len(contacts)} at rest within {SOON:g} s"
    if len(contacts):
        told += f" (median {np.median(lasting):.2f}, most {lasting.max():.2f})"
    turning = [one.seed for one in contacts if one.n_reversals]
    told += f", {len(turning)} turn around {turning or ''}".rstrip()
    return told + f", {sum(one.is_moving for one in contacts)} move"


def main(words: list[str]) -> None:
    """Print a line for each robot."""
    numbers = [int(word) for word in words if word.isdigit()]
    n, first = (*numbers, *(40, FIRST)[len(numbers) :])[:2]
    names = [word for word in words if word in OWN or word in URDFS]
    which = [word for word in words if word in {"press", "far"}] or ["press", "far"]
    for name in names or (*OWN, *OTHERS):
        robot = load(name)
        if "press" in which and len(robot.limbs) == 1 and name not in FAR_ONLY:
            settings = GateSettings(scene=make_wall(robot))
            aside, _ = press_and_slide(robot, settings)
            print(f"{name:18} led aside by {1e3 * aside:.1f} mm", flush=True)
        if "far" in which:
            n_reached, contacts = measure_far(robot, range(first, first + n))
            print(f"{name:18} {n_reached} of {n} goals reached", flush=True)
            for told, is_far in (("far", True), ("near", False)):
                some = [one for one in contacts if one.is_far == is_far]
                print(f"{'':18} {told}: {describe(some)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
