"""Examination of motors before torque.

It clears errors, and sets the control mode and the time-out.
"""

from __future__ import annotations

from collections.abc import Iterator

from paprle.hardware.can_channel.channels import BIT_RATE
from paprle.hardware.damiao.bus import DamiaoBus
from paprle.hardware.damiao.packets import (
    CLEAR,
    CONTROL_MODE,
    MIT,
    P_MAX,
    T_MAX,
    TIMEOUT,
    TIMEOUT_UNIT,
    V_MAX,
    Status,
    pack_special,
)
from paprle.hardware.damiao.remedies import REMEDIES, WORDS

_LISTEN_TIME = 0.1  # [s] chosen: another program speaks at 20 Hz or more
_CLEAR_TIME = 0.2  # [s] chosen: for an error to go
_EXTRA = 0.2  # [s] chosen: beyond the time-out of motors that were left enabled
_SAME = 1e-3  # [1] chosen: ranges are whole or half numbers


def find_strangers(bus: DamiaoBus) -> str:
    """Return the reason against commanding this bus, or ""."""
    bus.wait_for(lambda: bus.foreign is not None, _LISTEN_TIME)
    if bus.foreign is None:
        return ""
    return (
        f"{bus.name}: expected to be the only one who commands these motors, got "
        f"commands of another program for motor {bus.foreign[0]}; end it first"
    )


def list_silent(bus: DamiaoBus) -> list[str]:
    """Return the problem of silent motors, if any."""
    numbers = range(1, len(bus.models) + 1)
    silent = [str(number) for number in numbers if bus.find(number) is None]
    if not silent:
        return []
    what = f"motors {', '.join(silent)}" if len(silent) > 1 else f"motor {silent[0]}"
    return [
        f"{bus.name}: expected answers of motors 1 … {len(bus.models)}, got none of "
        f"{what}{': ' if bus.failure else ''}{bus.failure}; are they powered, and the "
        f"bus at {BIT_RATE} [bit/s]? (sudo ip link set CHANNEL up type can bitrate "
        f"{BIT_RATE})"
    ]


def clear(bus: DamiaoBus, timeout: float) -> Iterator[str]:
    """Clear errors; yield remaining ones and foreign torque.

    Args:
        bus: Open; all motors answer.
        timeout: Of motors left enabled, [s].
    """
    for number in range(1, len(bus.models) + 1):

        def read_status(number: int = number) -> Status | None:
            found = bus.find(number)
            return None if found is None else found.status

        if read_status() is Status.ENABLED:
            bus.wait_for(lambda: read_status() is not Status.ENABLED, timeout + _EXTRA)
        if read_status() not in {Status.DISABLED, Status.ENABLED}:
            bus.send(number, pack_special(CLEAR))
            bus.wait_for(lambda: read_status() is Status.DISABLED, _CLEAR_TIME)
        status = read_status()
        if status is Status.ENABLED:
            yield (
                f"{bus.name}: expected motor {number} without torque, got one that "
                "another program left enabled; hold the arm and switch its power off "
                "and on"
            )
        elif status is not Status.DISABLED:
            words = "no answer" if status is None else WORDS[status]
            what = "look at its cable" if status is None else REMEDIES[status]
            yield (
                f"{bus.name}: expected motor {number} without an error, got {words}; "
                f"{what}"
            )


def check_registers(bus: DamiaoBus, timeout: float) -> Iterator[str]:
    """Set time-out and MIT mode; yield wrong settings.

    Args:
        bus: Open; all motors answer, none is enabled.
        timeout: [s].
    """
    wanted = round(timeout / TIMEOUT_UNIT)
    for number, model in enumerate(bus.models, start=1):
        for register, name, value in (
            (P_MAX, "PMAX", model.q),
            (V_MAX, "VMAX", model.dq),
            (T_MAX, "TMAX", model.tau),
        ):
            got = bus.read_register(number, register)
            if got is None or abs(got - value) > _SAME * value:
                yield (
                    f"{bus.name}: expected {name} {value:g} of motor {number}, got "
                    f"{got}; set it with the maker's tool, or choose the right robot"
                )
        for register, name, value in (
            (CONTROL_MODE, "MIT mode (1)", MIT),
            (TIMEOUT, f"a time-out of {wanted}", wanted),
        ):
            got = bus.read_register(number, register)
            if got != value:
                got = bus.write_register(number, register, value)
            if got != value:
                yield (
                    f"{bus.name}: expected motor {number} to take {name}, got {got}; "
                    "set it with the maker's tool"
                )
