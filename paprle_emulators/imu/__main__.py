"""An emulated inertial sensor on a pseudo-terminal.

    python -m paprle_emulators.imu [packet=attitude] [key=value …]

Keys:
    packet=KIND      attitude: quaternions; inertial: gyroscope and accelerometer
    port=LINK        name of the terminal  (/tmp/paprle-imu-KIND)
    rate=HZ          packets per second  (200)
    fault=JSON       a fault from the start, as '{"fault":"flip","share":0.01}'; may
                     come several times

It turns slowly after a client has sent "start". It prints one JSON line with its port,
then takes JSON lines on standard input and answers each with one:
    {"fault": "flip", "share": 0.1}     also lose, insert, silent, stuck, not_finite,
                                        restart; share 0 ends one
    {"cmd": "unplug"}, {"cmd": "replug"}
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from paprle_emulators.command_line import (
    read_number,
    read_one,
    say,
    serve,
    take_settings,
)
from paprle_emulators.imu.packets import KINDS
from paprle_emulators.imu.sensor import EmulatedImu, Fault

KEYS = ("packet", "port", "rate", "fault")


def main(words: Sequence[str]) -> int:
    """Serve the sensor."""
    if {"-h", "--help"} & set(words):
        say(__doc__ or "")
        return 0
    # a bare kind of packets, as in `imu inertial`
    words = [f"packet={word}" if word in KINDS else word for word in words]
    try:
        settings = take_settings(words, KEYS)
        imu = _build(settings)
    except (OSError, ValueError, TypeError) as err:
        sys.stderr.write(f"imu emulator: {err}\n")
        return 2
    imu.run()
    try:
        serve(
            {
                "ports": {"imu": imu.path},
                "overrides": [
                    f"leader.imu.port={imu.path}",
                    f"leader.imu.packet={imu.kind}",
                ],
            },
            {
                "fault": lambda fault, share=1.0: _cause(imu, fault, share),
                "unplug": imu.unplug,
                "replug": imu.plug,
            },
        )
    finally:
        imu.close()
    return 0


def _build(settings: dict[str, list[str]]) -> EmulatedImu:
    word = read_one(settings, "packet", KINDS[0])
    kinds = [kind for kind in KINDS if kind == word]
    if not kinds:
        raise ValueError(f"packet: expected one of {', '.join(KINDS)}, got '{word}'")
    link = read_one(settings, "port", str(Path("/tmp") / f"paprle-imu-{word}"))
    imu = EmulatedImu(link, kinds[0], read_number(settings, "rate", 200.0))
    try:
        for fault in settings["fault"]:
            order: dict[str, Any] = json.loads(fault)
            _cause(imu, **order)
    except BaseException:
        imu.unplug()
        raise
    return imu


def _cause(imu: EmulatedImu, fault: str, share: float = 1.0) -> None:
    known: tuple[Fault, ...] = get_args(Fault)
    if fault not in known:
        raise ValueError(f"fault: expected one of {', '.join(known)}, got '{fault}'")
    imu.set_fault(known[known.index(fault)], float(share))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
