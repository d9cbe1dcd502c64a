"""Actions whose packages Debian lacks, by genpy from their text."""

from __future__ import annotations

import importlib

_RULE = "=" * 80
_HEADER = "std_msgs/Header header\n"
_END = "float64 position\nfloat64 effort\nbool stalled\nbool reached_goal\n"
_ANGLES = "".join(f"float32 joint{k}\n" for k in range(1, 8))
# package, parts of their own, goal, result and feedback, by action
ACTIONS = {
    "GripperCommand": (
        "control_msgs",
        {"GripperCommand": "float64 position\nfloat64 max_effort\n"},
        ("GripperCommand command\n", _END, _END),
    ),
    "ArmJointAngles": (
        "kinova_msgs",
        {"JointAngles": _ANGLES},
        ("JointAngles angles\n",) * 3,
    ),
}


def make_action(name="GripperCommand"):
    """Return the class of an action, its parts reachable as actionlib wants them."""
    package, own, (goal, result, feedback) = ACTIONS[name]
    dynamic = importlib.import_module("genpy.dynamic")
    actionlib_msgs = importlib.import_module("actionlib_msgs.msg")
    std_msgs = importlib.import_module("std_msgs.msg")
    status = _HEADER + "actionlib_msgs/GoalStatus status\n"
    parts = own | {
        f"{name}Goal": goal,
        f"{name}Result": result,
        f"{name}Feedback": feedback,
        f"{name}ActionGoal": (
            f"{_HEADER}actionlib_msgs/GoalID goal_id\n{name}Goal goal\n"
        ),
        f"{name}ActionResult": f"{status}{name}Result result\n",
        f"{name}ActionFeedback": f"{status}{name}Feedback feedback\n",
    }
    texts = {f"{package}/{part}": text for part, text in parts.items()}
    texts["actionlib_msgs/GoalID"] = actionlib_msgs.GoalID._full_text
    goal_status = actionlib_msgs.GoalStatus._full_text.partition(_RULE)[0]
    texts["actionlib_msgs/GoalStatus"] = goal_status
    texts["std_msgs/Header"] = std_msgs.Header._full_text
    described = [f"{_RULE}\nMSG: {part}\n{text}" for part, text in texts.items()]
    kind = f"{package}/{name}Action"
    whole = "".join(
        f"{name}Action{part} action_{part.lower()}\n"
        for part in ("Goal", "Result", "Feedback")
    )
    made = dynamic.generate_dynamic(kind, whole + "\n".join(described))
    return made[kind]
