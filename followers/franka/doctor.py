"""Examination of a control unit, without motion."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.contracts.types import LimbInfo
from paprle.hardware.franka.arm import FrankaArm
from paprle.hardware.vendor_arm.states import ArmError, ArmState, describe

Finding = tuple[bool, str]
"""Whether something is well, and a sentence about it."""


def diagnose(arm: FrankaArm, limb: LimbInfo) -> Iterator[Finding]:
    """Yield findings; leave the arm closed."""
    where, package = f"{limb.name}, {arm.name}", arm.model.package
    try:
        arm.greet()
        yield True, f"{where}: it answers, and {package} speaks its version"
        condition = arm.examine()
        is_well = condition.state is ArmState.ENDED
        reason = describe(condition, arm.remedies)
        yield is_well, f"{where}: {'ready for motion' if is_well else reason}"
        jitter = arm.measure_jitter()
        is_steady = jitter.share_late < 0.01  # chosen: 20 lost in a row stop it
        yield (
            is_steady,
            f"{where}: states come {jitter.median:.2f} ms apart, 99 % within "
            f"{jitter.most:.2f} ms, {100 * jitter.share_late:.1f} % over 2 ms"
            + ("" if is_steady else "; use a kernel with PREEMPT_RT and a cable"),
        )
    except ImportError as err:
        yield (
            False,
            f"{where}: expected {err.name}, got none; "
            f"pip install 'paprle[{arm.model.extra}]'",
        )
    except ArmError as err:
        yield False, str(err)
    finally:
        arm.close(is_powerless=False)
