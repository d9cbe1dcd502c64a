"""Examination of an arm, without motion."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.contracts.plugins import Clock
from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.reasons import (
    STICKY_MODES,
    TEACHING,
    describe_fault,
    describe_stroke,
)
from paprle.followers.piper.units import is_too_old, parse_version
from paprle.hardware.can_channel.channels import BusError
from paprle.hardware.piper.bus import PiperBus
from paprle.hardware.piper.protocol import QUARTER_UNTIL, STICKY_BELOW

Finding = tuple[bool, str]
"""Whether something is well, and a sentence about it."""

_FIRST_TIME = 3.0  # [s] chosen: for the first frames; an adapter may be slow to start
_ANSWER_TIME = 0.5  # [s] chosen: for an answer, which may be lost: asked three times
_N_ASKED = 3  # chosen: see above
_LISTEN_TIME = 0.25  # [s] chosen: another master speaks at 20 Hz or more


def diagnose(
    config: PiperConfig, name: str, channel: str, clock: Clock, *, has_gripper: bool
) -> Iterator[Finding]:
    """Yield findings on one arm."""
    where = f"{name}, {config.interface} '{channel}'"
    bus = PiperBus(config.interface, channel, clock)
    try:
        bus.open()
        yield from _examine(bus, where, has_gripper=has_gripper)
    except ImportError as err:
        yield (
            False,
            f"{where}: expected {err.name}, got none; pip install 'paprle[piper]'",
        )
    except BusError as err:
        yield False, str(err)
    finally:
        bus.close()


def _examine(bus: PiperBus, where: str, *, has_gripper: bool) -> Iterator[Finding]:
    is_complete = bus.wait_for(
        lambda: not bus.name_missing() and bus.motion and bus.motors, _FIRST_TIME
    )
    if not is_complete:
        got = bus.failure or bus.name_missing()
        yield (
            False,
            f"{where}: expected the reports of a PiPER, got {got}; is it powered?",
        )
        return
    bus.listen(_LISTEN_TIME)
    if bus.foreign is not None:
        yield (
            False,
            f"{where}: expected nobody to command the arm, got {bus.foreign[0]:#x}; "
            "end that program",
        )
    yield from _examine_firmware(bus, where)
    yield from _examine_state(bus, where, has_gripper=has_gripper)


def _examine_firmware(bus: PiperBus, where: str) -> Iterator[Finding]:
    for _ in range(_N_ASKED):
        if bus.wait_for(bus.read_firmware, _ANSWER_TIME):
            break
        bus.ask()
    text = bus.read_firmware()
    version = parse_version(text)
    if version is None or is_too_old(version):
        yield (
            False,
            f"{where}: expected firmware S-V1.5-2 or newer, got {text or 'no version'};"
            " update the arm's firmware",
        )
        return
    notes = [f"firmware {text}"]
    if version <= QUARTER_UNTIL:
        notes.append("torques of joints 1 to 3 are 4 times what it reports")
    if version < STICKY_BELOW:
        notes.append("it would stay in MIT or JS until a reset")
    yield True, f"{where}: {', '.join(notes)}"


def _examine_state(
    bus: PiperBus, where: str, *, has_gripper: bool
) -> Iterator[Finding]:
    condition, motion = bus.condition, bus.motion
    if condition is None or motion is None:  # complete reports hold both
        return
    fault = describe_fault(
        condition, bus.motors, motion.gripper_bits if has_gripper else 0
    )
    if condition.mode == TEACHING:
        fault = fault or "teach mode"
    if condition.move_mode in STICKY_MODES:
        kind = STICKY_MODES[condition.move_mode]
        fault = fault or f"another program left it in {kind}"
    stroke = describe_stroke(bus.stroke) if has_gripper else ""
    for text in (fault, stroke):
        if text:
            yield False, f"{where}: {text}"
    if not fault:
        heat = max(motor.temperature for motor in bus.motors)
        volts = min(motor.voltage for motor in bus.motors) / 10
        yield True, f"{where}: well, {heat} [°C] at most, {volts:g} [V]"
