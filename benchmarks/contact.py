"""How far a hand that presses is led aside, and whether what is blocked comes to rest.

``python -m benchmarks.contact [press] [far] [N]``. Robots of this workspace, and arms
of example-robot-data as ``new-robot`` describes them.

press: the hand goes 5 cm beyond a wall ahead of it, then 20 cm along it, by the
session's IK and the gate; told is how far it ends aside of where it was led.
far: N goals anywhere within the limits from home, 8 s each. Of those that bodies block
in the end, told is how many shake in the last second, by half of A and more, and how
many still move.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.ik import PUBLIC, STRANGERS
from paprle.contracts.settings import GateSettings
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.onboarding.new_robot import write_new_robot
from paprle.robot import RobotModel

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests/paprle/gate")]
import adversary  # noqa: E402
from test_sliding import make_wall, press_and_slide  # noqa: E402

OWN = ("piper", "papras_7dof", "ur5e", "papras_7dof_2arm")
OTHERS = ("panda", "xarm7", "ur5", "tiago")
URDFS = STRANGERS | {"tiago": "tiago_description/robots/tiago_no_hand.urdf"}
FAR_ONLY = ("ur5", "tiago")
H = 0.005  # [s]
LASTING, TAIL = 1600, 200  # periods
SHAKING = 0.5  # [1] chosen: of A
MOVING = 0.01  # [rad/s] chosen


def load(name: str) -> RobotModel:
    """Load a robot of configs/follower, or one as new-robot writes it."""
    if name in OWN:
        return adversary.load(name)
    with tempfile.TemporaryDirectory() as folder:
        report = write_new_robot(PUBLIC / URDFS[name], Path(folder), name)
        return RobotModel.from_yaml(report.path)


def find_shaking(robot: RobotModel, n: int) -> tuple[int, list[int], list[int]]:
    """Return how many of n goals bodies block, and the seeds that shake, and move."""
    gate, n_blocked = Gate(robot, h=H, allow_no_bodies=True), 0
    shaking: list[int] = []
    moving: list[int] = []
    for seed in range(1000, 1000 + n):
        rng = np.random.default_rng(seed)
        low, high = np.maximum(robot.q_min, -6.28), np.minimum(robot.q_max, 6.28)
        goal = rng.uniform(low, high)
        gate.reset(robot.home)
        dq = []
        for _ in range(LASTING):
            result = gate.step(goal, H)
            dq.append(gate.dq_limited.copy())
        if Reason.CLEARANCE in result.events:
            n_blocked += 1
            ddq = np.abs(np.diff(dq[-TAIL:], axis=0)) / H / gate.ddq_max
            shaking += [seed] if ddq.max() > SHAKING else []
            moving += [seed] if np.abs(dq[-1]).max() > MOVING else []
    return n_blocked, shaking, moving


def main(words: list[str]) -> None:
    """Print a line for each robot."""
    counts = [int(word) for word in words if word.isdigit()] or [40]
    which = [word for word in words if not word.isdigit()] or ["press", "far"]
    for name in (*OWN, *OTHERS):
        robot = load(name)
        if "press" in which and len(robot.limbs) == 1 and name not in FAR_ONLY:
            settings = GateSettings(scene=make_wall(robot))
            aside, _ = press_and_slide(robot, settings)
            print(f"{name:18} led aside by {1e3 * aside:.1f} mm", flush=True)
        if "far" in which:
            n_blocked, shaking, moving = find_shaking(robot, counts[0])
            told = f"{len(shaking)} of {n_blocked} blocked goals shake"
            told += f", {len(moving)} move {shaking or ''}"
            print(f"{name:18} {told}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
