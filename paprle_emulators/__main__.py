"""The command ``paprle-emulate``: runs one emulated device.

    paprle-emulate DEVICE [key=value …] [options]

Options, where the device has the notion:
    --port LINK      stable name of its port: a link, a socket, or a TCP port
    --faults FAULT   a fault from the start, NAME[,key=value…] or a JSON object; may
                     come several times
    --ideal          as its data sheet has it; by default it has the vices that its
                     maker's notes and users report
    --help           its keys, orders and faults

It prints one JSON line: "ports", and settings for PAPRLE. Then it takes orders as JSON
lines on standard input and answers each with one line. It ends on SIGTERM and Ctrl-C.
    paprle-emulate piper --faults lost,share=0.01
    paprle-emulate dynamixel leader=puppeteer_ur5 motion=sines --port /tmp/ttyUSB0

Devices:
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module

from paprle_emulators.command_line import say
from paprle_emulators.devices import (
    Device,
    explain_missing,
    find_device,
    list_devices,
)

_VALUED = {"--port": "port", "--faults": "fault"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a device."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in {"-h", "--help", "help"}:
        say(describe())
        return 0 if words else 2
    try:
        device = find_device(words[0])
        settings = [*device.words, *translate(words[0], device, words[1:])]
    except (LookupError, ValueError) as err:
        sys.stderr.write(f"paprle-emulate: {err}\n")
        return 2
    missing = device.list_missing()
    if missing and not {"-h", "--help"} & set(settings):
        sys.stderr.write(f"paprle-emulate: {explain_missing(device, missing)}\n")
        return 2
    try:
        module = import_module(f"{device.module}.__main__")
    except ImportError as err:
        sys.stderr.write(f"paprle-emulate: '{words[0]}' cannot be imported: {err}\n")
        return 2
    return int(module.main(settings))


def describe() -> str:
    """Return the command's help."""
    devices = list_devices()
    width = max(map(len, devices)) + 2
    rows = []
    for name, device in devices.items():
        missing = device.list_missing()
        note = f"  [pip install 'paprle-emulators[{device.extra}]']" * bool(missing)
        rows.append(f"    {name:{width}}{device.about}{note}")
    return f"{__doc__}" + "\n".join(rows)


def translate(name: str, device: Device, words: Sequence[str]) -> list[str]:
    """Return the ``key=value`` words of options, and other words.

    Raises:
        ValueError: If an option is invalid.
    """
    found: list[str] = []
    left = list(words)
    while left:
        option, equals, value = left.pop(0).partition("=")
        if option in _VALUED:
            if not equals:
                if not left:
                    raise ValueError(f"{option}: expected a value, got none")
                value = left.pop(0)
            value = read_fault(value) if option == "--faults" else value
            found.append(f"{_VALUED[option]}={value}")
        elif option == "--ideal":
            if device.ideal is None:
                raise ValueError(f"--ideal: '{name}' has no vices to end")
            found += device.ideal
        elif option.startswith("--") and option != "--help":
            raise ValueError(
                f"option: expected --port, --faults, --ideal or --help, got '{option}'"
            )
        else:
            found.append(f"{option}{equals}{value}")
    return found


def read_fault(text: str) -> str:
    """Return a fault as JSON.

    Raises:
        ValueError: If a part is invalid.
    """
    if text.lstrip().startswith("{"):
        return text
    name, *parts = text.split(",")
    fault: dict[str, object] = {"fault": name}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"--faults: expected NAME,key=value, got '{text}'")
        fault[key] = _read_value(value)
    return json.dumps(fault)


def _read_value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
