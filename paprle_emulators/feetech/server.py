"""Server of a Feetech rig."""

from __future__ import annotations

from pathlib import Path

from paprle_emulators.feetech.rig import Rig
from paprle_emulators.servo_rig import server
from paprle_emulators.servo_rig.orders import Orders


class Server(server.Server):
    """Serves a rig until stopped."""

    def __init__(self, rig: Rig, link_dir: Path | None, orders: Orders) -> None:
        self.rig = rig
        super().__init__(rig, {name: name for name in rig.limbs}, link_dir, orders)

    def list_ports(self) -> dict[str, str]:
        """Return each limb's terminal."""
        return {name: self.lines[name].name for name in self.rig.limbs}

    def list_overrides(self) -> list[str]:
        """Return session settings: ports, permission to drive."""
        ports = self.list_ports()
        limbs = self.rig.limbs.items()
        found = [f"{limb.spec.setting}={ports[name]}" for name, limb in limbs]
        is_driven = any(limb.spec.setting.startswith("env.") for _, limb in limbs)
        return [*found, *["gate.accept_unattended=true"] * is_driven]
