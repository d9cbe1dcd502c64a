"""Emulated rig, by the YAML of a leader or driven arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml  # type: ignore[import-untyped]

from paprle_emulators.dynamixel.models import find_model

RIGS = Path(__file__).parent / "rigs"
BAUD = 4_000_000  # chosen: the fastest that all models here share


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoSpec:
    """One joint and its servo: angle_servo = sign · gear · q + offset.

    Attributes:
        offset: [rad].
        gear: Servo turns per joint turn.
        twin: ID of a mirrored servo that also obeys this one's.
        is_reversed: Drive Mode counts clockwise.
        limits: Of goals, [ticks].
    """

    joint: str
    number: int
    model: str = "xl330-m288"
    sign: int = 1
    offset: float = 0.0
    gear: float = 1.0
    twin: int | None = None
    is_reversed: bool = False
    limits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbSpec:
    """One arm of the rig.

    Attributes:
        urdf: None: neither links nor gravity.
        gripper: Closed and open, [rad].
        base_rpy: In upright axes, [rad].
        reset_q: Pose of the end signal, without gripper, [rad].
        plant: Upright MuJoCo model instead.
        setting: Session's key for its port.
        is_driven: Follows positions, without a hand.
    """

    name: str
    servos: tuple[ServoSpec, ...]
    port: str = "bus"
    urdf: Path | None = None
    gripper: tuple[float, float] | None = None
    base_rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reset_q: tuple[float, ...] = ()
    plant: Path | None = None
    setting: str = ""
    is_driven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RigSpec:
    """A rig.

    Attributes:
        watchdog: As in firmware (``real``), or the e-manual (``ideal``).
        firmware: Of 330-size servos; None: default.
        is_factory: As delivered but for ids, without a hand.
    """

    limbs: tuple[LimbSpec, ...]
    baud: int = BAUD
    watchdog: Literal["real", "ideal"] = "real"
    firmware: int | None = None
    is_factory: bool = False

    @property
    def ports(self) -> tuple[str, ...]:
        """Distinct ports in order."""
        return tuple(dict.fromkeys(limb.port for limb in self.limbs))


def read_rig(leader: str) -> RigSpec:
    """Return a leader's rig.

    Raises:
        FileNotFoundError: If the YAML is missing.
        ValueError: If not a Dynamixel rig.
    """
    path = find_config(leader)
    values = yaml.safe_load(path.read_text())
    limbs = values.get("limbs") if isinstance(values, dict) else None
    if not isinstance(limbs, dict) or not limbs:
        msg = f"{path}: expected limbs with servos, got none; name a puppeteer"
        raise ValueError(msg)
    return RigSpec(
        limbs=tuple(
            read_limb(f"{path}: limbs.{n}", n, v, path) for n, v in limbs.items()
        ),
        baud=int(values.get("baud", BAUD)),
    )


def find_config(leader: str) -> Path:
    """Return a leader's file.

    Raises:
        FileNotFoundError: If missing.
    """
    name = f"{leader}.yaml"
    for path in (RIGS / name, RIGS / "leader" / name, Path(leader)):
        if path.is_file():
            return path
    known = ", ".join(list_rigs()) or "none here"
    msg = f"leader: expected a rig ({known}) or a puppeteer's YAML, got '{leader}'"
    raise FileNotFoundError(msg)


def list_rigs() -> list[str]:
    """Return included rigs' names."""
    found = [*RIGS.glob("*.yaml"), *RIGS.glob("leader/puppeteer*.yaml")]
    return sorted(path.stem for path in found)


def list_arms() -> list[str]:
    """Return driven arms' names."""
    return sorted(path.stem for path in RIGS.glob("arms/*.yaml"))


def find_arm(name: str) -> str:
    """Return a driven arm's file.

    Raises:
        ValueError: If unknown.
    """
    path = RIGS / "arms" / f"{name}.yaml"
    if name not in list_arms():
        known = ", ".join(list_arms())
        raise ValueError(f"follower: expected one of {known}, got '{name}'")
    return str(path)


def read_limb(
    where: str, name: str, values: Mapping[str, Any], path: Path = RIGS
) -> LimbSpec:
    """Return a YAML's limb; ``where`` prefixes errors.

    Raises:
        ValueError: If servos are missing or invalid.
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
            urdf=find_urdf(values.get("urdf"), path),
            gripper=(float(grip["closed"]), float(grip["open"])) if grip else None,
            base_rpy=as_triple(values.get("base_rpy_xyz_extrinsic", (0.0, 0.0, 0.0))),
            reset_q=tuple(float(q) for q in values.get("reset_q") or ()),
            setting=str(values.get("setting", f"leader.limbs.{name}.port")),
            is_driven=bool(values.get("driven", False)),
        )
    except KeyError as error:
        msg = f"{where}: expected the key {error}, got none"
        raise ValueError(msg) from error
    except (TypeError, AttributeError) as error:
        msg = f"{where}: expected servos by joint, got {error}"
        raise ValueError(msg) from error


def read_servo(joint: str, values: Mapping[str, Any]) -> ServoSpec:
    """Return a YAML's servo."""
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
        is_reversed=bool(values.get("reversed", False)),
        limits=as_pair(values.get("limits")),
    )


def as_pair(values: Sequence[int] | None) -> tuple[int, int] | None:
    """Return two numbers, or None."""
    if values is None:
        return None
    low, high = (int(v) for v in values)
    return low, high


def find_urdf(name: str | None, yaml_path: Path) -> Path | None:
    """Return a YAML's URDF, from folders above or the package."""
    if not name:
        return None
    places = [*yaml_path.absolute().parents, RIGS]
    found = (place / name for place in places if (place / name).is_file())
    return next(found, Path(name))


def as_triple(values: Sequence[float]) -> tuple[float, float, float]:
    """Return three numbers."""
    x, y, z = (float(v) for v in values)
    return x, y, z
