"""Command line of an emulated arm."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np

from paprle_emulators.command_line import Settings, read_one, say, take_settings
from paprle_emulators.notice import announce
from paprle_emulators.punctual import request_punctuality
from paprle_emulators.vendor_arm.journal import Vec
from paprle_emulators.vendor_arm.loop import Loop

KEYS = ("address", "port", "q", "log", "fault")
"""Of every arm: its address, twice; joints at the start; journal; faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Address of an emulator, and the open file of its journal, if any."""

    address: str
    log: TextIOBase | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An emulator that is ready to run.

    Attributes:
        robot: Follower of sessions that are given its address; empty: any.
        overrides: Of these sessions, beside the address.
    """

    loop: Loop
    robot: str
    overrides: tuple[str, ...] = ()


Make = Callable[[Settings, Place], Made]
"""From settings and place; raises ValueError if a setting is invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Words of a device.

    Attributes:
        env: Name of the device and of the env that drives it.
        help: Its keys, orders and faults.
        keys: Beside ``KEYS``.
    """

    env: str
    help: str
    make: Make
    keys: tuple[str, ...] = ()


def run(command: Command, words: Sequence[str]) -> int:
    """Run an emulator until a signal; return its exit code."""
    if {"-h", "--help", "help"} & set(words):
        say(command.help)
        return 0
    with contextlib.ExitStack() as stack:
        try:
            settings = take_settings(words, (*KEYS, *command.keys))
            place = _find_place(settings, stack)
            made = command.make(settings, place)
            _begin(made.loop, settings, stack)
        except (ValueError, OSError) as err:
            sys.stderr.write(f"{command.env} emulator: {err}\n")
            return 2
        request_punctuality()
        address, log = place.address, read_one(settings, "log", "")
        overrides = [f"env.host={address}", *made.overrides]
        stack.enter_context(announce("env", command.env, overrides, made.robot))
        endpoint = {"ports": {command.env: address}, "host": address, "log": log}
        say(json.dumps({"ready": True, **endpoint, "overrides": overrides}))
        made.loop.run()
    return 0


def read_joints(settings: Settings, home: Sequence[float]) -> Vec:
    """Return the joints at the start, (n,), [rad].

    Raises:
        ValueError: If not as many finite numbers as at home.
    """
    word = read_one(settings, "q", ",".join(map(str, home)))
    q = np.array([float(number) for number in word.split(",")])
    if q.shape != (len(home),) or not np.isfinite(q).all():
        raise ValueError(f"q: expected {len(home)} numbers, got '{word}'")
    return q


def _find_place(settings: Settings, stack: contextlib.ExitStack) -> Place:
    file = None
    if settings["log"]:
        path = Path(settings["log"][0])
        file = stack.enter_context(path.open("w", encoding="utf-8"))
    word = read_one(settings, "port", read_one(settings, "address", "127.0.0.1"))
    return Place(address=_find_address(word), log=file)


def _find_address(word: str) -> str:
    if word != "own":
        return word
    pid = os.getpid()
    return f"127.{1 + (pid >> 16) % 254}.{pid >> 8 & 0xFF}.{pid & 0xFF or 1}"


def _begin(loop: Loop, settings: Settings, stack: contextlib.ExitStack) -> None:
    stack.callback(loop.server.close)
    try:
        loop.server.listen()
    except OSError as err:
        raise OSError(f"{loop.server.address}: {err}") from err
    for text in settings["fault"]:
        loop.faults.apply(time.monotonic_ns(), json.loads(text))
    loop.server.obey_line()
