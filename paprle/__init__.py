"""PAPRLE: plug-and-play teleoperation; any leader drives any follower.

The public names load on first use, so that ``import paprle`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paprle.contracts.settings.core import (
        GripperSettings,
        LimbSettings,
        RobotSettings,
        SceneBodySettings,
    )
    from paprle.contracts.settings.limits import LimitSettings
    from paprle.gate.gate import Gate, GateConfig, GateResult
    from paprle.gate.reasons import Reason
    from paprle.kinematics import IkConfig, IkSolution, IkSolver
    from paprle.recording.reader import Episode
    from paprle.robot import RobotModel

__version__ = "0.2.0"

__all__ = [
    "Episode",
    "Gate",
    "GateConfig",
    "GateResult",
    "GripperSettings",
    "IkConfig",
    "IkSolution",
    "IkSolver",
    "LimbSettings",
    "LimitSettings",
    "Reason",
    "RobotModel",
    "RobotSettings",
    "SceneBodySettings",
]

_HOMES = {
    "Episode": "paprle.recording.reader",
    "Gate": "paprle.gate.gate",
    "GateConfig": "paprle.gate.gate",
    "GateResult": "paprle.gate.gate",
    "GripperSettings": "paprle.contracts.settings.core",
    "IkConfig": "paprle.kinematics",
    "IkSolution": "paprle.kinematics",
    "IkSolver": "paprle.kinematics",
    "LimbSettings": "paprle.contracts.settings.core",
    "LimitSettings": "paprle.contracts.settings.limits",
    "Reason": "paprle.gate.reasons",
    "RobotModel": "paprle.robot",
    "RobotSettings": "paprle.contracts.settings.core",
    "SceneBodySettings": "paprle.contracts.settings.core",
}


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name not in _HOMES:
        raise AttributeError(f"module 'paprle' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
