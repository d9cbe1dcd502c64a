"""Touches in recordings: notes and poses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import RobotInfo
from paprle.recording.notes import Note, find_notes, list_notes
from paprle.recording.reader import Episode
from paprle.recording.robot import make_limbs
from paprle.robot.chain import Limb

_WORD = "touch"
_BEFORE = 0.3  # [s] chosen: a note is sent while the hand rests on the point
_STILL = 2e-3  # [m] chosen: less than the error that a touch may have


@dataclass(frozen=True, kw_only=True)
class Touch:
    """One touch of a point.

    Attributes:
        place: File and time, for messages.
        point: Name; may be empty.
    """

    place: str
    limb: str
    point: str
    T_base_eef: pin.SE3


@dataclass(frozen=True, kw_only=True)
class TouchedRobot:
    """Robot of a recording, and its touches in order."""

    follower: str
    info: RobotInfo
    urdf: str
    touches: tuple[Touch, ...]

    def list_limb(self, name: str) -> tuple[Touch, ...]:
        """Return a limb's touches; an empty name: the only limb.

        Raises:
            ConfigError: If unknown.
        """
        limbs = [limb.name for limb in self.info.limbs]
        if not name and len(limbs) == 1:
            name = limbs[0]
        if name not in limbs:
            raise ConfigError(
                f"calibrate: expected a limb of {', '.join(limbs)}, got '{name}'; "
                "name it with --limb or --limbs"
            )
        return tuple(one for one in self.touches if one.limb == name)


def read_touches(paths: Iterable[Path]) -> TouchedRobot:
    """Return the robot of recordings, and its touches.

    A note ``touch [LIMB] [POINT]`` marks one; a single limb may be left out.

    Raises:
        RecordingError: If a recording cannot be read.
        ConfigError: If robots differ, or the arm moved at a note.
    """
    first: TouchedRobot | None = None
    touches: list[Touch] = []
    for path in paths:
        episode = Episode.open(path)
        robot = TouchedRobot(
            follower=str(episode.header["follower"]),
            info=episode.robot_info,
            urdf=episode.urdf,
            touches=(),
        )
        first = first or robot
        if _identify(robot) != _identify(first):
            raise ConfigError(
                f"calibrate: {path}: expected the robot of the other recordings, "
                f"'{first.follower}', got '{robot.follower}', another URDF of it or "
                "another eef"
            )
        touches += _list_touches(episode)
    if first is None:
        raise ConfigError("calibrate: expected a recording of touches, got none")
    return TouchedRobot(
        follower=first.follower,
        info=first.info,
        urdf=first.urdf,
        touches=tuple(touches),
    )


def _identify(robot: TouchedRobot) -> tuple[object, ...]:
    eefs = [(limb.name, limb.base_link, limb.eef_link) for limb in robot.info.limbs]
    return robot.follower, robot.urdf, *eefs


def _list_touches(episode: Episode) -> Iterator[Touch]:
    limbs = make_limbs(episode.robot_info, episode.urdf)
    notes = episode.manifest or {"notes": find_notes(episode.events)}
    for note in list_notes(notes):
        words = note.text.split()
        if not words or words[0].lower() != _WORD:
            continue
        begin = int(episode.gate["stamp_ns"][0]) if len(episode.gate) else note.t_ns
        place = f"{episode.path.name}, {(note.t_ns - begin) * 1e-9:.1f} s"
        limb, point = _read_words(words[1:], limbs, place)
        yield Touch(
            place=place,
            limb=limb.name,
            point=point,
            T_base_eef=_find_pose(episode, limb, note, place),
        )


def _read_words(
    words: list[str], limbs: Mapping[str, Limb], place: str
) -> tuple[Limb, str]:
    if words and words[0] in limbs:
        return limbs[words[0]], " ".join(words[1:])
    if len(limbs) == 1:
        return next(iter(limbs.values())), " ".join(words)
    raise ConfigError(
        f"calibrate: {place}: expected 'touch LIMB', LIMB of {', '.join(limbs)}, got "
        f"'touch {' '.join(words)}'"
    )


def _find_pose(episode: Episode, limb: Limb, note: Note, place: str) -> pin.SE3:
    stamps = episode.gate["meas_ns"]
    q = episode.gate["q_meas"][:, limb.indices]
    since = note.t_ns - round(1e9 * _BEFORE)
    rows = (stamps > since) & (stamps <= note.t_ns) & np.isfinite(q).all(axis=1)
    if not rows.any():
        raise ConfigError(
            f"calibrate: {place}: expected measured positions at the note, got none; "
            "write it while the episode runs"
        )
    held = q[rows]
    T = limb.fk(held.mean(axis=0))
    moved = max(
        float(np.linalg.norm(limb.fk(one).translation - T.translation)) for one in held
    )
    if moved > _STILL:
        raise ConfigError(
            f"calibrate: {place}: expected the arm at rest at the note, got "
            f"{1e3 * moved:.1f} mm of motion within {_BEFORE:g} s; pause, then write it"
        )
    return T
