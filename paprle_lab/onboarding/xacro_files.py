"""Expansion of URDFs in xacro."""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ET
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from paprle.contracts.errors import ConfigError, MissingDependency
from paprle_lab.onboarding.mesh_bodies import name_meshes

SUFFIX = ".xacro"


def provide_urdf(path: Path, folder: Path) -> Path:
    """Return a robot's URDF, expanded from xacro if needed.

    Raises:
        ConfigError: If the file is missing or invalid.
        MissingDependency: Without xacro.
    """
    if path.suffix != SUFFIX:
        return path
    text = _expand(path.absolute())
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    out = folder / f"{name_robot(path)}_{digest}.urdf"
    folder.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    return out


def name_robot(path: Path) -> str:
    """Return a file's name without ``.urdf`` and ``.xacro``."""
    return path.name.removesuffix(SUFFIX).removesuffix(".urdf")


def _expand(path: Path) -> str:
    if not path.is_file():
        raise ConfigError(f"{path}: expected a xacro file, got nothing there")
    if find_spec("xacro") is None:
        raise MissingDependency(
            f"{path.name}: expected the package 'xacro', got none; install it with: "
            f"pip install xacro; or expand the file where ROS is: xacro {path.name} > "
            f"{name_robot(path)}.urdf"
        )
    try:
        text = import_module("xacro").process_file(str(path)).toxml()
        root = ET.fromstring(text)
    except Exception as err:  # xacro evaluates Python of the file
        raise ConfigError(
            f"{path.name}: expected xacro that expands, got {type(err).__name__}: "
            f"{err}; packages that it finds need a sourced ROS"
        ) from err
    name_meshes(root, path)
    return ET.tostring(root, encoding="unicode")
