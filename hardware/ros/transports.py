"""Which bus carries a node: chosen once, and said aloud."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from hardware.ros.bus import Bus, BusError
from hardware.ros.messages import load_codec

_LOG = logging.getLogger(__name__)

Transport = Literal["auto", "rclpy", "dds", "rospy"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSettings:
    """A node and how it joins the graph.

    Attributes:
        name: As others see it.
        distro: ``humble``, ``jazzy``, ``kilted``, or ``noetic`` for ROS 1.
        transport: ``auto``: rclpy where ROS 2 is installed, DDS without it otherwise,
            rospy for ROS 1.
        domain: Of DDS and rclpy; ``ROS_DOMAIN_ID`` when None.
        interface: Of DDS: ``auto``, ``loopback``, or an interface's name or address.
        peers: Of DDS: hosts that multicast does not reach.
    """

    name: str
    distro: str = "jazzy"
    transport: Transport = "auto"
    domain: int | None = None
    interface: str = "auto"
    peers: tuple[str, ...] = ()


def choose_transport(settings: NodeSettings) -> str:
    """Return what ``auto`` stands for here.

    Raises:
        BusError: If the distribution does not speak it.
    """
    is_ros1 = settings.distro == "noetic"
    transport: str = settings.transport
    if transport == "auto":
        transport = "rclpy" if find_spec("rclpy") is not None else "dds"
        transport = "rospy" if is_ros1 else transport
    if is_ros1 != (transport == "rospy"):
        expected = "rospy" if is_ros1 else "rclpy or dds"
        raise BusError(
            f"transport: expected {expected} for the distro {settings.distro}, got "
            f"{transport}"
        )
    return transport


def open_bus(settings: NodeSettings) -> Bus:
    """Join the graph.

    Args:
        settings: The node.

    Returns:
        The open bus.

    Raises:
        BusError: If the transport is not installed, or the graph cannot be joined.
    """
    transport = choose_transport(settings)
    codec = load_codec(settings.distro)
    # the level is what is shown without any logging set up
    _LOG.warning("ROS %s over %s as %s", codec.distro, transport, settings.name)
    try:
        if transport == "rospy":
            from hardware.ros.rospy_bus import RospyBus  # noqa: PLC0415 - if asked for

            bus: Bus = RospyBus(codec, settings.name)
        elif transport == "rclpy":
            from hardware.ros.rclpy_bus import RclpyBus  # noqa: PLC0415

            bus = RclpyBus(codec, settings.name, domain=settings.domain)
        else:
            from hardware.ros.dds import DdsBus  # noqa: PLC0415

            bus = DdsBus(
                codec,
                settings.name,
                domain=settings.domain,
                interface=settings.interface,
                peers=settings.peers,
            )
    except ModuleNotFoundError as err:
        how = {
            "dds": "pip install 'cyclonedds>=11,<12'",
            "rclpy": "source /opt/ros/<distro>/setup.bash",
        }.get(transport, "apt-get install python3-rospy")
        raise BusError(
            f"transport {transport}: expected the package '{err.name}', got none; {how}"
        ) from err
    return bus
