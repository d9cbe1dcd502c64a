"""Orientation without magnetometer: VQF (Laidig and Seel 2023).

Heading has any origin, and drifts by the gyroscope's bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.hardware.imu.packets import Packet

_SETTLE_US = 1_000_000  # [µs] chosen: by then gravity outweighs the first sample


class Orientation:
    """Filter of raw measurements."""

    def __init__(self, rate: float) -> None:
        """Take the packets' nominal rate, [Hz].

        Raises:
            ModuleNotFoundError: Missing ``vqf``.
        """
        import vqf  # noqa: PLC0415 - whoever has a sensor that fuses needs none

        self._make: Any = vqf.VQF
        self._period = 1.0 / rate
        self._filter: Any = None
        self._last: Packet | None = None
        self._begin_us = 0
        self.is_settled = False

    def update(self, packet: Packet) -> npt.NDArray[np.float64]:
        """Return the orientation after a packet, w x y z, shape (4,).

        The rate [rad/s] is scaled for losses and another period.
        """
        last = self._last
        if last is None or last.run != packet.run:
            self._filter, self._begin_us = self._make(self._period), packet.t_us
            last = packet
        self._last = packet
        self.is_settled = packet.t_us - self._begin_us >= _SETTLE_US
        gyr = np.array(packet.values[:3])
        acc = np.array(packet.values[3:])
        before = np.array(last.values[:3])
        step = (packet.t_us - last.t_us) * 1e-6
        n = max(1, round(step / self._period))
        scale = step / (n * self._period) if step > 0.0 else 1.0
        for k in range(1, n + 1):
            self._filter.update(scale * (before + (gyr - before) * (k / n)), acc)
        quat_wxyz: npt.NDArray[np.float64] = self._filter.getQuat6D()
        return quat_wxyz
