"""A policy in another local program, such as LeRobot's.

The robot stays before the first action, and keeps the last.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.hardware.lines.lines import Lines
from paprle.leaders.policy.load import Observation, stay

_DRIVEN = ("ALIGNING", "ENGAGED", "CLUTCHED")


class RemotePolicy:
    """Sends observations and receives actions."""

    has_place = True

    def __init__(self, path: str) -> None:
        try:
            self._lines = Lines(path)
        except ConnectionError as err:
            raise DeviceError(f"leader.remote: {err}") from err
        self._action: Any = None
        self._place: Any = None

    def __call__(self, observation: Observation) -> Any:
        """Return the newest action."""
        self._lines.send({name: _write(v) for name, v in observation.items()})
        message = self._lines.read()
        if message is not None:
            self._action = message["action"]
        return self._stay(observation) if self._action is None else self._action

    def _stay(self, observation: Observation) -> Any:
        # An arm stands a little below its command: sent to where it is seen, it sinks.
        if observation["session.state"] not in _DRIVEN:
            self._place = None
        elif self._place is None:
            self._place = stay(observation)
        return stay(observation) if self._place is None else self._place

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()


def _write(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == np.uint8:
        data = base64.b64encode(value.tobytes()).decode()
        return {"shape": list(value.shape), "data": data}
    return value.tolist()
