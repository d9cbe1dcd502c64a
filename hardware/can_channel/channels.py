"""CAN channels: their names, whether they can be opened, and one owner for each.

A name by the adapter's USB port is as in AgileX's can_muti_activate.sh: names such as
``can0`` may change at each start.
"""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path

BIT_RATE = 1_000_000  # [bit/s] spec: manuals of the PiPER and of Damiao's motors
USB = "usb:"
"""Begins a channel that is named by its USB port, ``usb:1-2:1.0``."""

_NET = Path("/sys/class/net")
_SERIAL = Path("/dev/serial/by-path")
_ARPHRD_CAN = "280"  # spec: linux/if_arp.h
_IFF_UP = 0x1  # spec: linux/if.h


class BusError(OSError):
    """The bus cannot be used, or a device on it is silent."""


def find_channel(name: str, net: Path = _NET) -> str:
    """Return the interface of ``usb:`` and a port as in ``ethtool -i``.

    Raises:
        BusError: If there is no CAN adapter at that port.
    """
    if not name.startswith(USB):
        return name
    ports = _list_ports(net)
    wanted = name.removeprefix(USB)
    for channel, port in ports.items():
        if port == wanted:
            return channel
    listed = ", ".join(f"{USB}{port} ({channel})" for channel, port in ports.items())
    raise BusError(
        f"'{name}': expected a CAN adapter at this USB port, got none; there are: "
        f"{listed or 'none'}"
    )


def find_stable_name(
    interface: str, channel: str, net: Path = _NET, serial: Path = _SERIAL
) -> str:
    """Return a channel's name by its USB port; empty if none, or stable already."""
    if interface == "socketcan":
        port = _list_ports(net).get(channel, "")
        return f"{USB}{port}" if port else ""
    if interface == "slcan" and Path(channel).parent != serial and serial.is_dir():
        real = Path(channel).resolve()
        same = sorted(str(link) for link in serial.iterdir() if link.resolve() == real)
        return same[0] if same else ""
    return ""


def find_obstacle(interface: str, channel: str) -> str:
    """Return the visible reason that a channel cannot be opened."""
    if interface == "socketcan":
        try:
            check_socketcan(channel)
        except BusError as err:
            return str(err)
    elif not Path(channel).exists():
        return (
            f"{interface} '{channel}': expected a port at this path, got none; plug in "
            "the adapter, or set env.channel"
        )
    return ""


def lock_channel(interface: str, channel: str) -> socket.socket:
    """Return a lock of the channel, which its end or that of the process releases.

    Raises:
        BusError: If another process of ours has it.
    """
    name = channel if interface == "socketcan" else str(Path(channel).resolve())
    key = hashlib.sha256(f"{interface}/{name}".encode()).hexdigest()[:32]
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        lock.bind(f"\0hardware.can_channel/{key}")
    except OSError as err:
        lock.close()
        raise BusError(
            f"{interface} '{channel}': expected a channel of our own, got one that "
            "another process of ours commands; end that one"
        ) from err
    return lock


def _list_ports(net: Path) -> dict[str, str]:
    found = {}
    for folder in sorted(net.iterdir()) if net.is_dir() else ():
        kind, device = folder / "type", folder / "device"
        is_can = kind.is_file() and kind.read_text().strip() == _ARPHRD_CAN
        if is_can and device.exists() and ":" in device.resolve().name:
            found[folder.name] = device.resolve().name
    return found


def check_socketcan(channel: str) -> None:
    """Check that an interface is there and up.

    Raises:
        BusError: If not.
    """
    folder = Path("/sys/class/net") / channel
    if not folder.is_dir():
        raise BusError(
            f"socketcan '{channel}': expected a CAN interface of this name, got none; "
            "plug in the adapter, or see `ip link show type can`"
        )
    if not int((folder / "flags").read_text(), 16) & _IFF_UP:
        raise BusError(
            f"socketcan '{channel}': expected an interface that is up, got one that is "
            f"down; sudo ip link set {channel} up type can bitrate {BIT_RATE}"
        )
