"""Network and domain of a DDS node."""

from __future__ import annotations

import os
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from paprle.hardware.ros.bus import BusError

_MAX_INDEX = 32  # chosen: participants found on a host without multicast
_HERE = "127.0.0.1"


class Network(NamedTuple):
    """Network to search.

    Attributes:
        interface: ``auto``, ``loopback``, name or address.
        is_local: This host and peers alone.
    """

    interface: str = "auto"
    peers: tuple[str, ...] = ()
    is_local: bool = False
    origin: str = ""

    def describe(self) -> str:
        """Return a description."""
        where = f"interface {self.interface}"
        where += ", this host alone" if self.is_local and not self.peers else ""
        where += f", peers {' '.join(self.peers)}" if self.peers else ""
        return where + (f" ({self.origin})" if self.origin else "")


def find_network(interface: str, peers: tuple[str, ...]) -> Network:
    """Return the network of settings, else of ROS's variables.

    Raises:
        BusError: No discovery, or unknown values.
    """
    if interface != "auto" or peers:
        return Network(interface, peers)
    if os.environ.get("ROS_LOCALHOST_ONLY", "0") not in {"", "0"}:
        return Network("loopback", is_local=True, origin="ROS_LOCALHOST_ONLY")
    reach = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "SUBNET"
    text = os.environ.get("ROS_STATIC_PEERS", "")
    if reach == "SYSTEM_DEFAULT":  # spec: static peers do not count in it either
        return Network(origin="ROS_AUTOMATIC_DISCOVERY_RANGE")
    if reach not in {"SUBNET", "LOCALHOST"}:
        raise BusError(
            "ROS_AUTOMATIC_DISCOVERY_RANGE: expected SUBNET, LOCALHOST or "
            f"SYSTEM_DEFAULT, got '{reach}': no peer would be found; set another, or "
            "env.interface"
        )
    named = tuple(filter(None, (peer.strip() for peer in text.split(";"))))
    is_local = reach == "LOCALHOST"
    used = ["ROS_AUTOMATIC_DISCOVERY_RANGE"] * is_local
    used += ["ROS_STATIC_PEERS"] * bool(named)
    return Network("auto", named, is_local, ", ".join(used))


def make_config(network: Network) -> str:
    """Return Cyclone's XML; empty for its default."""
    interface, peers = network.interface, network.peers
    if interface == "auto" and not peers and not network.is_local:
        return ""
    chosen = "<NetworkInterface autodetermine='true'/>"
    is_loopback = interface == "loopback"
    if is_loopback:
        chosen = f"<NetworkInterface address='{_HERE}'/>"
    elif interface != "auto":
        is_address = interface.replace(".", "").isdigit() or ":" in interface
        key = "address" if is_address else "name"
        chosen = f"<NetworkInterface {key}={quoteattr(interface)}/>"
    is_local = is_loopback or network.is_local
    if is_local:
        peers = (*peers, _HERE)
    addresses = "".join(f"<Peer address={quoteattr(peer)}/>" for peer in peers)
    multicast = "false" if is_local else "default"
    return (
        "<CycloneDDS><Domain Id='any'><General>"
        f"<Interfaces>{chosen}</Interfaces><AllowMulticast>{multicast}</AllowMulticast>"
        "</General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
        f"<MaxAutoParticipantIndex>{_MAX_INDEX}</MaxAutoParticipantIndex>"
        f"<Peers>{addresses}</Peers></Discovery></Domain></CycloneDDS>"
    )


def find_domain(domain: int | None) -> int:
    """Return the domain given, of ``ROS_DOMAIN_ID``, or 0.

    Raises:
        BusError: No number there.
    """
    if domain is not None:
        return domain
    text = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    if not text.isdigit():
        raise BusError(f"ROS_DOMAIN_ID: expected a number, got '{text}'")
    return int(text)
