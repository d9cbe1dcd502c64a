"""control_msgs/GripperCommandAction, which Debian lacks, by genpy from its text."""

from __future__ import annotations

import importlib

_RULE = "=" * 80
_HEADER = "std_msgs/Header header\n"
_TEXTS = {
    "GripperCommand": "float64 position\nfloat64 max_effort\n",
    "GripperCommandGoal": "GripperCommand command\n",
    "GripperCommandResult": (
        "float64 position\nfloat64 effort\nbool stalled\nbool reached_goal\n"
    ),
    "GripperCommandFeedback": (
        "float64 position\nfloat64 effort\nbool stalled\nbool reached_goal\n"
    ),
    "GripperCommandActionGoal": (
        _HEADER + "actionlib_msgs/GoalID goal_id\nGripperCommandGoal goal\n"
    ),
    "GripperCommandActionResult": (
        _HEADER + "actionlib_msgs/GoalStatus status\nGripperCommandResult result\n"
    ),
    "GripperCommandActionFeedback": (
        _HEADER + "actionlib_msgs/GoalStatus status\nGripperCommandFeedback feedback\n"
    ),
}
_ACTION = (
    "GripperCommandActionGoal action_goal\nGripperCommandActionResult action_result\n"
    "GripperCommandActionFeedback action_feedback\n"
)


def make_action():
    """Return the class of the action, its parts reachable as actionlib wants them."""
    dynamic = importlib.import_module("genpy.dynamic")
    actionlib_msgs = importlib.import_module("actionlib_msgs.msg")
    std_msgs = importlib.import_module("std_msgs.msg")
    texts = {f"control_msgs/{name}": text for name, text in _TEXTS.items()}
    texts["actionlib_msgs/GoalID"] = actionlib_msgs.GoalID._full_text
    status = actionlib_msgs.GoalStatus._full_text.partition(_RULE)[0]
    texts["actionlib_msgs/GoalStatus"] = status
    texts["std_msgs/Header"] = std_msgs.Header._full_text
    parts = [f"{_RULE}\nMSG: {name}\n{text}" for name, text in texts.items()]
    kind = "control_msgs/GripperCommandAction"
    made = dynamic.generate_dynamic(kind, _ACTION + "\n".join(parts))
    return made[kind]
