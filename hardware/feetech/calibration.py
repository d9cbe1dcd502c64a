"""LeRobot's calibrations: one JSON file per arm.

Counts are after the homing offset, 0 … 4095. A joint's zero is the middle of its range,
a gripper's its closed end. Layout: ``lerobot.motors.MotorCalibration`` and its
``MotorsBus._normalize`` (0.4.4 and 0.6).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from paprle.hardware.feetech.eeprom import Stored
from paprle.hardware.feetech.models import COUNTS, UNIT, count_angle

MIDDLE = 2047  # spec: LeRobot's calibration, count in the middle of a range
FOLLOWERS = ("so_follower", "so101_follower", "so100_follower")
"""Folders of followers' files: 0.6, and before it those of each arm."""
LEADERS = ("so_leader", "so101_leader", "so100_leader")
"""Folders of leaders' files, likewise."""

_MOST_OFFSET = 2047  # spec: sign and magnitude in bit 11
_BOUNDS: Mapping[str, tuple[int, int]] = {
    "id": (0, 253),
    "drive_mode": (0, 1),
    "homing_offset": (-_MOST_OFFSET, _MOST_OFFSET),
    "range_min": (0, COUNTS - 1),
    "range_max": (0, COUNTS - 1),
}


@dataclass(frozen=True, slots=True)
class MotorCalibration:
    """Calibration of one servo, with LeRobot's keys.

    Attributes:
        drive_mode: 1 if against its joint.
        homing_offset: Present position = actual position − this, [counts].
        range_min: Lowest position, [counts].
        range_max: Highest, [counts].
    """

    id: int
    drive_mode: int
    homing_offset: int
    range_min: int
    range_max: int

    @property
    def stored(self) -> Stored:
        """Part kept by the servo."""
        return Stored(self.homing_offset, self.range_min, self.range_max)

    @property
    def sign(self) -> int:
        """−1 if the joint turns against the servo, else 1."""
        return -1 if self.drive_mode else 1

    @property
    def span(self) -> float:
        """Travel of the joint, [rad]."""
        return (self.range_max - self.range_min) * UNIT

    @property
    def is_factory(self) -> bool:
        """Whether it was never calibrated."""
        is_whole = (self.range_min, self.range_max) == (0, COUNTS - 1)
        return self.range_min >= self.range_max or (
            is_whole and self.homing_offset == 0
        )

    def find_middle(self, homing_offset: int) -> float:
        """Return the angle at mid range, −π ≤ angle < π.

        ``homing_offset`` is the servo's present one.
        """
        middle = 0.5 * (self.range_min + self.range_max)
        return self._to_angle(middle, homing_offset)

    def find_end(self, homing_offset: int, *, is_low: bool) -> float:
        """Return the angle at an end of travel, [rad]."""
        is_at_min = is_low == (self.sign > 0)
        end = self.range_min if is_at_min else self.range_max
        return self._to_angle(end, homing_offset)

    def _to_angle(self, count: float, homing_offset: int) -> float:
        shift = self.homing_offset - homing_offset
        turn = (0.5 * (self.range_min + self.range_max) + shift) // COUNTS
        return count_angle(count + shift - COUNTS * turn)


def choose_motors(
    name: str, ids: Sequence[int], stored: Sequence[Stored], *, is_leader: bool
) -> list[MotorCalibration]:
    """Return the servos' calibrations, from a file or as stored.

    Args:
        name: File or LeRobot's name; empty: as stored.
        ids: Of servos.
        stored: At the servos.
        is_leader: Else followers' files.

    Raises:
        ValueError: No calibration, or a missing servo.
        OSError: Unreadable file.
    """
    if not name:
        return [
            MotorCalibration(
                id=number,
                drive_mode=0,
                homing_offset=one.homing_offset,
                range_min=one.range_min,
                range_max=one.range_max,
            )
            for number, one in zip(ids, stored, strict=True)
        ]
    path = find_file(name, is_leader=is_leader)
    by_id = {motor.id: motor for motor in read_calibration(path).values()}
    missing = [str(number) for number in ids if number not in by_id]
    if missing:
        raise ValueError(
            f"{path}: expected servos {', '.join(map(str, ids))}, got none with id "
            f"{', '.join(missing)}; is it another arm's?"
        )
    return [by_id[number] for number in ids]


