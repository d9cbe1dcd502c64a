"""Motors and arms by their makers' figures.

Bodies do not come from a driver's robot files, so that errors there show.

Sources: Damiao's data sheets of the DM-J4310-2EC, DM-J4340-2EC and DM-J8009-2EC;
enactic/openarm_description, config/arm/v10 and config/hand; enactic/openarm_ros2,
v10_simple_hardware.hpp; i2rt-robotics/i2rt, yam.urdf, yam.yml and linear_4310.yml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from paprle_emulators.damiao.protocol import Ranges

Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class MotorKind:
    """A kind of motor, at its output shaft.

    Attributes:
        peak: [N·m].
        inertia: Rotor and gear, [kg·m²].
        coulomb: [N·m].
        viscous: [N·m·s/rad].
        braking: After a lost communication, [N·m·s/rad].
    """

    ranges: Ranges
    gear: float
    peak: float
    inertia: float
    coulomb: float
    viscous: float
    braking: float


# spec: ranges: openarm_can's MOTOR_LIMIT_PARAMS; peaks and gears: data sheets; dry
# friction: i2rt's yam.yml. chosen: inertias, of rotors of 15 to 150 g·cm² by the gear
# squared; viscous friction; braking, a short circuit that lets a stretched arm sink
# within a second or two
MOTORS: Mapping[str, MotorKind] = {
    "DM4310": MotorKind(Ranges(12.5, 30.0, 10.0), 10.0, 7.0, 0.004, 0.06, 0.02, 0.3),
    "DM4340": MotorKind(Ranges(12.5, 10.0, 28.0), 40.0, 27.0, 0.03, 0.3, 0.1, 3.0),
    "DM8009": MotorKind(Ranges(12.5, 45.0, 54.0), 9.0, 40.0, 0.02, 0.3, 0.1, 3.0),
}


class Row(NamedTuple):
    """A joint in its parent's frame and its body in its own.

    Attributes:
        xyz: [m].
        rpy: [rad].
        limits: [rad].
        mass: [kg].
        centre: [m].
        inertia: ixx, ixy, ixz, iyy, iyz, izz, [kg·m²].
    """

    xyz: Triple
    rpy: Triple
    axis: Triple
    limits: tuple[float, float]
    mass: float
    centre: Triple
    inertia: tuple[float, ...]


class Part(NamedTuple):
    """A body in the last joint's frame."""

    xyz: Triple
    mass: float
    inertia: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTable:
    """An arm: motors 1 … n at its joints, motor n + 1 at its gripper.

    Attributes:
        base_xyz: First frame in the upright base, [m].
        base_rpy: [rad].
        hand: Bodies at the last joint.
        grip: The gripper motor's range, [rad].
        timeout: On delivery, [s]; 0: none.
        q: Initial, [rad].
    """

    motors: tuple[str, ...]
    base_xyz: Triple
    base_rpy: Triple
    rows: tuple[Row, ...]
    hand: tuple[Part, ...]
    grip: tuple[float, float]
    timeout: float
    q: tuple[float, ...]

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.rows)


_FINGER = (2.375e-6, 1e-6, 1e-6, 2.375e-6, 1e-6, 7.5e-7)
_OPENARM = (
    Row((0, 0, 0.0625), (0, 0, 0), (0, 0, 1),
        (-1.396263, 3.490659), 1.141668, (0.001146766, 3.319988e-05, 0.05395284),
        (0.001567, -1e-06, -2.9e-05, 0.001273, 1e-06, 0.001016)),
    Row((-0.0301, 0, 0.06), (1.57079632679, 0, 0), (-1, 0, 0),
        (-0.174533, 3.316125), 0.277509, (0.008396292, -2.01451e-08, 0.03256649),
        (0.000359, 1e-06, -0.000109, 0.000376, 1e-06, 0.000232)),
    Row((0.0301, 0, 0.06625), (0, 0, 0), (0, 0, 1),
        (-1.570796, 1.570796), 1.073863, (-0.002104752, 0.0005549085, 0.08847471),
        (0.004372, 1e-06, 1.1e-05, 0.004319, -3.6e-05, 0.000661)),
    Row((0, 0.0315, 0.15375), (0, 0, 0), (0, 1, 0),
        (0.0, 2.443461), 0.559853, (-0.002900683, -0.03030576, 0.06339637),
        (0.000623, -1e-06, -1.9e-05, 0.000511, 3.8e-05, 0.000334)),
    Row((0, -0.0315, 0.0955), (0, 0, 0), (0, 0, 1),
        (-1.570796, 1.570796), 0.550659, (-0.003049665, 0.0008866902, 0.0430798),
        (0.000423, -8e-06, 6e-06, 0.000445, -6e-06, 0.000324)),
    Row((0.0375, 0, 0.1205), (0, 0, 0), (1, 0, 0),
        (-0.785398, 0.785398), 0.385203, (-0.03713659, 0.0003323053, -9.498375e-05),
        (0.000143, 1e-06, 1e-06, 0.000157, 1e-06, 0.000159)),
    Row((-0.0375, 0, 0), (0, 0, 0), (0, 1, 0),
        (-1.570796, 1.570796), 0.385977, (6.87551e-05, 0.01266175, 0.06951945),
        (0.000639, 1e-06, 1e-06, 0.000497, 8.9e-05, 0.000342)),
)  # fmt: skip
_YAM = (
    Row((0, 0, 0.068), (0, 1.5708, 3.1415963), (-1, 0, 0),
        (-2.61799, 3.14159), 0.101218, (-0.0233636, -0.00172503, -0.00727828),
        (0.000114689, -4.62759e-06, -1.3427e-05, 4.76603e-05, -2.58724e-06,
         0.000125996)),
    Row((-0.0455, -0.0339, -0.02), (0, 0, -3.14159), (0, 1, 0),
        (0.0, 3.66519), 1.46908, (0.000134495, -0.0331253, 0.129165),
        (0.0146686, -1.1067e-08, -4.33007e-07, 0.014599, 3.12564e-06, 0.000800089)),
    Row((0, -0.0688, 0.264), (0, 0, -3.14159), (0, 1, 0),
        (0.0, 3.14159), 0.982553, (-0.0556042, -0.0340514, -0.135083),
        (0.00758945, 4.36076e-06, -0.00064069, 0.00763097, -1.09984e-05, 0.000937606)),
    Row((-0.0600003, -0.0688, -0.244999), (0, 0, 0), (0, 1, 0),
        (-1.69297, 1.5708), 0.462165, (-0.0550959, 0.032726, -0.0575534),
        (0.000473594, 3.00819e-05, -0.000238801, 0.000764022, 2.9261e-05, 0.000604492)),
    Row((-0.0405003, 0.0338995, -0.0739989), (0, 0, 0), (1, 0, 0),
        (-1.5708, 1.5708), 0.403307, (0.0375847, -3.55003e-05, -0.000825911),
        (0.000184284, 2.10549e-07, 1.29173e-05, 0.000219791, -3.49657e-07,
         0.000181053)),
    Row((0.0404996, 0, -0.0356), (0, 0, 0), (0, 0, -1),
        (-2.0944, 2.0944), 0.553219, (-3.57064e-05, 0.000249371, -0.0293133),
        (0.000409669, 5.44941e-07, 7.91268e-07, 0.000324942, -4.83959e-06,
         0.000369249)),
)  # fmt: skip
_TIP = (5.14494e-05, 0.0, 0.0, 4.99137e-05, 0.0, 4.79405e-05)

