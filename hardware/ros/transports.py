"""Which bus carries a node: chosen once, and said aloud."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Literal

from annotated_types import Ge, Le, doc

from hardware.ros.bus import Bus, BusError
from hardware.ros.messages import load_codec

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSettings:
    """How a node joins the graph: part of the config of all that speak ROS."""

    distro: Annotated[
        Literal["humble", "jazzy", "kilted", "noetic"],
        doc("ROS distribution of the others; noetic: ROS 1."),
    ] = "jazzy"
    transport: Annotated[
        Literal["auto", "rclpy", "dds", "rospy"],
        doc("auto: rclpy where ROS 2 is installed, DDS without it; rospy for ROS 1."),
    ] = "auto"
    domain: Annotated[
        int | None, Ge(0), Le(232), doc("DDS domain; absent: ROS_DOMAIN_ID, or 0.")
    ] = None
    interface: Annotated[
        str,
        doc(
            "Network of the dds transport: auto as ROS itself, loopback, or an "
            "interface's name or address."
        ),
    ] = "auto"
    peers: Annotated[
        tuple[str, ...],
        doc("Addresses of hosts that multicast does not reach; dds transport."),
    ] = ()


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


def open_bus(settings: NodeSettings, name: str) -> Bus:
    """Join the graph.

    Args:
        settings: How.
        name: Of the node, as others see it.

    Returns:
        The open bus.

    Raises:
        BusError: If the transport is not installed, or the graph cannot be joined.
    """
    transport = choose_transport(settings)
    codec = load_codec(settings.distro)
    # the level is what is shown without any logging set up
    _LOG.warning("ROS %s over %s as %s", codec.distro, transport, name)
    try:
        if transport == "rospy":
            from hardware.ros.rospy_bus import RospyBus  # noqa: PLC0415 - if asked for

            bus: Bus = RospyBus(codec, name)
        elif transport == "rclpy":
            from hardware.ros.rclpy_bus import RclpyBus  # noqa: PLC0415

            bus = RclpyBus(codec, name, domain=settings.domain)
        else:
            from hardware.ros.dds import DdsBus  # noqa: PLC0415

            bus = DdsBus(
                codec,
                name,
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