def make_calibration(
    number: int, *, middle: float, travel: float | None, sign: int, homing_offset: int
) -> MotorCalibration:
    """Return a calibration about the middle of the counts.

    Args:
        number: Id.
        middle: Of travel, [rad].
        travel: Stop to stop, [rad]; None: free.
        sign: −1 if the joint turns against the servo.
        homing_offset: While ``middle`` was read.
    """
    count = homing_offset + round(middle / UNIT) + COUNTS // 2 - MIDDLE
    homing = (count + COUNTS // 2) % COUNTS - COUNTS // 2
    half = (COUNTS - 1) / 2 if travel is None else 0.5 * travel / UNIT
    return MotorCalibration(
        id=number,
        drive_mode=int(sign < 0),
        homing_offset=max(homing, -_MOST_OFFSET),
        range_min=max(round(MIDDLE - half), 0),
        range_max=min(round(MIDDLE + half), COUNTS - 1),
    )


class TravelAtServo(Protocol):
    """Travel for ``make_calibration``."""

    @property
    def middle(self) -> float:
        """Angle in the middle, [rad]."""

    @property
    def travel(self) -> float | None:
        """Stop to stop, [rad]; None: free."""

    @property
    def sign(self) -> int:
        """−1 if the joint turns against the servo, else 1."""


def make_motors(
    ids: Sequence[int], travels: Sequence[TravelAtServo], stored: Sequence[Stored]
) -> list[MotorCalibration]:
    """Return calibrations; ``stored`` applied when measured."""
    return [
        make_calibration(
            number,
            middle=one.middle,
            travel=one.travel,
            sign=one.sign,
            homing_offset=own.homing_offset,
        )
        for number, one, own in zip(ids, travels, stored, strict=True)
    ]


def read_calibration(path: Path) -> dict[str, MotorCalibration]:
    """Return a file's calibrations by motor.

    Raises:
        ValueError: All its faults.
        OSError: Unreadable file.
    """
    try:
        tree = json.loads(path.read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as err:
        raise ValueError(f"{path}: expected JSON, got {err}") from err
    if not isinstance(tree, dict) or not tree:
        raise ValueError(f"{path}: expected motors by name, got {str(tree)[:60]!r}")
    problems: list[str] = []
    found = {}
    for name, keys in tree.items():
        wrong = _find_wrong(keys)
        problems += [f"{path}: {name}: {text}" for text in wrong]
        if not wrong:
            found[name] = MotorCalibration(**{key: int(keys[key]) for key in _BOUNDS})
    ids = [motor.id for motor in found.values()]
    if len(set(ids)) < len(ids):
        problems.append(f"{path}: expected an id for each motor, got {ids}")
    if problems:
        raise ValueError("\n".join(problems))
    return found


def _find_wrong(keys: Any) -> list[str]:
    if not isinstance(keys, dict) or set(keys) != set(_BOUNDS):
        got = ", ".join(keys) if isinstance(keys, dict) else repr(keys)
        return [f"expected {', '.join(_BOUNDS)}, got {got}"]
    wrong = [
        f"{key}: expected a whole number from {low} to {high}, got {keys[key]!r}"
        for key, (low, high) in _BOUNDS.items()
        if isinstance(keys[key], bool)
        or not isinstance(keys[key], int)
        or not low <= keys[key] <= high
    ]
    if not wrong and keys["range_min"] >= keys["range_max"]:
        wrong.append(
            f"expected range_min below range_max, got {keys['range_min']} and "
            f"{keys['range_max']}"
        )
    return wrong


def write_calibration(path: Path, motors: Mapping[str, MotorCalibration]) -> None:
    """Write a file for LeRobot, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(make_text(motors), "utf-8")
    new.replace(path)


def make_text(motors: Mapping[str, MotorCalibration]) -> str:
    """Return the text of a file for LeRobot."""
    tree = {name: asdict(motor) for name, motor in motors.items()}
    return json.dumps(tree, indent=4) + "\n"


def find_home() -> Path:
    """Return LeRobot's calibration folder, by environment variables."""
    cache = Path(os.environ.get("HF_HOME", "~/.cache/huggingface"))
    home = Path(os.environ.get("HF_LEROBOT_HOME", cache / "lerobot"))
    return Path(os.environ.get("HF_LEROBOT_CALIBRATION", home / "calibration"))


def list_files(*, is_leader: bool) -> list[Path]:
    """Return LeRobot's local files of SO-100 and SO-101."""
    folders = _list_folders(is_leader=is_leader)
    return [path for folder in folders for path in sorted(folder.glob("*.json"))]


def name_file(name: str, *, is_leader: bool) -> Path:
    """Return an arm's file path, as in LeRobot 0.6."""
    return _list_folders(is_leader=is_leader)[0] / f"{name}.json"


def _list_folders(*, is_leader: bool) -> list[Path]:
    kind, folders = ("teleoperators", LEADERS) if is_leader else ("robots", FOLLOWERS)
    base = find_home().expanduser() / kind
    return [base / name for name in folders]


def find_file(name: str, *, is_leader: bool) -> Path:
    """Return the file of a path or LeRobot's name.

    Raises:
        FileNotFoundError: None; it lists the known ones.
    """
    path = Path(name).expanduser()
    if path.suffix == ".json":
        if path.is_file():
            return path
    else:
        for known in list_files(is_leader=is_leader):
            if known.stem == name:
                return known
    listed = [str(known) for known in list_files(is_leader=is_leader)]
    raise FileNotFoundError(
        f"expected a calibration file or the name of one, got '{name}'; there "
        f"{'are ' + ', '.join(listed) if listed else 'is none on this machine'}; "
        "paprle calibrate makes one"
    )
