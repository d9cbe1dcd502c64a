"""Header of a recording, as JSON."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.leader_group import name_limb, split_leaders
from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.robot_info import JOINT_VECTORS
from paprle.contracts.types import (
    GripperInfo,
    LeaderArm,
    LeaderInfo,
    LimbInfo,
    RobotInfo,
    Vec,
    readonly,
)
from paprle.contracts.urdf.mimic import Mimic
from paprle.ipc.records import Layout, make_layout

SCHEMA_VERSION = 2


def make_recording_header(
    *,
    config: Mapping[str, Any],
    names: Mapping[str, str],
    robot: RobotInfo,
    leader: LeaderInfo,
    gate_period: float,
    objects: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the header of a session's recordings.

    ``config`` has JSON values only, ``names`` leader, follower and env; the period is
    in [s].

    Raises:
        RecordingError: If the URDF cannot be read, or a value is not JSON.
    """
    try:
        urdf = robot.urdf_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise RecordingError(f"recording header: expected a URDF, got {err}") from err
    header = {
        "schema": SCHEMA_VERSION,
        **{key: names[key] for key in ("leader", "follower", "env")},
        "robot": robot_to_dict(robot),
        "leader_info": leader_to_dict(leader),
        "gate_period": gate_period,
        "objects": list(objects),
        "placed": list(config.get("session", {}).get("objects", ())),
        "version": _find_version(),
        "git_rev": find_git_rev(),
        "urdf_sha256": hashlib.sha256(urdf.encode()).hexdigest(),
        "urdf": urdf,
        "config": dict(config),
    }
    try:
        json.dumps(header, allow_nan=False)
    except (TypeError, ValueError) as err:
        raise RecordingError(
            f"recording header: expected JSON values, got {err}"
        ) from err
    return header


def robot_to_dict(robot: RobotInfo) -> dict[str, Any]:
    """Return JSON values; infinite limits become null."""
    return {
        "name": robot.name,
        "urdf_path": str(robot.urdf_path),
        "joint_names": list(robot.joint_names),
        **{
            row.name: _finite_or_null(getattr(robot, row.name)) for row in JOINT_VECTORS
        },
        "limbs": [
            {
                "name": limb.name,
                "base_link": limb.base_link,
                "eef_link": limb.eef_link,
                "joint_names": list(limb.joint_names),
                "gripper": _gripper_to_dict(limb.gripper),
            }
            for limb in robot.limbs
        ],
        "mimics": [
            {
                "joint": mimic.joint,
                "source": mimic.source,
                "multiplier": mimic.multiplier,
                "offset": mimic.offset,
            }
            for mimic in robot.mimics
        ],
    }


def robot_from_dict(data: Mapping[str, Any]) -> RobotInfo:
    """Return the robot of ``robot_to_dict`` values."""
    vectors: dict[str, Any] = {
        row.name: _read_vector(data[row.name], row.unlimited)
        for row in JOINT_VECTORS
        if not (row.is_optional and data.get(row.name) is None)
    }
    limbs = tuple(
        LimbInfo(
            name=limb["name"],
            base_link=limb["base_link"],
            eef_link=limb["eef_link"],
            joint_names=tuple(limb["joint_names"]),
            gripper=_gripper_from_dict(limb["gripper"]),
        )
        for limb in data["limbs"]
    )
    return RobotInfo(
        name=data["name"],
        urdf_path=Path(data["urdf_path"]),
        joint_names=tuple(data["joint_names"]),
        **vectors,
        limbs=limbs,
        mimics=tuple(Mimic(**mimic) for mimic in data["mimics"]),
    )


def leader_to_dict(leader: LeaderInfo) -> dict[str, Any]:
    """Return the leader's info as JSON values."""
    return {
        "limbs": list(leader.limbs),
        "emits": leader.emits,
        "joint_names": {k: list(v) for k, v in leader.joint_names.items()},
        "axes": {k: list(v) for k, v in leader.axes.items()},
        "axis_speeds": _finite_or_null(np.array(leader.axis_speeds)),
        "is_absolute": leader.is_absolute,
        "relative": sorted(leader.relative),
        "is_human": leader.is_human,
        "is_measured": leader.is_measured,
        "is_stamped_on_arrival": leader.is_stamped_on_arrival,
        "has_gripper": leader.has_gripper,
        "has_buttons": leader.has_buttons,
        "renders": leader.renders,
        "rate": leader.rate,
        "sampling": list(leader.sampling),
        "look_ahead": leader.look_ahead,
        "arms": {limb: _arm_to_dict(arm) for limb, arm in leader.arms.items()},
        "press": leader.engage_hint,
        "held_limbs": [
            name_limb(name, limb)
            for name, part in split_leaders(leader)
            if part.is_human
            for limb in part.limbs
        ],
        "parts": {name: leader_to_dict(part) for name, part in leader.parts.items()},
    }


