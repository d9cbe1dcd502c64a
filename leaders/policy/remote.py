"""A policy that is another program on this machine, such as LeRobot's.

It is told each observation, and says actions when it likes. Before the first one the
robot stays; while it is silent its last one stands, so that the robot does. Where it
asks the robot to be is its own to say, also while it does not drive: the session lets
the robot meet it slowly, as it meets any arm.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.hardware.lines.lines import Lines
from paprle.leaders.policy.load import Observation, stay


class RemotePolicy:
    """Passes observations on, and actions back."""

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
        """Hang up."""
        self._lines.close()


def _write(value: Any) -> Any:
    """Return a column as JSON holds it; images as base64 of their bytes."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == np.uint8:
        data = base64.b64encode(value.tobytes()).decode()
        return {"shape": list(value.shape), "data": data}
    return value.tolist()
