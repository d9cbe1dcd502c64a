"""Examination of a controller, without motion."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.followers.ur.naming import find_other_model
from paprle.hardware.ur.arm import UrArm
from paprle.hardware.vendor_arm.states import ArmError, describe

Finding = tuple[bool, str]
"""Whether something is well, and a sentence about it."""


def diagnose(arm: UrArm, limb: str, robot: str) -> Iterator[Finding]:
    """Yield findings; leave the arm closed."""
    where = f"{limb}, {arm.name}"
    try:
        identity = arm.greet()
        yield (
            True,
            f"{where}: {identity.model}, PolyScope {identity.version}, serial number "
            f"{identity.serial}",
        )
        other = find_other_model(robot, identity.model)
        if other:
            yield False, f"{where}: {other}"
        condition, speed = arm.examine()
        told = describe(condition, arm.remedies)
        yield not told, f"{where}: {told or 'well, and in remote control'}"
        if speed < 1.0:
            yield (
                False,
                f"{where}: expected its speed slider at 100 %, got {speed:.0%}; "
                "raise it at the pendant",
            )
    except ImportError as err:
        yield (
            False,
            f"{where}: expected {err.name}, got none; pip install 'paprle[ur]'",
        )
    except ArmError as err:
        yield False, str(err)
    finally:
        arm.close(is_powerless=False)
