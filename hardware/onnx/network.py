"""Networks of ONNX files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_WHITE = 255.0  # spec: 8 bits


class NetworkError(OSError):
    """Missing network."""


class Network:
    """Network with named inputs, one at a time.

    Images become float32 of shape (1, 3, height, width) in 0 … 1.
    """

    def __init__(self, path: Path) -> None:
        """Load it.

        Raises:
            NetworkError: It does not load.
        """
        import onnxruntime  # noqa: PLC0415 - only who runs a network needs it

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # chosen: the robot needs the other cores
        try:
            self._network = onnxruntime.InferenceSession(
                str(path), options, providers=onnxruntime.get_available_providers()
            )
        except Exception as err:  # its errors have no common class
            raise NetworkError(
                f"expected an ONNX network in '{path}', got {err}"
            ) from err
        self._inputs = [one.name for one in self._network.get_inputs()]

    def __call__(self, observation: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return outputs without batch axis.

        Raises:
            KeyError: Missing input.
        """
        missing = [name for name in self._inputs if name not in observation]
        if missing:
            raise KeyError(f"{', '.join(missing)} among {', '.join(observation)}")
        given = {name: _batch(observation[name]) for name in self._inputs}
        return tuple(one[0] for one in self._network.run(None, given))


def _batch(values: Any) -> Any:
    if values.dtype == np.uint8:
        values = values.transpose(2, 0, 1).astype(np.float32) / _WHITE
    return values[None]
