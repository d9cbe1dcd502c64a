"""What an operator means by holding on: engaged, released, and a start."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hardware.web.device import DeviceState, WebDevice

_RELEASE_NS = 25_000_000  # chosen: five ticks of 200 Hz: no release is overlooked
_WAITING = "WAITING"  # the session's state in which a press begins an episode


class Reading(NamedTuple):
    """What the operator does.

    Attributes:
        state: Of the device.
        seq: Rises with each reading that says something new.
        is_engaged: The dead-men are held, and have been since the reading before.
        asks_to_start: They are held by a press of while the session waited: what is
            held when an episode ends does not begin the next one.
    """

    state: DeviceState
    seq: int
    is_engaged: bool
    asks_to_start: bool


class PressReader:
    """Reads a device, so that no press and no release is overlooked."""

    def __init__(self, device: WebDevice, clock: Callable[[], int]) -> None:
        self._device, self._clock = device, clock
        self._reading: Reading | None = None
        self._open_until_ns = self._n_idle_presses = 0

    def read(self) -> Reading | None:
        """Return what the operator does; None before the device has spoken."""
        state, before = self._device.state, self._reading
        if state is None:
            return None
        now_ns = self._clock()
        if before is not None and state.n_presses != before.state.n_presses:
            self._open_until_ns = now_ns + _RELEASE_NS  # however short, it is a release
        engaged = state.is_held and now_ns >= self._open_until_ns
        starts = engaged and state.n_presses > self._n_idle_presses
        seq = 0 if before is None else before.seq
        reading = Reading(state, seq, engaged, starts)
        if reading != before:
            self._reading = reading._replace(seq=seq + 1)
        return self._reading

    def note(self, state: str) -> None:
        """Note the session's state: a press in another than WAITING starts nothing."""
        if state != _WAITING and self._device.state is not None:
            self._n_idle_presses = self._device.state.n_presses
