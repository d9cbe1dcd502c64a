"""Units of a data set's columns, and doubts about them."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.recorded.quantities import (
    UnitKeys,
    check_joints,
    check_lengths,
    doubt_angles,
    doubt_degrees,
    doubt_joints,
    doubt_lengths,
    doubt_opening,
    doubt_small_lengths,
    doubt_stamps,
    doubt_turns,
)
from paprle.leaders.dataset.config import ColumnSettings, DatasetConfig
from paprle.leaders.dataset.limits import JointLimits
from paprle.leaders.dataset.scales import scale_opening
from paprle.leaders.dataset.table import Table

_KEYS = UnitKeys(
    angle="leader.angle", length="leader.length", joints="leader.limbs", insist=""
)


def find_doubts(
    where: str, table: Table, config: DatasetConfig, limits: JointLimits
) -> dict[str, str]:
    """Return doubts about an episode's numbers, by limb and quantity.

    Args:
        where: Begins the texts of errors.
        table: The episode, with all columns of the config.
        config: Columns and units.
        limits: The robot's joints, whose reach is no mistake.

    Raises:
        ConfigError: For numbers that cannot be in their unit; with all problems.
    """
    judge = _Judge(where, table, config, limits)
    found = {"stamps": doubt_stamps(table.t)}
    for limb, columns in config.limbs.items():
        for quantity, doubt in judge.look(columns, limb):
            found[f"{limb}.{quantity}"] = doubt
    if judge.problems:
        raise ConfigError(judge.problems)
    return {key: doubt for key, doubt in found.items() if doubt}


def describe_units(table: Table, config: DatasetConfig) -> list[str]:
    """Return a line for each limb: every column's range and unit."""
    return [
        f"'{limb}' from {'; '.join(_describe(table, columns, config))}"
        for limb, columns in config.limbs.items()
    ]


def _describe(
    table: Table, columns: ColumnSettings, config: DatasetConfig
) -> Iterator[str]:
    angle, length = _say(config.angle, "rad"), _say(config.length, "m")
    if columns.joints:
        yield f"joints {_list(table, tuple(columns.joints.values()))} in {angle}"
    if columns.position:
        yield f"position {_list(table, columns.position)} in {length}"
        is_quat = columns.rotation_as.startswith("quat")
        unit = "" if is_quat else f" in {angle}"
        yield f"{columns.rotation_as} {_list(table, columns.rotation)}{unit}"
    if columns.gripper:
        yield (
            f"gripper {_list(table, (columns.gripper,))}, closed at "
            f"{columns.closed:g}, open at {columns.open:g}"
        )


def _say(unit: str | None, usual: str) -> str:
    return f"[{unit}]" if unit else f"[{usual}] (assumed)"


def _list(table: Table, names: tuple[str, ...]) -> str:
    values = table.take(names)
    return ", ".join(
        f"'{name}' {own.min():.3g} … {own.max():.3g}"
        for name, own in zip(names, values.T, strict=True)
    )


class _Judge:
    def __init__(
        self, where: str, table: Table, config: DatasetConfig, limits: JointLimits
    ) -> None:
        self._where, self._table = where, table
        self._config, self._limits = config, limits
        self.problems: list[str] = []

    def look(self, columns: ColumnSettings, limb: str) -> Iterator[tuple[str, str]]:
        """Yield each quantity and its doubt, and collect problems."""
        looks = [("joints", self._look_at_joints)] if columns.joints else []
        if columns.position:
            looks += [("position", self._look_at_positions)]
            looks += [("rotation", self._look_at_rotations)]
        for quantity, look in looks:
            try:
                yield quantity, look(columns)
            except ConfigError as err:
                self.problems += err.problems
        if columns.gripper:
            hint = f" closed and open of leader.limbs.{limb} name the column's ends"
            opening = scale_opening(self._table, columns)
            yield "gripper", doubt_opening(opening, hint)

    def _look_at_joints(self, columns: ColumnSettings) -> str:
        names = tuple(columns.joints.values())
        q = self._table.take(names)
        if self._config.angle == "deg":
            return doubt_degrees(names, q, _KEYS)
        reach = [self._limits.find_reach(joint) for joint in columns.joints]
        check_joints(self._where, names, q, _KEYS, reach)
        return doubt_joints(names, q, _KEYS, reach)

    def _look_at_positions(self, columns: ColumnSettings) -> str:
        names, unit = columns.position, self._config.length or "m"
        p = self._table.take(names)
        if unit != "m":
            return doubt_small_lengths(names, p, unit, _KEYS)
        check_lengths(self._where, names, p, _KEYS)
        return doubt_lengths(names, p, _KEYS)

    def _look_at_rotations(self, columns: ColumnSettings) -> str:
        names = columns.rotation
        if columns.rotation_as.startswith("quat"):
            return ""
        turns = self._table.take(names)
        if self._config.angle == "deg":
            return doubt_degrees(names, turns, _KEYS)
        if columns.rotation_as == "rotation_vector":
            return doubt_turns(self._where, names, turns, _KEYS)
        doubt = doubt_angles(self._where, names, turns, _KEYS)
        return "" if self._config.angle else doubt
