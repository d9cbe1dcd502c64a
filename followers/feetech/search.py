"""Search for connected arms of Feetech servos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.searches.arm_search import ArmSearch, FoundArm, ReadAngles
from paprle.contracts.types import Vec
from paprle.hardware.feetech.calibration import choose_motors, list_files
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.search import (
    ARM_IDS,
    find_buses,
    list_usb_ports,
    reading_angles,
)


class FeetechSearch(ArmSearch):
    """Search of the USB serial ports."""

    def list_ports(self) -> Sequence[str]:
        """Return the USB serial ports."""
        return list_usb_ports()

    def look(self, path: str) -> FoundArm:
        """Return the servos that answer at a port."""
        (found,) = find_buses([path])
        stored = list(found.stored.values())
        motors = choose_motors("", list(found.stored), stored, is_leader=False)
        return FoundArm(
            path=path,
            ids=ARM_IDS,
            models=found.models,
            voltage=found.voltage,
            problem=found.problem,
            is_calibrated=bool(motors) and not any(one.is_factory for one in motors),
            has_torque=found.has_torque,
        )

    @contextmanager
    def watch(self, path: str) -> Iterator[ReadAngles]:
        """Open a port for reading alone.

        Yields:
            A source of angles.

        Raises:
            DeviceError: If it cannot be opened.
        """
        try:
            with reading_angles(path) as read:

                def read_angles() -> Vec:
                    try:
                        return np.array(read())
                    except BusError as err:
                        raise DeviceError(str(err)) from err

                yield read_angles
        except BusError as err:
            raise DeviceError(str(err)) from err

    def list_calibrations(self, *, is_leader: bool) -> Sequence[Path]:
        """Return LeRobot's files."""
        return list_files(is_leader=is_leader)
