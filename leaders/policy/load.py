"""Policies by name or file."""

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
    """Stay in place."""
    return observation["observation.state"]


def load_policy(config: PolicyConfig) -> Act:
    """Return the config's policy, optionally with ``reset``."""
    if config.path:
        return OnnxPolicy(Path(config.path))
    return load_callable(config.function, "leader.function")


class OnnxPolicy:
    """A network with a data set's columns as inputs.

    Numbers are float32, (1, n), images (1, 3, height, width) in 0 … 1, as in LeRobot;
    the first output is (1, n), or a chunk (1, k, n).
    """

    def __init__(self, path: Path) -> None:
        with opening("leader.path", _INSTALL, NetworkError):
            self._network = Network(path)

    def __call__(self, observation: Observation) -> Any:
        """Return the action or chunk."""
        return self._network(observation)[0]
