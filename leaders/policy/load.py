"""From a name or a file to something that answers observations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from leaders.policy.config import PolicyConfig
from paprle.contracts.errors import DeviceError, MissingDependency

Observation = Mapping[str, Any]
Act = Callable[[Observation], Any]
"""Returns one action, a chunk of them, or None: it is done."""

_WHITE = 255.0  # spec: 8 bits


def stay(observation: Observation) -> Any:
    """Stay: the simplest policy, to try all around it."""
    return observation["observation.state"]


def load_policy(config: PolicyConfig) -> Act:
    """Load the policy of a config.

    Args:
        config: Names a callable, or an ONNX file.

    Returns:
        The policy; it may have a method ``reset``, called before it begins to drive.

    Raises:
        DeviceError: If there is no such thing, or it cannot be loaded.
        MissingDependency: If ONNX Runtime is missing.
    """
    return OnnxPolicy(Path(config.path)) if config.path else _import(config.function)


def _import(name: str) -> Act:
    module, _, attribute = name.partition(":")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)  # as ``python -m`` would find it
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        policy = found() if isinstance(found, type) else found
    except Exception as err:  # it is anybody's code
        raise DeviceError(
            f"leader.function: expected to load '{name}' (module:name), got "
            f"{type(err).__name__}: {err}"
        ) from err
    if not callable(policy):
        raise DeviceError(
            f"leader.function: expected something to call, got '{name}', a "
            f"{type(policy).__name__}"
        )
    act: Act = policy
    return act


class OnnxPolicy:
    """A network whose inputs are named as the columns of a data set.

    Numbers go in as float32 of shape (1, n), images as (1, 3, height, width) in 0 … 1,
    as LeRobot's policies take them. Its first output is the action, (1, n), or a chunk
    of them, (1, k, n). Means and scales of training belong into the network.
    """

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime  # noqa: PLC0415 - only who runs a network needs it
        except ImportError as err:
            raise MissingDependency(
                "leader.path: expected the package 'onnxruntime', got none; install it "
                "with: pip install 'paprle[policy]'"
            ) from err
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # chosen: the robot needs the other cores
        try:
            self._network = onnxruntime.InferenceSession(
                str(path), options, providers=onnxruntime.get_available_providers()
            )
        except Exception as err:  # its errors have no common class
            raise DeviceError(
                f"leader.path: expected an ONNX network in '{path}', got {err}"
            ) from err
        self._inputs = [one.name for one in self._network.get_inputs()]

    def __call__(self, observation: Observation) -> Any:
        """Return the action, or the chunk of them."""
        missing = [name for name in self._inputs if name not in observation]
        if missing:
            raise KeyError(f"{', '.join(missing)} among {', '.join(observation)}")
        given = {name: _batch(observation[name]) for name in self._inputs}
        return self._network.run(None, given)[0][0]


def _batch(values: Any) -> Any:
    """Return a batch of one."""
    if values.dtype == np.uint8:
        values = values.transpose(2, 0, 1).astype(np.float32) / _WHITE
    return values[None]
