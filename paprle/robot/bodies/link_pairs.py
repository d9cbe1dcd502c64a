"""Descriptions of links and pairs of links."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paprle.robot.model import RobotModel


def describe_link(robot: RobotModel, link: str) -> str:
    """Return a link's name and mover: ``'link3' of left_arm``."""
    if link not in robot.link_places:
        return f"'{link}' of the scene"
    joint, columns = robot.link_places[link][0], set()
    while joint >= 0:
        columns.add(int(robot.tree.column[joint]))
        joint = int(robot.tree.parent[joint])
    for name in robot.limbs:
        if columns.intersection(robot.list_joints(name).tolist()):
            return f"'{link}' of {name}"
    return f"'{link}'"


def describe_kept(robot: RobotModel, pair: tuple[str, str]) -> str:
    """Return a text on two bodies that are kept apart."""
    one, two = (describe_link(robot, link) for link in pair)
    return f"{one} is kept clear of {two}"
