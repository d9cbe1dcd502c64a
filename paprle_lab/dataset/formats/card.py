"""README of a LeRobot data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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


class Origin(NamedTuple):
    """Making of a set, and notes on its columns, for its card."""

    made: str
    about: str


RECORDED = Origin(
    "recorded with PAPRLE",
    "Grippers: 0 closed … 100 open. What was interpolated, held or dropped, and "
    "how far each column is off in time: `meta/report.txt`, by recording in "
    "`meta/paprle.json`.",
)


def write_card(
    root: Path, shape: Shape, totals: Totals, origin: Origin = RECORDED
) -> None:
    """Write ``README.md``."""
    text = "\n".join(_make_lines(shape, totals, origin)) + "\n"
    (root / "README.md").write_text(text, encoding="utf-8")


def describe_privacy(cameras: list[str]) -> Iterator[str]:
    """Yield lines of a card on its images."""
    if cameras:
        yield (
            f"Images of {', '.join(cameras)} are as recorded: people, screens and "
            "rooms may be recognised."
        )
    else:
        yield "There are no images."


def _make_lines(shape: Shape, totals: Totals, origin: Origin) -> Iterator[str]:
    yield from ("---", "task_categories: [robotics]", "tags: [LeRobot, paprle]")
    yield from ("configs:", "- config_name: default", "  data_files: data/*/*.parquet")
    yield from ("---", "", f"# {shape.robot_type}", "")
    yield (
        f"{totals.n_episodes} episodes, {totals.n_frames} frames at {shape.fps} Hz, "
        f"LeRobotDataset v3.0, {origin.made}."
    )
    yield from ("", "| column | what | values and units |", "|---|---|---|")
    own = {column.name for column in shape.columns}
    for column in shape.all_columns:
        if column.name not in _MEANING and column.name not in own:
            continue
        pairs = zip(column.names, column.units, strict=True) if column.names else ()
        told = ", ".join(f"`{name}` {unit}".rstrip() for name, unit in pairs)
        meaning = _MEANING.get(column.name, "") if origin == RECORDED else ""
        yield f"| `{column.name}` | {meaning} | {told} |"
    for camera, (height, width) in shape.sizes.items():
        key = f"observation.images.{camera}"
        yield f"| `{key}` | camera `{camera}` | {width} × {height}, RGB |"
    yield from ("", origin.about, "", "## Privacy", "")
    yield from describe_privacy(list(shape.sizes))
