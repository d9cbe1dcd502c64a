"""README of a LeRobot data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from paprle.observation.columns import OBJECTS
from paprle_lab.dataset.formats.lerobot import Shape, Totals

_MEANING = {
    "observation.state": "joints as measured",
    "observation.velocity": "their velocities as measured",
    "observation.effort": "their efforts as measured",
    "observation.ee_pose": "pose of each end-effector in its limb's base, as measured: "
    "position and rotation vector, which is continuous within an episode",
    OBJECTS: "poses of simulated objects in the world: position and rotation vector",
    "action": "joints as sent to the robot, behind all limits",
    "requested.joints": "joints as asked for, before limits",
    "requested.ee_pose": "pose as asked for, before inverse kinematics",
    "driven": "whether a leader drove the limb",
    "driven_by_person": "whether a person did, and not a policy or a file",
    "next.done": "the last frame of an episode",
    "next.success": "the same of an episode that the operator called a success; false "
    "where nobody told: `outcome` of `meta/episodes` tells these apart",
}


def write_card(root: Path, shape: Shape, totals: Totals) -> None:
    """Write ``README.md``."""
    text = "\n".join(_make_lines(shape, totals)) + "\n"
    (root / "README.md").write_text(text, encoding="utf-8")


def _make_lines(shape: Shape, totals: Totals) -> Iterator[str]:
    yield from ("---", "task_categories: [robotics]", "tags: [LeRobot, paprle]")
    yield from ("configs:", "- config_name: default", "  data_files: data/*/*.parquet")
    yield from ("---", "", f"# {shape.robot_type}", "")
    yield (
        f"{totals.n_episodes} episodes, {totals.n_frames} frames at {shape.fps} Hz, "
        "LeRobotDataset v3.0, recorded with PAPRLE."
    )
    yield from ("", "| column | what | values and units |", "|---|---|---|")
    for column in shape.all_columns:
        if column.name not in _MEANING:
            continue
        pairs = zip(column.names, column.units, strict=True) if column.names else ()
        told = ", ".join(f"`{name}` {unit}" for name, unit in pairs)
        yield f"| `{column.name}` | {_MEANING[column.name]} | {told} |"
    for camera, (height, width) in shape.sizes.items():
        key = f"observation.images.{camera}"
        yield f"| `{key}` | camera `{camera}` | {width} × {height}, RGB |"
    yield ""
    yield (
        "Grippers: 0 closed … 100 open. What was interpolated, held or dropped, and "
        "how far each column is off in time: `meta/report.txt`, by recording in "
        "`meta/paprle.json`."
    )
