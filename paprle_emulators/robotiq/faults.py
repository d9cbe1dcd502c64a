"""Gripper orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paprle_emulators.robotiq.gripper import EmulatedGripper, Fault

_KINDS = ("none", "hot", "voltage", "releasing", "internal", "activation", "current")


class GripperFaults:
    """Executes ``orders``, by name."""

    def __init__(self, gripper: EmulatedGripper) -> None:
        self._gripper = gripper
        self.orders: Mapping[str, Callable[..., None]] = {
            "gripper_activate": self._activate,
            "gripper_reset": gripper.lose_power,
            "gripper_object": self._place,
            "gripper_fault": self._fail,
        }

    def _activate(self) -> None:
        self._gripper.write({"ACT": 0})
        self._gripper.write({"ACT": 1})

    def _place(self, opening: float | None = None) -> None:
        if opening is not None and not 0.0 < opening < self._gripper.kind.stroke:
            stroke = self._gripper.kind.stroke
            raise ValueError(f"opening: expected 0 to {stroke} [m], got {opening}")
        self._gripper.place(opening)

    def _fail(self, kind: str = "hot") -> None:
        if kind not in _KINDS:
            raise ValueError(f"kind: expected one of {', '.join(_KINDS)}, got '{kind}'")
        self._gripper.fail(Fault[kind.upper()])
