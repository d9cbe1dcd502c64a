"""Arms and buses of a rig's YAML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from paprle.hardware.dynamixel.bus_thread import BusSettings, BusThread
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.config import PuppeteerConfig
from paprle.leaders.puppeteer.servo_models import is_feetech

if TYPE_CHECKING:  # its SDK belongs to another extra
    from paprle.leaders.puppeteer.feetech.bus import FeetechBus

    ServoBus = BusThread | FeetechBus


def make_arms(config: PuppeteerConfig) -> tuple[Arm, ...]:
    """Return the arms with their servos' places."""
    arms: list[Arm] = []
    used: dict[str, int] = {}
    for name, settings in config.limbs.items():
        arm = Arm(name, settings, used.get(settings.port, 0))
        used[settings.port] = arm.place.stop
        arms.append(arm)
    return tuple(arms)


def make_buses(config: PuppeteerConfig) -> dict[str, BusSettings]:
    """Return the buses by port."""
    arms = make_arms(config)
    return {
        port: BusSettings(
            path=port,
            servos=tuple(
                servo
                for arm in arms
                if arm.settings.port == port
                for servo in arm.servo_specs
            ),
            baud=config.baud,
            rate=config.rate,
            timeout=config.timeout,
        )
        for port in dict.fromkeys(arm.settings.port for arm in arms)
    }


def make_bus(
    settings: BusSettings, arms: Sequence[Arm], clock: Callable[[], int]
) -> ServoBus:
    """Return the closed bus of a port."""
    mine = [arm for arm in arms if arm.settings.port == settings.path]
    if is_feetech(settings.servos[0].model):
        from paprle.leaders.puppeteer.feetech.bus import (  # noqa: PLC0415
            FeetechBus,
        )

        return FeetechBus(settings, mine, clock)
    return BusThread(settings, clock)
