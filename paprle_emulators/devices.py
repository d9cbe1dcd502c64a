"""Table of the emulated devices; others come by entry points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One row of the table.

    Attributes:
        module: Has ``__main__.main(words)``.
        words: Settings implied by the name.
        ideal: Settings that end its vices, if applicable.
        needs: Imports beyond the distribution's.
        extra: Of the distribution, to install them.
    """

    module: str
    about: str
    words: tuple[str, ...] = ()
    ideal: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()
    extra: str = ""

    @property
    def is_here(self) -> bool:
        """Whether its package is installed."""
        return find_spec(self.module) is not None

    def list_missing(self) -> list[str]:
        """Return needed, missing modules."""
        return [name for name in self.needs if find_spec(name) is None]


def _make_feetech(rig: str, about: str) -> Device:
    return Device(
        module="paprle_emulators.feetech",
        about=about,
        words=(f"rig={rig}",),
        ideal=("ideal=true",),
    )


_ALL: Mapping[str, Device] = {
    "dynamixel": Device(
        module="paprle_emulators.dynamixel",
        about="arms of Dynamixel servos in a hand, on pseudo-terminals: DYNAMIXEL SDK",
        ideal=("watchdog=ideal",),
        needs=("dynamixel_easy_sdk",),
        extra="dynamixel",
    ),
    "so101": _make_feetech("so101", "SO-101 of Feetech servos: scservo_sdk, rustypot"),
    "so101-leader": _make_feetech("so101_leader", "SO-101 leader in a hand"),
    "so101-2arm": _make_feetech("so101_2arm", "two SO-101"),
    "so100": _make_feetech("so100", "SO-100"),
    "so100-leader": _make_feetech("so100_leader", "SO-100 leader in a hand"),
    "piper": Device(
        module="paprle_emulators.piper",
        about="AgileX PiPER on a CAN bus: python-can, piper_sdk",
        ideal=("firmware=S-V1.8-6",),
    ),
    "damiao": Device(
        module="paprle_emulators.damiao",
        about="OpenArm or YAM, arms of Damiao motors, on a CAN bus: python-can",
        ideal=("ideal=true",),
    ),
    "ur": Device(
        module="paprle_emulators.ur",
        about="Universal Robots e-series on TCP: ur_rtde, UR's RTDE client",
    ),
    "xarm": Device(
        module="paprle_emulators.xarm",
        about="UFACTORY arm behind its control box, on TCP: xarm-python-sdk",
    ),
    "franka": Device(
        module="paprle_emulators.franka",
        about="Franka Research 3 or Panda and its unit, on TCP and UDP: libfranka",
        ideal=("ideal=true",),
    ),
    "robotiq": Device(
        module="paprle_emulators.robotiq",
        about="Robotiq gripper on a pseudo-terminal, Modbus RTU: any Modbus master",
    ),
    "ros2-robot": Device(
        module="paprle_emulators.ros",
        about="robot with ros2_control's controllers, over DDS or ROS 1: any ROS node",
        ideal=("time_constant=0",),
        needs=("paprle",),
        extra="ros2",
    ),
    "imu": Device(
        module="paprle_emulators.imu",
        about="inertial sensor on a pseudo-terminal: any serial port",
    ),
    "spacemouse": Device(
        module="paprle_emulators.spacemouse",
        about="3Dconnexion mouse behind hidraw: hidapi (needs a C compiler)",
    ),
    "camera": Device(
        module="paprle_emulators.camera",
        about="network camera, motion JPEG over HTTP: OpenCV, a browser",
        needs=("cv2",),
        extra="camera",
    ),
    "hand": Device(
        module="paprle_emulators.hand",
        about="hand before a RealSense on the network: librealsense with DDS",
        needs=("cv2", "pyrealsense2"),
        extra="hand",
    ),
    "phone": Device(
        module="paprle_emulators.phone",
        about="phone at the page of a PAPRLE session: leaders arpose and webxr",
        needs=("websockets",),
        extra="phone",
    ),
    "visionpro": Device(
        module="paprle_emulators.visionpro",
        about="Vision Pro with Tracking Streamer, over gRPC: avp_stream",
        needs=("grpc",),
        extra="visionpro",
    ),
}
ALIASES: Mapping[str, str] = {"ros": "ros2-robot", "feetech": "so101"}
"""Names of packages, as ``python -m paprle_emulators.NAME`` has them."""

_GROUP = "paprle_emulators.devices"


def list_devices() -> dict[str, Device]:
    """Return installed devices by name."""
    known = _list_outside() | dict(_ALL)
    return {name: device for name, device in known.items() if device.is_here}


def find_device(name: str) -> Device:
    """Return a device.

    Raises:
        LookupError: If unknown.
    """
    devices = list_devices()
    found = devices.get(ALIASES.get(name, name))
    if found is None:
        known = ", ".join(devices)
        raise LookupError(f"device: expected one of {known}, got '{name}'")
    return found


def explain_missing(device: Device, missing: Sequence[str]) -> str:
    """Return installation advice."""
    return (
        f"expected the modules of '{device.extra}', got no {', '.join(missing)}; "
        f"pip install 'paprle-emulators[{device.extra}]'"
    )


def _list_outside() -> dict[str, Device]:
    """Return devices of other distributions, each a package with ``__main__``."""
    return {
        entry.name: Device(
            module=entry.module,
            about=f"of {entry.dist.name if entry.dist else entry.module}",
        )
        for entry in entry_points(group=_GROUP)
    }
