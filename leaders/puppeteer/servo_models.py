"""Known servo models."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.hardware.dynamixel import models as dynamixel
from paprle.hardware.feetech import models as feetech

_STALL: Mapping[str, float] = {"sts3215": 1.91, "sts3250": 4.9}
"""Stall torques, [N·m]. spec: Feetech, 19.5 kg·cm at 7.4 V and 50 kg·cm at 12 V."""


def is_feetech(model: str) -> bool:
    """Return whether a model speaks Feetech's protocol."""
    return model in feetech.model_names()


def model_names() -> tuple[str, ...]:
    """Return the names of all models."""
    return (*dynamixel.model_names(), *feetech.model_names())


def has_torque(model: str) -> bool:
    """Return whether a model follows torques; Feetech's do not."""
    return dynamixel.has_torque(model)


def find_stall_torque(model: str) -> float:
    """Return a known model's stall torque, [N·m]."""
    found = _STALL.get(model)
    return dynamixel.find_stall_torque(model) if found is None else found
