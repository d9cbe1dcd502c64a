"""An emulated Robotiq gripper on a pseudo-terminal, by Modbus RTU.

    python -m paprle_emulators.robotiq [key=value …]

Keys:
    model=NAME       2f85, 2f140 or hande  (2f85)
    port=LINK        name of the terminal  (/tmp/paprle-robotiq)
    unit=N           Modbus address  (9)
    log=FILE         what was written to it, and events, with stamps
    fault=JSON       a fault from the start; may come several times

It is not activated at the start, as after power on. It prints one JSON line with its
port, then takes JSON lines on standard input and answers each with one:
    {"fault": "gripper_activate"}    as its maker's program does: it opens and closes
    {"fault": "gripper_reset"}       power off and on: the activation is lost
    {"fault": "gripper_object", "opening": 0.03}    without opening: taken away
    {"fault": "gripper_fault", "kind": "hot"}       also voltage, current, activation,
                                                    internal, releasing, none
    {"fault": "silent", "time": 1}, {"fault": "damage", "count": 3}
    {"fault": "unplug"}, {"fault": "replug"}        the USB adapter
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from paprle_emulators.command_line import read_one, say, serve, take_settings
from paprle_emulators.robotiq.faults import GripperFaults
from paprle_emulators.robotiq.gripper import EmulatedGripper
from paprle_emulators.robotiq.port import GripperPort

KEYS = ("model", "port", "unit", "log", "fault")
_LINK = str(Path("/tmp") / "paprle-robotiq")
_MOST_UNIT = 247  # spec: Modbus
Orders = Mapping[str, Callable[..., None]]


def main(words: Sequence[str]) -> int:
    """Serve the gripper."""
    if {"-h", "--help"} & set(words):
        say(__doc__ or "")
        return 0
    with contextlib.ExitStack() as stack:
        try:
            settings = take_settings(words, KEYS)
            log = None
            if settings["log"]:
                path = Path(settings["log"][0])
                log = stack.enter_context(path.open("w", encoding="utf-8"))
            model = read_one(settings, "model", "2f85")
            port, orders = _build(settings, model, log)
        except (OSError, ValueError, TypeError) as err:
            sys.stderr.write(f"robotiq emulator: {err}\n")
            return 2
        port.run()
        stack.callback(port.close)
        overrides = [f"env.robotiq.model={model}", f"env.robotiq.port={port.path}"]
        serve(
            {"ports": {"robotiq": port.path}, "overrides": overrides},
            {"fault": lambda fault, **values: _apply(orders, fault, **values)},
        )
    return 0


def _build(
    settings: dict[str, list[str]], model: str, log: TextIO | None
) -> tuple[GripperPort, Orders]:
    def note(text: str) -> None:
        if log is not None:
            log.write(f"event,{time.monotonic_ns()},{text}\n")
            log.flush()

    unit = int(read_one(settings, "unit", "9"))
    if not 1 <= unit <= _MOST_UNIT:
        raise ValueError(f"unit: expected 1 to {_MOST_UNIT}, got {unit}")
    gripper = EmulatedGripper(model, note)
    port = GripperPort(read_one(settings, "port", _LINK), gripper, unit)
    orders = {
        **GripperFaults(gripper).orders,
        "silent": port.fall_silent,
        "damage": port.damage,
        "unplug": port.unplug,
        "replug": port.plug,
    }
    try:
        for fault in settings["fault"]:
            _apply(orders, **json.loads(fault))
    except BaseException:
        port.unplug()
        raise
    return port, orders


def _apply(orders: Orders, fault: str, **values: object) -> None:
    if fault not in orders:
        raise ValueError(f"fault: expected one of {', '.join(orders)}, got '{fault}'")
    orders[fault](**values)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