ARMS: Mapping[str, ArmTable] = {
    "openarm": ArmTable(
        motors=("DM8009", "DM8009", "DM4340", "DM4340", *("DM4310",) * 4),
        base_xyz=(0.0, -0.031, 0.698),
        base_rpy=(1.5708, 0.0, 0.0),
        rows=_OPENARM,
        hand=(  # spec: hand_joint and finger origins of the description, fingers closed
            Part(
                (1e-6, -0.0025, 0.1191), 0.3,
                (0.0001, 1e-6, 1e-6, 0.00025, 1e-6, 0.00017),
            ),
            Part((0.0064538, -0.02152, 0.1370685), 0.0360254, _FINGER),
            Part((0.0064538, 0.02452, 0.1370685), 0.0360254, _FINGER),
        ),
        grip=(-1.0472, 0.0),  # spec: v10_simple_hardware.hpp, open and closed
        timeout=0.0,
        q=(0.0, 0.3, 0.0, 1.57, 0.0, 0.0, 0.0),
    ),
    "yam": ArmTable(
        motors=("DM4340",) * 3 + ("DM4310",) * 4,
        base_xyz=(0.0, 0.0, 0.0),
        base_rpy=(0.0, 0.0, 0.0),
        rows=_YAM,
        hand=(
            Part((-0.0094091, 0.0019259, -0.0795147), 0.069657, _TIP),
            Part((0.0094091, -0.0019259, -0.0795147), 0.069657, _TIP),
        ),
        grip=(0.0, 6.426),  # spec: linear_4310.yml, 6.57 rad for 96 mm, over 93.9 mm
        timeout=0.4,  # spec: i2rt's README, factory default
        q=(0.0, 1.2, 1.2, -0.5, 0.0, 0.0),
    ),
}  # fmt: skip


def write_urdf(arm: ArmTable, weight: float) -> str:
    """Return the URDF, with masses by a factor."""
    lines = ['<robot name="arm"><link name="link0"/>']
    for k, row in enumerate(arm.rows, start=1):
        lines.append(_link(f"link{k}", row.mass * weight, row.centre, row.inertia))
        place = _origin(row.xyz, row.rpy)
        low, high = row.limits
        lines.append(
            f'<joint name="joint{k}" type="revolute"><parent link="link{k - 1}"/>'
            f'<child link="link{k}"/>{place}<axis xyz="{_join(row.axis)}"/>'
            f'<limit lower="{low}" upper="{high}" velocity="1" effort="1"/></joint>'
        )
    for k, part in enumerate(arm.hand):
        lines.append(_link(f"part{k}", part.mass * weight, (0, 0, 0), part.inertia))
        lines.append(
            f'<joint name="fix{k}" type="fixed"><parent link="link{arm.n}"/>'
            f'<child link="part{k}"/>{_origin(part.xyz, (0, 0, 0))}</joint>'
        )
    return "\n".join([*lines, "</robot>"])


def _link(name: str, mass: float, centre: Triple, inertia: tuple[float, ...]) -> str:
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    moments = " ".join(f'{k}="{x}"' for k, x in zip(keys, inertia, strict=True))
    return (
        f'<link name="{name}"><inertial>{_origin(centre, (0, 0, 0))}'
        f'<mass value="{mass}"/><inertia {moments}/></inertial></link>'
    )


def _origin(xyz: Triple, rpy: Triple) -> str:
    return f'<origin xyz="{_join(xyz)}" rpy="{_join(rpy)}"/>'


def _join(numbers: Triple) -> str:
    return " ".join(map(str, numbers))
