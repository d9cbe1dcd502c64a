"""Robot of a recording."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import RobotInfo, Vec
from paprle.ipc.records import pose_to_row
from paprle.robot.chain import Limb, chain_between, make_chain
from paprle.robot.tree import Urdf
from paprle.robot.urdf import read_urdf


def make_limbs(robot: RobotInfo, urdf: str) -> dict[str, Limb]:
    """Return the limbs of a recorded robot by name, in order.

    Raises:
        ConfigError: If the URDF cannot be read or is not the robot's.
    """
    tree = read_recorded_urdf(robot, urdf)
    positions = robot.name_positions(robot.home)
    mimics = {mimic.joint: mimic for mimic in robot.mimics}
    limbs = {}
    for info in robot.limbs:
        steps = chain_between(tree, info.base_link, info.eef_link)
        chain = make_chain(steps, info.joint_names, positions, mimics)
        if chain.model.nv != len(info.joint_names):
            raise ConfigError(
                f"recorded URDF: expected joints {', '.join(info.joint_names)} from "
                f"'{info.base_link}' to '{info.eef_link}', got {chain.model.nv} of them"
            )
        limbs[info.name] = Limb(info, robot, chain)
    return limbs


def read_recorded_urdf(robot: RobotInfo, text: str) -> Urdf:
    """Return the tree of a URDF, with its recorded path.

    Raises:
        ConfigError: If it cannot be read.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.urdf"
        path.write_text(text, encoding="utf-8")
        return replace(read_urdf(path), path=robot.urdf_path)


def compute_poses(limb: Limb, q: Vec) -> Vec:
    """Return T_base_eef of joints (N, n_l), shape (N, 7); NaN stays."""
    rows = np.full((len(q), 7), np.nan)
    for k in np.flatnonzero(np.isfinite(q).all(axis=1)):
        rows[k] = pose_to_row(limb.fk(q[k]))
    return rows
