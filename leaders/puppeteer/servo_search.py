"""Servos of an arm without settings."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.searches.servo_search import (
    FoundServo,
    MountedGripper,
    MountedServo,
    ServoSearch,
)
from paprle.contracts.types import Vec
from paprle.hardware.dynamixel.bus_thread import BusThread
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.serial_bus.port import list_ports
from paprle.leaders.puppeteer.config import (
    PuppeteerConfig,
    PuppetSettings,
    ServoSettings,
)
from paprle.leaders.puppeteer.find_servos import find_servos
from paprle.leaders.puppeteer.measures import find_gripper, wrap
from paprle.leaders.puppeteer.rig import make_arms, make_bus, make_buses
from paprle.leaders.puppeteer.servo_models import is_feetech

if TYPE_CHECKING:
    from paprle.leaders.puppeteer.rig import ServoBus

_DIGITS = 4  # chosen: a tenth of a count
_RATE = 400.0  # [Hz] chosen: as of shipped rigs
_LEAST_RATE = 50.0  # [Hz] spec: least of the rig's settings
_BYTES = 24  # spec: Protocol 2.0, answer of a servo with ten bytes, and its share of
# the request
_FEETECH: Mapping[str, Any] = {"rate": 200.0, "timeout": 0.02}  # chosen: as so101.yaml


class PuppeteerServos(ServoSearch):
    """Dynamixel or Feetech servos on one port."""

    def __init__(self) -> None:
        self._bus: ServoBus | None = None
        self._baud = 0

    def list_ports(self) -> tuple[str, ...]:
        """Return the serial devices."""
        return list_ports()

    def find(self, port: str, at_least: int) -> list[FoundServo]:
        """Return a port's servos; raises as the base."""
        return find_servos(port, at_least)

    def open(self, port: str, servos: Sequence[FoundServo]) -> None:
        """Open the port, limp; second servos are not read."""
        self.close()
        self._baud = servos[0].baud
        config = _make_config(port, servos)
        settings = make_buses(config)[port]
        try:  # a model may be unknown
            bus = make_bus(settings, make_arms(config), time.monotonic_ns)
            bus.open()
        except BusError as err:
            raise DeviceError(str(err)) from err
        self._bus = bus

    def read(self) -> Vec:
        """Return the newest angles, shape (n,), [rad]."""
        if self._bus is None:
            raise DeviceError("servos: expected an open port, got none")
        bus = self._bus
        # a Feetech bus applies a calibration, its thread does not
        found = bus.latest() if isinstance(bus, BusThread) else bus.thread.snapshot
        if found is None or not found.is_open:
            return np.full(len(bus.settings.servos), math.nan)
        angle: Vec = found.reading.angle
        return angle

    def close(self) -> None:
        """Close the port."""
        if self._bus is not None:
            self._bus.release()
            self._bus.close()
            self._bus = None

    def make_settings(
        self, name: str, joints: Sequence[MountedServo], gripper: MountedGripper | None
    ) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Return the leader's keys, and LeRobot's file, if Feetech."""
        arm: dict[str, Any] = {"port": ""}
        tree: dict[str, Any] = {"type": "puppeteer", "baud": self._baud}
        if is_feetech(joints[0].model):
            from paprle.leaders.puppeteer.feetech.file import (  # noqa: PLC0415
                make_file,
            )

            path, text = make_file(name, joints, gripper, self._list_stored())
            arm["servos"] = {
                one.joint: {"id": one.id, "model": one.model, **_list_gear(one)}
                for one in joints
            }
            if gripper is not None:
                travel = abs(gripper.open - gripper.closed)
                arm["gripper"] = _make_gripper(gripper) | {
                    "closed": 0.0,
                    "open": round(travel, _DIGITS),
                }
            arm["calibration"] = name
            return {**tree, **_FEETECH, "limbs": {"arm": arm}}, {path: text}
        arm["servos"] = {one.joint: _make_servo(one) for one in joints}
        n = len(joints)
        if gripper is not None:
            n += 1
            keys = find_gripper(gripper.closed, gripper.open, 0.0, 1.0, 1.0)
            keys = {key: round(value, _DIGITS) for key, value in keys.items()}
            arm["gripper"] = {**_make_gripper(gripper), "closed": 0.0, **keys}
        tree["rate"] = self._find_rate(n)
        return tree | {"limbs": {"arm": arm}}, {}

    def _find_rate(self, n: int) -> float:
        most = self._baud / (10 * _BYTES * n) / 2.0
        return float(min(_RATE, max(_LEAST_RATE, 10.0 * (most // 10.0))))

    def _list_stored(self) -> list[tuple[int, int]]:
        bus = self._bus
        if bus is None or isinstance(bus, BusThread):
            raise DeviceError("servos: expected an open port of Feetech's, got none")
        return [
            (servo.id, one.homing_offset)
            for servo, one in zip(bus.settings.servos, bus.thread.stored, strict=True)
        ]


def _make_config(port: str, servos: Sequence[FoundServo]) -> PuppeteerConfig:
    twins = {servo.obeys: servo.id for servo in servos if servo.obeys is not None}
    settings = {
        f"servo{servo.id}": ServoSettings(
            id=servo.id, model=servo.model, twin=twins.get(servo.id)
        )
        for servo in servos
        if servo.obeys is None
    }
    limb = PuppetSettings(
        port=port, urdf="", base_link="", eef_link="", servos=settings
    )
    rest = _FEETECH if is_feetech(servos[0].model) else {}
    return PuppeteerConfig(limbs={"arm": limb}, baud=servos[0].baud, **rest)


def _make_servo(one: MountedServo) -> dict[str, Any]:
    offset = float(wrap(np.array(one.offset)))
    twin = {} if one.twin is None else {"twin": one.twin}
    return {
        "id": one.id,
        **twin,
        "model": one.model,
        "sign": one.sign,
        "offset": round(offset, _DIGITS),
        **_list_gear(one),
    }


def _list_gear(one: MountedServo) -> dict[str, float]:
    return {"gear": round(one.gear, 6)}


def _make_gripper(one: MountedGripper) -> dict[str, Any]:
    return {"joint": one.joint, "id": one.id, "model": one.model}
