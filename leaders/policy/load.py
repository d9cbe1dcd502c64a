"""From a name or a file to something that answers observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from paprle.contracts.errors import opening
from paprle.contracts.kit.callables import load_callable
from paprle.hardware.onnx.network import Network, NetworkError
from paprle.leaders.policy.config import PolicyConfig

Observation = Mapping[str, Any]
Act = Callable[[Observation], Any]
"""Returns one action, a chunk of them, or None: it is done."""

_INSTALL = "install it with: pip install 'paprle[policy]'"


def stay(observation: Observation) -> Any:
    """Stay: the simplest policy, to try all around it."""
    return observation["observation.state"]


def load_policy(config: PolicyConfig) -> Act:
    """Load the policy of a config.

    Args:
        config: Names a callable, or an ONNX file.

    Returns:
        The policy; it may have a method ``reset``, called before it begins to drive.
    """
    if config.path:
        return OnnxPolicy(Path(config.path))
    return load_callable(config.function, "leader.function")


class OnnxPolicy:
    """A network whose inputs are named as the columns of a data set.

    Numbers go in as float32 of shape (1, n), images as (1, 3, height, width) in 0 … 1,
    as LeRobot's policies take them. Its first output is the action, (1, n), or a chunk
    of them, (1, k, n). Means and scales of training belong into the network.
    """

    def __init__(self, path: Path) -> None:
        with opening("leader.path", _INSTALL, NetworkError):
            self._network = Network(path)

    def __call__(self, observation: Observation) -> Any:
        """Return the action, or the chunk of them."""
        return self._network(observation)[0]
