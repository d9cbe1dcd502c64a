"""Choice of a node's bus, by ``_OPENERS``."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Literal

from annotated_types import Ge, Le, doc

from paprle.hardware.ros.bus import Bus, BusError
from paprle.hardware.ros.messages import Codec, load_codec
from paprle.hardware.ros.transports.dds_network import find_domain, find_network

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSettings:
    """Settings of a node in the graph: part of the config of all that speak ROS."""

    distro: Annotated[
        Literal["humble", "jazzy", "kilted", "noetic"],
        doc("ROS distribution of the others; noetic: ROS 1."),
    ] = "jazzy"
    transport: Annotated[
        Literal["auto", "rclpy", "dds", "rospy", "zenoh"],
        doc(
            "auto: rclpy where it can be imported, else DDS; rospy for ROS 1; zenoh is "
            "not built yet."
        ),
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
    """Return the transport; log a reason against rclpy.

    Raises:
        BusError: Unsuitable for distribution or settings.
    """
    is_ros1 = settings.distro == "noetic"
    transport: str = settings.transport
    if transport == "zenoh":
        raise BusError(
            "transport: expected rclpy, dds or rospy, got zenoh, which is not built "
            "yet; where ROS 2 is installed, transport=rclpy with "
            "RMW_IMPLEMENTATION=rmw_zenoh_cpp uses it"
        )
    if transport == "auto":
        transport = "rospy" if is_ros1 else _find_ros2()
    if is_ros1 != (transport == "rospy"):
        expected = "rospy" if is_ros1 else "rclpy or dds"
        raise BusError(
            f"transport: expected {expected} for the distro {settings.distro}, got "
            f"{transport}"
        )
    is_chosen = settings.interface != "auto" or settings.peers
    if is_chosen and transport != "dds":
        how = {
            "rclpy": "set transport=dds, or leave it to ROS_LOCALHOST_ONLY, "
            "ROS_AUTOMATIC_DISCOVERY_RANGE and ROS_STATIC_PEERS",
            "rospy": "leave it to ROS_MASTER_URI and ROS_IP",
        }[transport]
        raise BusError(
            f"transport {transport}: expected interface=auto and no peers, which DDS "
            f"alone knows, got interface={settings.interface} "
            f"peers={','.join(settings.peers) or 'none'}; {how}"
        )
    return transport


def open_bus(settings: NodeSettings, name: str) -> Bus:
    """Return a bus as node ``name``.

    Raises:
        BusError: Missing transport, or failed join.
    """
    transport = choose_transport(settings)
    codec = load_codec(settings.distro)
    where = _describe(settings, transport)
    # the level is what is shown without any logging set up
    _LOG.warning("ROS %s over %s as %s: %s", codec.distro, transport, name, where)
    try:
        return _OPENERS[transport](settings, codec, name)
    except ImportError as err:
        raise BusError(
            f"transport {transport}: {err}; {_explain(transport, err)}"
        ) from err


def _find_ros2() -> str:
    if find_spec("rclpy") is None:
        return "dds"
    try:
        import_module("paprle.hardware.ros.transports.rclpy_bus")
    except ImportError as err:
        why = _explain("rclpy", err)
        _LOG.warning("ROS 2 is here, but not used: %s; %s", err, why)
        return "dds"
    return "rclpy"


def _describe(settings: NodeSettings, transport: str) -> str:
    if transport == "rospy":
        return os.environ.get("ROS_MASTER_URI", "http://localhost:11311")
    domain = f"domain {find_domain(settings.domain)}"
    if transport == "rclpy":
        rmw = os.environ.get("RMW_IMPLEMENTATION", "the default RMW")
        return f"{domain}, network as {rmw} has it"
    return f"{domain}, {find_network(settings.interface, settings.peers).describe()}"


def _explain(transport: str, err: ImportError) -> str:
    if transport == "dds":
        return "pip install 'paprle[ros2]'"
    if transport == "rospy":
        return "apt-get install python3-rospy"
    spec = find_spec("rclpy")
    if spec is None:
        return "source /opt/ros/<distro>/setup.bash"
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = re.search(r"python(\d+\.\d+)", spec.origin or "")
    theirs = found[1] if found else "another version"
    if theirs == ours:
        return f"{spec.origin} is not whole: {err.name or 'something'} is missing"
    return (
        f"{spec.origin} is for Python {theirs}, this is Python {ours}: run it with "
        "that one, or set transport=dds"
    )


def _open_rospy(_: NodeSettings, codec: Codec, name: str) -> Bus:
    from paprle.hardware.ros.transports.rospy_bus import RospyBus  # noqa: PLC0415 - if asked for

    return RospyBus(codec, name)


def _open_rclpy(settings: NodeSettings, codec: Codec, name: str) -> Bus:
    from paprle.hardware.ros.transports.rclpy_bus import RclpyBus  # noqa: PLC0415

    return RclpyBus(codec, name, domain=settings.domain)


def _open_dds(settings: NodeSettings, codec: Codec, name: str) -> Bus:
    from paprle.hardware.ros.transports.dds import DdsBus  # noqa: PLC0415

    return DdsBus(
        codec,
        name,
        domain=settings.domain,
        interface=settings.interface,
        peers=settings.peers,
    )


_OPENERS: Mapping[str, Callable[[NodeSettings, Codec, str], Bus]] = {
    "rospy": _open_rospy,
    "rclpy": _open_rclpy,
    "dds": _open_dds,
}
