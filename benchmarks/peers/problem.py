"""Robot for every peer; workers have only NumPy."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, kw_only=True)
class ProblemLimb:
    """A limb's links and ordered joints."""

    name: str
    base_link: str
    eef_link: str
    joints: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A robot.

    Attributes:
        urdf: Primitives named ``<link>_<number>``, only limb joints move.
        urdf_pin: With pinocchio's capsules.
        joint_names: Order of all vectors.
        q_min: [rad].
        q_max: [rad].
        dq_max: [rad/s].
        ddq_max: [rad/s²].
        home: [rad].
        pairs: Bodies to keep apart.
        ignored: Links with harmless contact.
        keep: Clearance, [m].
        dt: [s].
    """

    name: str
    urdf: str
    urdf_pin: str
    joint_names: tuple[str, ...]
    q_min: tuple[float, ...]
    q_max: tuple[float, ...]
    dq_max: tuple[float, ...]
    ddq_max: tuple[float, ...]
    home: tuple[float, ...]
    limbs: tuple[ProblemLimb, ...]
    pairs: tuple[tuple[str, str], ...]
    ignored: tuple[tuple[str, str], ...]
    keep: float
    dt: float

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Problem:
        """Read it from JSON."""
        values = json.loads(path.read_text())
        values["limbs"] = tuple(ProblemLimb(**limb) for limb in values["limbs"])
        return cls(**values)

    def columns(self, names: list[str]) -> np.ndarray:
        """Return our joints' indices in names, (n,)."""
        return np.array([names.index(name) for name in self.joint_names])


class Targets(NamedTuple):
    """Target poses of all limbs, path after path.

    Attributes:
        T: In the root, (n_ticks, n_limbs, 4, 4).
        first: Ticks, (n_paths,).
        q_start: (n_paths, n).
        kind: 0 reachable by construction, 1 out of reach or on the way, 2 back again, 3
            unknown, (n_ticks,).
    """

    T: np.ndarray
    first: np.ndarray
    q_start: np.ndarray
    kind: np.ndarray

    def write(self, path: Path) -> None:
        """Write npz."""
        np.savez(path, **self._asdict())

    @classmethod
    def read(cls, path: Path) -> Targets:
        """Read npz."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in cls._fields})

    def cut(self, n: int) -> Targets:
        """Return the first n ticks."""
        is_in = self.first < n
        return Targets(
            self.T[:n], self.first[is_in], self.q_start[is_in], self.kind[:n]
        )

    def paths(self) -> list[slice]:
        """Return the ticks of each path."""
        ends = [*self.first[1:].tolist(), len(self.T)]
        return [slice(a, b) for a, b in zip(self.first.tolist(), ends, strict=True)]
