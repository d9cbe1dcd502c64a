"""Writing of a new leader's files, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from paprle.config.folders import DATA
from paprle.contracts.errors import ConfigError
from paprle_lab.onboarding.leader.geometry import Geometry

_DIGITS = 6


def name_files(out: Path, name: str) -> tuple[Path, Path]:
    """Return a leader's YAML and URDF.

    Raises:
        ConfigError: If one exists.
    """
    paths = out / f"{name}.yaml", out / f"{name}.urdf"
    for path in paths:
        if path.exists():
            raise ConfigError(
                f"{path}: exists already; choose another name or remove it"
            )
    return paths


def make_yaml(
    settings: Mapping[str, Any],
    geometry: Geometry,
    urdf: Path,
    port: str,
    home: tuple[float, ...],
) -> str:
    """Return the text of a leader's YAML."""
    arm = dict(settings["limbs"]["arm"])
    limb = {
        "port": port,
        "urdf": _relative(urdf),
        "base_link": geometry.base_link,
        "eef_link": geometry.eef_link,
        **{key: value for key, value in arm.items() if key != "port"},
        "reset_q": [round(q, _DIGITS) for q in home],
    }
    tree = {**settings, "limbs": {"arm": limb}}
    text = yaml.safe_dump(tree, sort_keys=False, default_flow_style=None, width=88)
    return (
        "# Written by `paprle new-leader`. Signs, zeros and gears: of two postures "
        "shown by hand.\n"
        f"# reset_q: the first of them.\n{text}"
    )


def write_all(texts: Mapping[Path, str], check: Callable[[], None]) -> None:
    """Write files, check them, and remove all if one fails.

    Raises:
        ConfigError: If a file exists.
    """
    written: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                file = path.open("x", encoding="utf-8")
            except FileExistsError:
                raise ConfigError(
                    f"{path}: exists already; choose another name or remove it"
                ) from None
            written.append(path)
            with file:
                file.write(text)
        check()
    except BaseException:  # a Ctrl-C leaves no half of a leader either
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _relative(urdf: Path) -> str:
    found = urdf.resolve()
    inside = found.is_relative_to(DATA.resolve())
    return str(found.relative_to(DATA.resolve()) if inside else found)
