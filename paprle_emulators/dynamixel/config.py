"""Description of the rig to emulate, read from the YAML of its leader.

Only the keys that describe hardware are read; the leader's own class judges the rest.
``configs/site`` is not read: a calibration is what the client makes of the rig.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml  # type: ignore[import-untyped]

from paprle_emulators.dynamixel.models import find_model

_PLACE = Path(__file__).resolve().parents[2]
_PACKED = _PLACE / "paprle/data"
ROOT = _PACKED if _PACKED.is_dir() else _PLACE  # installed, or a checkout
BAUD = 4_000_000  # chosen: the fastest that all models here share


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoSpec:
    """One joint and its servo: angle_servo = sign · gear · q + offset.

    Attributes:
        joint: Name in the URDF.
        number: ID on the bus.
        model: Name of the servo's model.
        sign: 1 or -1.
        offset: [rad].
        gear: Turns of the servo by turns of the joint.
        twin: ID of a second servo at the joint, facing the first and obeying its ID,
            too; None: there is none.
    """

    joint: str
    number: int
    model: str = "xl330-m288"
    sign: int = 1
    offset: float = 0.0
    gear: float = 1.0
    twin: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbSpec:
    """One arm of the rig.

    Attributes:
        name: Of the limb.
        port: As the YAML names it; limbs of one port share a bus.
        servos: Of the arm's joints in order, then the gripper's if there is one.
        urdf: Of the arm; None: joints without links, in no gravity.
        gripper: Positions of the last joint, closed and open, [rad]; None: no gripper.
        base_rpy: Base of the arm in upright axes, roll, pitch, yaw, [rad].
        reset_q: Pose of the end signal, arm joints only, [rad].
    """

    name: str
    servos: tuple[ServoSpec, ...]
    port: str = "bus"
    urdf: Path | None = None
    gripper: tuple[float, float] | None = None
    base_rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reset_q: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RigSpec:
    """A rig.

    Attributes:
        limbs: Its arms.
        baud: Of every bus.
        watchdog: ``real`` as firmware has it, or ``ideal`` as the e-manual does.
        firmware: Of servos of the 330 size; None: the one they come with.
    """

    limbs: tuple[LimbSpec, ...]
    baud: int = BAUD
    watchdog: Literal["real", "ideal"] = "real"
    firmware: int | None = None

    @property
    def ports(self) -> tuple[str, ...]:
        """Ports in the order of the limbs, each once."""
        return tuple(dict.fromkeys(limb.port for limb in self.limbs))


def read_rig(leader: str) -> RigSpec:
    """Return the rig that a leader's YAML describes.

    Args:
        leader: Name of a file in ``configs/leader``, or a path to one.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it describes no rig of Dynamixel servos.
    """
    path = find_config(leader)
    values = yaml.safe_load(path.read_text())
    limbs = values.get("limbs") if isinstance(values, dict) else None
    if not isinstance(limbs, dict) or not limbs:
        msg = f"{path}: expected limbs with servos, got none; name a puppeteer"
        raise ValueError(msg)
    return RigSpec(
        limbs=tuple(read_limb(f"{path}: limbs.{n}", n, v) for n, v in limbs.items()),
        baud=int(values.get("baud", BAUD)),
    )


def find_config(leader: str) -> Path:
    """Return the file that a leader's name or path means.

    Raises:
        FileNotFoundError: If there is none.
    """
    folder = ROOT / "configs" / "leader"
    for path in (folder / f"{leader}.yaml", Path(leader)):
        if path.is_file():
            return path
    known = ", ".join(sorted(p.stem for p in folder.glob("puppeteer*.yaml")))
    msg = f"leader: expected a puppeteer ({known or 'none here'}), got '{leader}'"
    raise FileNotFoundError(msg)


def read_limb(where: str, name: str, values: Mapping[str, Any]) -> LimbSpec:
    """Return one limb of a YAML.

    Raises:
        ValueError: If its servos are missing or not to be understood.
    """
    try:
        servos = [read_servo(joint, one) for joint, one in values["servos"].items()]
        grip = values.get("gripper")
        if grip:
            servos.append(read_servo(grip["joint"], grip))
        return LimbSpec(
            name=name,
            port=str(values["port"]),
            servos=tuple(servos),
            urdf=find_urdf(values.get("urdf")),
            gripper=(float(grip["closed"]), float(grip["open"])) if grip else None,
            base_rpy=as_triple(values.get("base_rpy_xyz_extrinsic", (0.0, 0.0, 0.0))),
            reset_q=tuple(float(q) for q in values.get("reset_q") or ()),
        )
    except KeyError as error:
        msg = f"{where}: expected the key {error}, got none"
        raise ValueError(msg) from error
    except (TypeError, AttributeError) as error:
        msg = f"{where}: expected servos by joint, got {error}"
        raise ValueError(msg) from error


def read_servo(joint: str, values: Mapping[str, Any]) -> ServoSpec:
    """Return one servo of a YAML."""
    model = str(values["model"])
    find_model(model)
    return ServoSpec(
        joint=joint,
        number=int(values["id"]),
        model=model,
        sign=int(values.get("sign", 1)),
        offset=float(values.get("offset", 0.0)),
        gear=float(values.get("gear", 1.0)),
        twin=None if values.get("twin") is None else int(values["twin"]),
    )


def find_urdf(name: str | None) -> Path | None:
    """Return the file of a URDF named from the repository's root, or by a path."""
    if not name:
        return None
    return path if (path := ROOT / name).is_file() else Path(name)


def as_triple(values: Sequence[float]) -> tuple[float, float, float]:
    """Return three numbers."""
    x, y, z = (float(v) for v in values)
    return x, y, z