def leader_from_dict(data: Mapping[str, Any]) -> LeaderInfo:
    """Return the leader's info of ``leader_to_dict`` values."""
    fields = dict(data)
    fields.pop("held_limbs", None)  # of each leader alone, which a group is not
    fields["engage_hint"] = fields.pop("press", "")
    speeds = [np.nan if x is None else x for x in data.get("axis_speeds", ())]
    fields["axis_speeds"] = AxisSpeeds(*speeds)
    fields["sampling"] = Sampling(*data.get("sampling", ()))
    fields["axes"] = {k: tuple(v) for k, v in data.get("axes", {}).items()}
    fields["relative"] = frozenset(data.get("relative", ()))
    fields["parts"] = {
        name: leader_from_dict(part) for name, part in data.get("parts", {}).items()
    }
    joint_names = {k: tuple(v) for k, v in data["joint_names"].items()}
    arms = {limb: _arm_from_dict(arm) for limb, arm in data["arms"].items()}
    return LeaderInfo(
        **fields
        | {"limbs": tuple(data["limbs"]), "joint_names": joint_names, "arms": arms}
    )


def layout_from_header(header: Mapping[str, Any]) -> Layout:
    """Return the wire layout of the recorded session.

    Raises:
        RecordingError: If the header has another schema.
    """
    if header.get("schema") != SCHEMA_VERSION:
        raise RecordingError(
            f"recording header: expected schema {SCHEMA_VERSION}, got "
            f"{header.get('schema')!r}; read it with the version that wrote it"
        )
    try:
        robot = robot_from_dict(header["robot"])
        leader = leader_from_dict(header["leader_info"])
        objects, placed = header.get("objects", ()), header.get("placed", ())
        return make_layout(robot, leader, objects, placed)
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise RecordingError(
            f"recording header: expected a robot and a leader, got {err!r}"
        ) from err


def _arm_to_dict(arm: LeaderArm) -> dict[str, Any]:
    return {
        "urdf_path": str(arm.urdf_path),
        "base_link": arm.base_link,
        "eef_link": arm.eef_link,
        "joint_names": list(arm.joint_names),
        "gripper": _gripper_to_dict(arm.gripper),
        "R_base": arm.R_base.tolist(),
    }


def _arm_from_dict(data: Mapping[str, Any]) -> LeaderArm:
    return LeaderArm(
        urdf_path=Path(data["urdf_path"]),
        base_link=data["base_link"],
        eef_link=data["eef_link"],
        joint_names=tuple(data["joint_names"]),
        gripper=_gripper_from_dict(data["gripper"]),
        R_base=readonly(data["R_base"]),
    )


def _gripper_from_dict(data: Mapping[str, Any] | None) -> GripperInfo | None:
    return None if data is None else GripperInfo(**data)


def _gripper_to_dict(gripper: GripperInfo | None) -> dict[str, Any] | None:
    if gripper is None:
        return None
    return {"joint": gripper.joint, "closed": gripper.closed, "open": gripper.open}


def _finite_or_null(
    values: npt.NDArray[np.float64] | None,
) -> Sequence[float | None] | None:
    if values is None:
        return None
    return [float(x) if np.isfinite(x) else None for x in values]


def _read_vector(values: Sequence[float | None], unlimited: float) -> Vec:
    return readonly([unlimited if x is None else x for x in values])


def _find_version() -> str:
    try:
        return version("paprle")
    except PackageNotFoundError:
        return "unknown"


@cache
def find_git_rev() -> str | None:
    """Return this process's git revision; None outside a clone."""
    folder = Path(__file__).resolve().parents[2]
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    command += ["--abbrev=40", "--match", ""]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=5.0, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()
