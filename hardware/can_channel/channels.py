"""Names, availability and locks of CAN channels.

Names by USB port are as in AgileX's can_muti_activate.sh; ``can0`` may change.
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
    """Unusable bus, or silent device."""


def find_channel(name: str, net: Path = _NET) -> str:
    """Return the interface for ``usb:`` and ``ethtool -i``'s port.

    Raises:
        BusError: No CAN adapter is at that port.
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
    """Return a channel's name by USB port; empty if none or stable already."""
    if interface == "socketcan":
        port = _list_ports(net).get(channel, "")
        return f"{USB}{port}" if port else ""
    if interface == "slcan" and Path(channel).parent != serial and serial.is_dir():
        real = Path(channel).resolve()
        same = sorted(str(link) for link in serial.iterdir() if link.resolve() == real)
        return same[0] if same else ""
    return ""


def find_obstacle(interface: str, channel: str) -> str:
    """Return the reason that a channel cannot be opened, or ""."""
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
    """Return a channel's lock, released by its close or the process's end.

    Raises:
        BusError: Another process of ours has it.
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
    """Check that an interface exists and is up.

    Raises:
        BusError: It is not.
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
