"""The names of LeRobot that our two packages import, without its gigabytes."""

import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GUESTS = ("lerobot_robot_paprle", "lerobot_teleoperator_paprle")


class Registered:
    """LeRobot's ``draccus.ChoiceRegistry``."""

    @classmethod
    def register_subclass(cls, _name):
        return lambda subclass: subclass


class Device:
    """LeRobot's ``Robot`` and ``Teleoperator``."""

    def __init__(self, config):
        self.config = config


class DeviceNotConnectedError(ConnectionError):
    """LeRobot's."""


class DeviceAlreadyConnectedError(ConnectionError):
    """LeRobot's."""


def install(monkeypatch):
    """Let the packages be imported afresh; everything is undone with the test."""
    made = {
        "lerobot": {},
        "lerobot.robots": {"Robot": Device, "RobotConfig": Registered},
        "lerobot.teleoperators": {
            "Teleoperator": Device, "TeleoperatorConfig": Registered,
        },
        "lerobot.utils": {},
        "lerobot.utils.errors": {
            one.__name__: one
            for one in (DeviceNotConnectedError, DeviceAlreadyConnectedError)
        },
    }  # fmt: skip
    for name, names in made.items():
        module = types.ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
    for guest in GUESTS:
        monkeypatch.syspath_prepend(str(ROOT / "packages" / guest))
        for name in [one for one in sys.modules if one.split(".")[0] == guest]:
            monkeypatch.delitem(sys.modules, name)
