"""From a rig's YAML to its arms, and to the buses that they share."""

from __future__ import annotations

from paprle.hardware.dynamixel.bus_thread import BusSettings
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.config import PuppeteerConfig


def make_arms(config: PuppeteerConfig) -> tuple[Arm, ...]:
    """Return the arms of a rig, each with its place on its bus."""
    arms: list[Arm] = []
    used: dict[str, int] = {}
    for name, settings in config.limbs.items():
        arm = Arm(name, settings, used.get(settings.port, 0))
        used[settings.port] = arm.place.stop
        arms.append(arm)
    return tuple(arms)


def make_buses(config: PuppeteerConfig) -> dict[str, BusSettings]:
    """Return the buses of a rig by port; arms of one port share a bus."""
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
