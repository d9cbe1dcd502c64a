"""Reader that prolongs presses, releases and losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from paprle.hardware.web.device import DeviceState, WebDevice

_SHOWN_NS = 25_000_000  # chosen: five ticks of 200 Hz


class Reading(NamedTuple):
    """Operator's input.

    Attributes:
        seq: Rises with each change.
        is_engaged: Dead-men were held since the last reading.
    """

    state: DeviceState
    seq: int
    is_engaged: bool


class PressReader:
    """Reader of one device."""

    def __init__(self, device: WebDevice, clock: Callable[[], int]) -> None:
        self._device, self._clock = device, clock
        self._reading: Reading | None = None
        self._n_presses = self._n_losses = 0
        self._released_ns = self._lost_ns = -_SHOWN_NS

    def read(self) -> Reading | None:
        """Return the newest reading, or None."""
        state, before = self._device.state, self._reading
        if state is None:
            return None
        now_ns = self._clock()
        if state.n_presses != self._n_presses:
            self._n_presses, self._released_ns = state.n_presses, now_ns
        if state.n_losses != self._n_losses:
            self._n_losses, self._lost_ns = state.n_losses, now_ns
        if now_ns - self._lost_ns < _SHOWN_NS:
            state = replace(state, is_tracked=False)
        engaged = state.is_held and now_ns - self._released_ns >= _SHOWN_NS
        seq = 0 if before is None else before.seq
        reading = Reading(state, seq, engaged)
        if before is None or not _is_alike(reading, before):
            self._reading = reading._replace(seq=seq + 1)
        return self._reading


def _is_alike(reading: Reading, before: Reading) -> bool:
    now, then = reading.state, before.state
    is_same = now.seq == then.seq and now.is_tracked == then.is_tracked
    return is_same and reading.is_engaged == before.is_engaged
