"""A policy in another local program, such as LeRobot's.

The robot stays before its first action, and keeps the last one in silence.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.hardware.lines.lines import Lines
from paprle.leaders.policy.load import Observation, stay


class RemotePolicy:
    """Sends observations and receives actions."""

    has_place = True

    def __init__(self, path: str) -> None:
        try:
            self._lines = Lines(path)
        except ConnectionError as err:
            raise DeviceError(f"leader.remote: {err}") from err
        self._action: Any = None

    def __call__(self, observation: Observation) -> Any:
        """Return the newest action."""
        self._lines.send({name: _write(v) for name, v in observation.items()})
        message = self._lines.read()
        if message is not None:
            self._action = message["action"]
        return stay(observation) if self._action is None else self._action

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()


def _write(value: Any) -> Any:
    """Return a column for JSON; images as base64."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == np.uint8:
        data = base64.b64encode(value.tobytes()).decode()
        return {"shape": list(value.shape), "data": data}
    return value.tolist()
