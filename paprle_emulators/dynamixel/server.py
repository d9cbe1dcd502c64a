"""Server of a Dynamixel rig."""

from __future__ import annotations

from pathlib import Path

from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.servo_rig import server
from paprle_emulators.servo_rig.orders import Orders


class Server(server.Server):
    """Serves a rig until stopped."""

    def __init__(self, rig: Rig, link_dir: Path | None, orders: Orders) -> None:
        self.rig = rig
        super().__init__(rig, label_ports(rig), link_dir, orders)

    def list_overrides(self) -> list[str]:
        """Return a session's port settings."""
        ports, limbs = self.list_ports(), self.rig.limbs.items()
        return [f"{limb.spec.setting}={ports[name]}" for name, limb in limbs]

    def list_ports(self) -> dict[str, str]:
        """Return each limb's terminal."""
        limbs = self.rig.limbs.items()
        return {name: self.lines[limb.spec.port].name for name, limb in limbs}


def label_ports(rig: Rig) -> dict[str, str]:
    """Return the limb names by port."""
    names: dict[str, list[str]] = {}
    for name, limb in rig.limbs.items():
        names.setdefault(limb.spec.port, []).append(name)
    return {port: "_".join(limbs) for port, limbs in names.items()}
