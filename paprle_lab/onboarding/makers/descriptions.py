"""Descriptions that makers publish, as ``robot_descriptions`` downloads them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.urdf.models import complete_limits, make_pin_model

_BSD, _APACHE, _MIT = "BSD-3-Clause", "Apache-2.0", "MIT"
_LEVELS = 6  # chosen: folders above a URDF in which packages are looked for
_UR_GRAPHICAL = "Universal Robots' terms for graphical documentation"

# spec: names and licences, robot_descriptions 3.3's list; UR20 and UR30: README of
# Universal_Robots_ROS2_Description
_MAKERS = {
    "fr3": ("fr3", _APACHE),
    "fr3_2f85": ("fr3", _APACHE),
    "g1": ("g1", _BSD),
    "g1_upper": ("g1", _BSD),
    "j2s7s300": ("j2s7s300", _BSD),
    "open_manipulator_x": ("open_manipulator_x", _APACHE),
    "openarm": ("openarm_v1", _APACHE),
    "panda": ("panda", _APACHE),
    "piper": ("piper", _MIT),
    "so100": ("so_arm100", _APACHE),
    "so101": ("so_arm101", _APACHE),
    "ur3e": ("ur3e", _BSD),
    "ur5e": ("ur5e", _BSD),
    "ur5e_2f85": ("ur5e", _BSD),
    "ur5e_2f140": ("ur5e", _BSD),
    "ur5e_hande": ("ur5e", _BSD),
    "ur10e": ("ur10e", _BSD),
    "ur16e": ("ur16e", _BSD),
    "ur20": ("ur20", _UR_GRAPHICAL),
    "ur30": ("ur30", _UR_GRAPHICAL),
    "xarm6": ("xarm6", _BSD),
    "xarm7": ("xarm7", _BSD),
    "xarm7_2f85": ("xarm7", _BSD),
    "yam": ("yam", _MIT),
}


class Description(NamedTuple):
    """A maker's robot.

    Attributes:
        model: Its joints.
        geometry: Its visual shapes.
        source: Origin and licence, in words.
    """

    model: pin.Model
    geometry: pin.GeometryModel
    source: str


def list_known() -> tuple[str, ...]:
    """Return the followers whose maker publishes meshes."""
    return tuple(sorted(_MAKERS))


def download(follower: str) -> Description:
    """Return a follower's description; its first use downloads it.

    Raises:
        ConfigError: If there is none, or a package or the network is missing.
    """
    if follower not in _MAKERS:
        raise ConfigError(
            f"meshes: expected one of {', '.join(list_known())}, got '{follower}'; "
            "give a URDF that has them: --urdf FILE"
        )
    name, licence = _MAKERS[follower]
    try:
        # not installed with the rest: a download that few ask for
        from robot_descriptions.loaders import pinocchio as loader  # noqa: PLC0415

        robot = loader.load_robot_description(f"{name}_description")
    except ModuleNotFoundError as err:
        raise ConfigError(
            f"meshes: {err.name} is missing; pip install 'paprle[meshes]'"
        ) from None
    except Exception as err:  # noqa: BLE001 - of Git, the network, xacro or the URDF
        raise ConfigError(
            f"meshes: the download of {name}_description failed: "
            f"{str(err).strip() or type(err).__name__}"
        ) from None
    source = f"{name}_description of robot_descriptions, {licence}"
    return Description(robot.model, robot.visual_model, source)


def read_urdf(path: Path) -> Description:
    """Return the description in a URDF; packages are looked for above it.

    Raises:
        ConfigError: If it, or a mesh of it, cannot be read.
    """
    try:
        model = make_pin_model(path)
        geometry = pin.buildGeomFromUrdfString(
            model,
            complete_limits(path),
            pin.GeometryType.VISUAL,
            package_dirs=[str(folder) for folder in path.resolve().parents[:_LEVELS]],
        )
    except (ValueError, OSError) as err:
        raise ConfigError(f"meshes: {path}: {err}") from None
    return Description(model, geometry, f"{path}, under its own licence")
