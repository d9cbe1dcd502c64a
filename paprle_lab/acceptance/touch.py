"""Checks of contact and gripper."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import GripperInfo
from paprle_lab.acceptance.check import Kit, Outcome, Skipped
from paprle_lab.acceptance.moves import describe_short, go_home
from paprle_lab.acceptance.rig import AcceptanceRig

_QUIET, _PRESSED = 2.0, 6.0  # [s] chosen: a person presses within this time
_CLEAR = 5.0  # chosen: times the noise at rest
_LEAST = 0.2  # [N·m or N] chosen: a light press at half a metre is more
_SETTLE = 1.0  # [s] chosen: fingers close slower than an arm moves
_NEAR = 0.2  # chosen: of the stroke: fingers may meet before they are closed


def check_contact(kit: Kit) -> Outcome:
    """Check that efforts show a press on the arm."""
    with kit.open_rig() as rig:
        if not rig.info.has_effort:
            raise Skipped("the robot reports no effort")
        if kit.person.is_absent and "press" not in kit.hooks:
            raise Skipped("nobody is there to press the arm")
        rig.look(0.1)
        rig.stand(_QUIET)
        first, quiet = rig.n_periods, rig.list_motion(rig.n_periods // 2).tau
        kit.person.act(
            "Press the arm lightly near its tip now.", kit.hooks.get("press")
        )
        rig.stand(_PRESSED)
        later, trouble = rig.list_motion(first).tau, rig.trouble
    noise = np.std(quiet, axis=0)
    pressed = np.abs(later - np.mean(quiet, axis=0)).max(axis=0)
    share = np.nan_to_num(pressed / np.maximum(_CLEAR * noise, _LEAST))
    worst = int(np.argmax(share))
    name = rig.robot.joint_names[worst]
    figure = f"{name}: {pressed[worst]:.2f} N·m, at rest ± {noise[worst]:.3f}"
    problems = [trouble] if trouble else []
    if not share[worst] > 1.0:
        problems.append(f"no joint's effort showed the press; most: {figure}")
    return Outcome(figures=[figure], problems=problems)


def check_gripper(kit: Kit) -> Outcome:
    """Close and open each gripper slowly."""
    figures: list[str] = []
    with kit.open_rig() as rig:
        grippers = [
            limb.gripper
            for limb in rig.robot.limbs.values()
            if limb.gripper is not None
        ]
        if not grippers:
            raise Skipped("the robot has no gripper")
        problems = go_home(rig)
        for gripper in grippers if not problems else ():
            problems += _work(kit, rig, gripper, figures)
    return Outcome(figures=figures, problems=problems)


def _work(
    kit: Kit, rig: AcceptanceRig, gripper: GripperInfo, figures: list[str]
) -> list[str]:
    joint = rig.robot.joint_names.index(gripper.joint)
    problems: list[str] = []
    for opening, word in ((0.0, "closed"), (1.0, "open")):
        goal = rig.robot.home.copy()
        goal[joint] = gripper.closed + opening * (gripper.open - gripper.closed)
        if not rig.go(goal):
            return [*problems, rig.trouble or describe_short(rig, goal)]
        rig.stand(_SETTLE)
        found, asked = gripper.measure(rig.q[joint]), gripper.measure(goal[joint])
        figures.append(f"{gripper.joint} {word}: measured opening {found:.2f}")
        if abs(found - asked) > _NEAR:
            problems.append(
                f"{gripper.joint}: expected an opening of {asked:.2f}, measured "
                f"{found:.2f}"
            )
        if not kit.person.sees(f"Is the gripper {word} ({gripper.joint})?"):
            problems.append(f"{gripper.joint}: the person did not see it {word}")
    return problems
