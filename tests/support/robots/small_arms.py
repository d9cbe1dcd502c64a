"""URDFs of a small arm of cylinders, each with something changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PLAIN = {
    "type": "revolute", "lower": "-2.8", "upper": "2.8", "velocity": "2", "more": "",
}  # fmt: skip
_AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")


def write_arm(
    path: Path,
    joints: Mapping[int, Mapping[str, str]] | None = None,
    *,
    more: str = "",
    inertia: str = "0.01",
    mass: str = "1",
) -> Path:
    """Write an arm of six joints j1 … j6 and links link0 … link6.

    Args:
        path: The URDF.
        joints: What differs from ``PLAIN``, by joint number; 0: of all.
        more: Further elements of the robot.
        inertia: Of link 3 about each axis, one number or three, [kg m²].
        mass: Of link 3, [kg].

    Returns:
        The path.
    """
    text = [_link(0, "1", "0.01")]
    for k, axis in enumerate(_AXES, 1):
        own = {**PLAIN, **(joints or {}).get(0, {}), **(joints or {}).get(k, {})}
        bounds = {key: own[key] for key in ("lower", "upper", "velocity") if own[key]}
        limit = " ".join(f'{key}="{value}"' for key, value in bounds.items())
        text.append(
            f'<joint name="j{k}" type="{own["type"]}"><parent link="link{k - 1}"/>'
            f'<child link="link{k}"/><origin xyz="0 0 0.15"/><axis xyz="{axis}"/>'
            f'<limit {limit} effort="50"/>{own["more"]}</joint>'
        )
        text.append(_link(k, *((mass, inertia) if k == 3 else ("1", "0.01"))))
    path.write_text(f'<robot name="{path.stem}">{"".join(text)}{more}</robot>')
    return path


def _link(k: int, mass: str, inertia: str) -> str:
    numbers = inertia.split() if " " in inertia else [inertia] * 3
    moments = " ".join(f'i{a}{a}="{n}"' for a, n in zip("xyz", numbers, strict=True))
    return (
        f'<link name="link{k}"><inertial><origin xyz="0 0 0.05"/><mass value="{mass}"/>'
        f'<inertia {moments} ixy="0" ixz="0" iyz="0"/></inertial><collision>'
        '<origin xyz="0 0 0.05"/><geometry><cylinder radius="0.03" length="0.06"/>'
        "</geometry></collision></link>"
    )
