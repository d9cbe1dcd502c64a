"""Emulated arms of Feetech servos in a thread of the test."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

from served_rig import ServedRig, before_others, serving

from paprle_emulators.feetech.config import find_rig
from paprle_emulators.feetech.faults import RigFaults
from paprle_emulators.feetech.orders import FeetechOrders
from paprle_emulators.feetech.rig import Rig
from paprle_emulators.feetech.server import Server

IDS = (1, 2, 3, 4, 5, 6)


@contextmanager
def run_feetech(link_dir, name="so101", setup="lerobot"):
    """Serve a rig by name, its ports in a folder."""
    rig = Rig(find_rig(name, setup))
    faults = RigFaults(rig)
    orders = partial(FeetechOrders, rig, faults)
    with before_others():
        emulated = ServedRig(rig, faults, orders, partial(Server, rig, link_dir))
        with serving(emulated):
            yield emulated
