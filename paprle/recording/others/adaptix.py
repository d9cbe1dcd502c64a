"""Recordings of AdaptiX: CSV, versions 0, 1 and 2 (requirements X27, X28, 3.3).

References:
    maxpascher/AdaptiX, Storage.cpp. A file has a row per actor, ``id, name, class,
    mesh, sx, sy, sz, tag``, and a row per frame. Numbers are Unreal Engine's:
    left-handed, z up, [cm]; quaternions are x, y, z, w. The row length gives the
    version: 12, 66 or 70 numbers, plus 8 per object.

A frame is ``t``, poses in world, fingers, the head, and ``id`` with a pose per object:

* v2: 8 poses of joints, 3 times finger and fingertip, the head's pose;
* v1: 8 poses of joints, finger, fingertip, the head's pose;
* v0: the gripper's pose, finger, the head's position.

Here values are right-handed, [m]: y is negated, rotations are S R S with
S = diag(1, -1, 1). The gripper is the last joint of v1 and v2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import RecordingError
from paprle.contracts.types import Vec, readonly

_N_POSES, N_FINGERS, _N_HEAD = (1, 8, 8), (1, 2, 6), (3, 7, 7)
"""By version."""
_N_OBJECT, _N_ACTOR = 8, 8
_N_KNOWN = tuple(
    1 + 7 * n + k + h for n, k, h in zip(_N_POSES, N_FINGERS, _N_HEAD, strict=True)
)
VERSIONS = (0, 1, 2)
_HEAD = 65_536  # [letters] chosen: thirty frames of v2
CLOSED = math.radians(80.0)
"""Angle of a closed finger, [rad]. spec: kinova_ros, 80° at 6800 turns of a motor."""

_TO_METRES = np.array([0.01, -0.01, 0.01, -1.0, 1.0, -1.0, 1.0])
_GRIPPER_V0 = pin.Quaternion(0.5, -0.5, 0.5, 0.5)
"""w, x, y, z. spec: Storage.cpp, FRotator(-90, -90, 0) after the gripper of v0."""
NOBODY = readonly([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class Actor(NamedTuple):
    """Object of a log; no field may be empty."""

    id: int
    name: str
    class_path: str = "None"
    mesh_path: str = "None"
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    tag: str = "None"


class AdaptixFrame(NamedTuple):
    """Frame at ``t``, [s].

    Attributes:
        joints: Poses in world, the gripper last, shape (8, 7); v0: (1, 7).
        fingers: 0 open, shape (6,), (2,) or (1,).
        head: Pose, shape (7,); v0: without orientation.
        objects: Poses by id, shape (7,).
    """

    t: float
    joints: Vec
    fingers: Vec
    head: Vec
    objects: Mapping[int, Vec]


@dataclass(frozen=True, slots=True)
class AdaptixRecording:
    """Parsed file; ``dropped`` counts unreadable lines."""

    version: int
    actors: tuple[Actor, ...]
    frames: tuple[AdaptixFrame, ...]
    dropped: Counter[str]


def is_adaptix(text: str) -> bool:
    """Return whether a text begins like AdaptiX's."""
    for line in filter(str.strip, text[:_HEAD].split("\n")):
        words = _split(line)
        if _read_actor(words) is not None:
            return True
        numbers = _read_numbers(words)
        if numbers is None or _find_version(len(numbers)) is None:
            return False
        norm = float(np.linalg.norm(numbers[4:8]))
        # of a frame whose first pose is none, zero or NaN, the next one tells
        if math.isfinite(norm) and norm > 0.0:
            return 0.9 < norm < 1.1
    return False


def parse_adaptix(where: object, text: str) -> AdaptixRecording:
    """Return the recording of a text.

    Raises:
        RecordingError: If there is no frame.
    """
    *lines, cut = text.split("\n")
    dropped = Counter({"truncated last lines dropped": 1} if cut.strip() else {})
    actors, frames, version = [], [], None
    for line in filter(str.strip, lines):
        words = _split(line)
        numbers = _read_numbers(words)
        actor = _read_actor(words)
        kind = None if numbers is None else _find_version(len(numbers))
        version = kind if version is None else version
        if actor is not None:
            actors.append(actor)
        elif numbers is None or kind is None or kind != version:
            dropped["lines that are no frame dropped"] += 1
        else:
            frames.append(_read_frame(kind, numbers))
    if version is None:
        raise RecordingError(
            f"{where}: expected frames of {', '.join(map(str, _N_KNOWN))} numbers and "
            f"{_N_OBJECT} for each object (AdaptiX), got none"
        )
    return AdaptixRecording(version, tuple(actors), tuple(frames), dropped)


def write_adaptix(path: Path, recording: AdaptixRecording) -> None:
    """Write a recording as AdaptiX does.

    Raises:
        RecordingError: If the file exists or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            for one in recording.actors:
                scale = ",".join(f"{x:.15f}" for x in one.scale)
                head = f"{one.id},{one.name},{one.class_path},{one.mesh_path}"
                file.write(f"{head},{scale},{one.tag}\n")
            for frame in recording.frames:
                file.write(",".join(_list_words(recording.version, frame)) + "\n")
    except OSError as err:
        raise RecordingError(f"{path}: expected a new file, got {err}") from err


def _list_words(version: int, frame: AdaptixFrame) -> Iterator[str]:
    joints = frame.joints
    if version == 0:
        joints = _turn(joints, _GRIPPER_V0.inverse())
    parts = [[frame.t], (joints / _TO_METRES).ravel(), frame.fingers]
    parts.append((frame.head / _TO_METRES)[: _N_HEAD[version]])
    yield from (f"{x:.15f}" for part in parts for x in part)
    for number, pose in frame.objects.items():
        yield str(number)
        yield from (f"{x:.15f}" for x in pose / _TO_METRES)


def _read_frame(version: int, numbers: Vec) -> AdaptixFrame:
    ends = np.cumsum([1, 7 * _N_POSES[version], N_FINGERS[version], _N_HEAD[version]])
    t, joints, fingers, head, rest = np.split(numbers, ends)
    poses = joints.reshape(-1, 7) * _TO_METRES
    if version == 0:
        poses = _turn(poses, _GRIPPER_V0)
    whole = np.concatenate([head, NOBODY[len(head) :]])
    return AdaptixFrame(
        float(t[0]),
        poses,
        fingers,
        whole * _TO_METRES,
        {
            int(row[0]): row[1:] * _TO_METRES
            for row in rest.reshape(-1, _N_OBJECT)
            if math.isfinite(row[0])
        },
    )


def _turn(poses: Vec, quat: pin.Quaternion) -> Vec:
    turned = poses.copy()
    for row in turned:
        row[3:] = (pin.Quaternion(row[3:]) * quat).coeffs()
    return turned


def _find_version(n: int) -> int | None:
    for version, known in enumerate(_N_KNOWN):
        if n >= known and (n - known) % _N_OBJECT == 0:
            return version
    return None


def _split(line: str) -> list[str]:
    return [word.strip() for word in line.strip().removesuffix(",").split(",")]


def _read_actor(words: Sequence[str]) -> Actor | None:
    if len(words) != _N_ACTOR or _read_numbers(words[1:4]) is not None:
        return None
    scale = _read_numbers(words[4:7])
    if scale is None or not words[0].isdecimal():
        return None
    x, y, z = scale.tolist()
    return Actor(int(words[0]), words[1], words[2], words[3], (x, y, z), words[7])


def _read_numbers(words: Sequence[str]) -> Vec | None:
    try:
        return np.array([float(word) for word in words])
    except ValueError:
        return None
