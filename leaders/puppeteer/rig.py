"""Arms and buses of a rig's YAML."""

from __future__ import annotations

from paprle.hardware.dynamixel.bus_thread import BusSettings
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.config import PuppeteerConfig


def make_arms(config: PuppeteerConfig) -> tuple[Arm, ...]:
    """Return the arms with their places on the buses."""
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
