"""Examination of motors for ``paprle doctor``, without torque or motion."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.hardware.damiao.bus import DamiaoBus
from paprle.hardware.damiao.opening import find_strangers, list_silent
from paprle.hardware.damiao.packets import (
    CONTROL_MODE,
    MIT,
    P_MAX,
    T_MAX,
    TIMEOUT,
    TIMEOUT_UNIT,
    V_MAX,
    Status,
)
from paprle.hardware.damiao.remedies import describe
from paprle.hardware.vendor_arm.states import ArmError

Finding = tuple[bool, str]
"""Whether something is well, and a sentence about it."""

_SAME = 1e-3  # [1] chosen: ranges are whole or half numbers


def examine(bus: DamiaoBus, limb: str) -> Iterator[Finding]:
    """Yield findings on one arm, without writing."""
    try:
        bus.open()
        yield from _examine(bus, limb)
    except ImportError as err:
        yield (
            False,
            f"{limb}: expected {err.name}, got none; pip install 'paprle[damiao]'",
        )
    except ArmError as err:
        yield False, f"{limb}: {err}"
    finally:
        bus.close()


def _examine(bus: DamiaoBus, limb: str) -> Iterator[Finding]:
    stranger = find_strangers(bus)
    if stranger:
        yield False, f"{limb}: {stranger}"
        return
    silent = list_silent(bus)
    if silent:
        yield from ((False, f"{limb}: {text}") for text in silent)
        return
    well = True
    for number in range(1, len(bus.models) + 1):
        for text in _examine_motor(bus, number):
            well = False
            yield False, f"{limb}, {bus.name}: {text}"
    if well:
        heat = max(max(one.mos, one.coil) for one in bus.feedback if one is not None)
        yield (
            True,
            f"{limb}, {bus.name}: {len(bus.models)} motors are well, {heat} [°C] "
            "at most",
        )


def _examine_motor(bus: DamiaoBus, number: int) -> Iterator[str]:
    found, model = bus.find(number), bus.models[number - 1]
    if found is not None and found.status is Status.ENABLED:
        yield f"motor {number}: another program left it enabled"
    elif found is not None and found.status is not Status.DISABLED:
        yield f"{describe(f'motor {number}', found.status)}; opening clears it"
    for register, name, value in (
        (P_MAX, "PMAX", model.q),
        (V_MAX, "VMAX", model.dq),
        (T_MAX, "TMAX", model.tau),
        (CONTROL_MODE, "control mode", MIT),
    ):
        got = bus.read_register(number, register)
        if got is None or abs(got - value) > _SAME * value:
            yield f"motor {number}: expected {name} {value:g}, got {got}"
    timeout = bus.read_register(number, TIMEOUT)
    if timeout is not None and timeout * TIMEOUT_UNIT > 1.0:
        yield (
            f"motor {number}: expected a time-out of at most 1 [s], got "
            f"{timeout * TIMEOUT_UNIT:g}; opening sets it until the power goes"
        )
