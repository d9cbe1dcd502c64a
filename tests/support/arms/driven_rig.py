"""Emulated arms of Dynamixel servos: in a thread, and in virtual time."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

from dynamixel_rig import VirtualWire
from served_rig import ServedRig, before_others, serving

from paprle_emulators.dynamixel.config import find_arm, read_rig
from paprle_emulators.dynamixel.faults import RigFaults
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.server import Server
from paprle_emulators.servo_rig.orders import Orders

LIMB = "follower"


def make_rig(name="viperx300s"):
    return Rig(read_rig(find_arm(name)))


@contextmanager
def run_driven(link_dir, name="viperx300s"):
    """Serve an arm by name, its port in a folder."""
    rig = make_rig(name)
    faults = RigFaults(rig)
    orders = partial(Orders, rig, faults)
    with before_others():
        emulated = ServedRig(rig, faults, orders, partial(Server, rig, link_dir))
        with serving(emulated):
            yield emulated


class DrivenWire(VirtualWire):
    """A wire to an arm in virtual time."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig, "bus")

    def let_pass(self, seconds: float) -> None:
        """Let time pass in silence."""
        self.wait(seconds)
