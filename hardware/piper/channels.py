"""Channels by the adapter's USB port, as in AgileX's can_muti_activate.sh.

Names such as ``can0`` may change at each start.
"""

from __future__ import annotations

from pathlib import Path

from paprle.hardware.piper.bus import BusError

USB = "usb:"
"""Begins a channel that is named by its USB port, ``usb:1-2:1.0``."""

_NET = Path("/sys/class/net")
_SERIAL = Path("/dev/serial/by-path")
_ARPHRD_CAN = "280"  # spec: linux/if_arp.h


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


def _list_ports(net: Path) -> dict[str, str]:
    found = {}
    for folder in sorted(net.iterdir()) if net.is_dir() else ():
        kind, device = folder / "type", folder / "device"
        is_can = kind.is_file() and kind.read_text().strip() == _ARPHRD_CAN
        if is_can and device.exists() and ":" in device.resolve().name:
            found[folder.name] = device.resolve().name
    return found
