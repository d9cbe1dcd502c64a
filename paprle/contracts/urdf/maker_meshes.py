"""Meshes of an arm's maker that replace a robot's bodies in pictures.

``paprle meshes`` writes them once into the cache; viewers read them.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import RobotInfo, Vec

VERSION = 1
"""Of the file's content."""


@dataclass(frozen=True, slots=True)
class MakerMesh:
    """A mesh of one color on a joint.

    Attributes:
        joint: The robot's joint; ``universe`` for its fixed base.
        link: The robot's link that it shows.
        vertices: In the joint's frame, shape (v, 3), [m].
        faces: Shape (f, 3).
        color: RGB, 0 … 255; None for the viewer's own.
    """

    joint: str
    link: str
    vertices: Vec
    faces: npt.NDArray[np.int64]
    color: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class MakerMeshes:
    """Meshes of one robot.

    Attributes:
        source: Their origin and licence, in words.
        links: Links of the robot whose own bodies they replace.
    """

    source: str
    links: frozenset[str]
    meshes: Sequence[MakerMesh]


def find_file(robot: str) -> Path:
    """Return the file of a robot's meshes in the cache; it may be missing."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "paprle" / "meshes" / f"{robot}.npz"


def write(path: Path, info: RobotInfo, made: MakerMeshes) -> None:
    """Write meshes that belong to the present URDF of a robot.

    Raises:
        OSError: If the file cannot be written.
    """
    rows = [
        {"joint": mesh.joint, "link": mesh.link, "color": mesh.color}
        for mesh in made.meshes
    ]
    about = {
        "version": VERSION,
        "urdf": _digest(info),
        "source": made.source,
        "links": sorted(made.links),
        "meshes": rows,
    }
    arrays: dict[str, npt.NDArray[np.generic]] = {"about": np.array(json.dumps(about))}
    for k, mesh in enumerate(made.meshes):
        arrays[f"vertices{k}"] = mesh.vertices.astype(np.float32)
        arrays[f"faces{k}"] = mesh.faces.astype(np.uint32)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    draft.replace(path)


def read(path: Path, info: RobotInfo) -> MakerMeshes | None:
    """Return a robot's meshes; None: there are none for its present URDF.

    Raises:
        ValueError: If the file is damaged.
        OSError: If it cannot be read.
    """
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about["version"] != VERSION or about["urdf"] != _digest(info):
                return None
            meshes = [
                MakerMesh(
                    row["joint"],
                    row["link"],
                    arrays[f"vertices{k}"].astype(float),
                    arrays[f"faces{k}"].astype(np.int64),
                    None if row["color"] is None else tuple(row["color"]),
                )
                for k, row in enumerate(about["meshes"])
            ]
            return MakerMeshes(about["source"], frozenset(about["links"]), meshes)
    except (KeyError, TypeError, EOFError, zipfile.BadZipFile) as err:
        raise ValueError(f"{path}: expected meshes of a maker, got {err}") from None


def _digest(info: RobotInfo) -> str:
    return hashlib.sha256(info.urdf_path.read_bytes()).hexdigest()
