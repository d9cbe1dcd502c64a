"""Pads of one leader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paprle.hardware.gamepad.controls import AXES, BUTTONS, normalise
from paprle.hardware.gamepad.errors import PadError
from paprle.hardware.gamepad.remote import RemotePad
from paprle.hardware.gamepad.sdl import Found, list_pads, start_sdl

_SEARCH_NS = 200_000_000  # chosen: a pad that is plugged in again is there at once
_VIRTUAL = "virtual:"
_UNFELT = 1.5 / 0xFFFF  # chosen: the least amplitude that SDL can tell a driver


class Rack:
    """Pads by name or GUID; all calls from one thread.

    Empty: the first free pad; ``virtual:PATH``: one of ``remote``.
    """

    def __init__(self, wanted: Sequence[str], database: str = "") -> None:
        self._wanted, self._database = tuple(wanted), database
        n = len(self._wanted)
        self._sdl: Any = None
        self._pads: list[Any] = [None] * n
        self._instances: list[int] = [-1] * n
        self._remotes: list[RemotePad] = []
        self._searched_ns: int | None = None
        self.is_there = [False] * n
        self.can_rumble = [False] * n
        self.names = [""] * n
        self.has: list[frozenset[str]] = [frozenset()] * n

    def open(self) -> None:
        """Find every pad.

        Raises:
            PadError: All problems.
            ImportError: Missing pygame.
        """
        self._sdl = start_sdl(self._database)
        try:
            for device in self._wanted:
                if device.startswith(_VIRTUAL):
                    self._remotes.append(RemotePad(device.removeprefix(_VIRTUAL)))
            self._search()
        except OSError as err:
            self.close()
            raise PadError(str(err)) from err
        missing = [
            device
            for device, is_there in zip(self._wanted, self.is_there, strict=True)
            if not is_there
        ]
        if missing:
            problem = self._describe(missing)
            self.close()
            raise PadError(problem)

    def read(self, now_ns: int) -> list[Mapping[str, float] | None]:
        """Return each pad's controls; None if missing.

        Sticks are in [-1, 1], triggers and buttons in [0, 1].
        """
        for remote in self._remotes:
            remote.obey()
        self._sdl.update()
        for row, pad in enumerate(self._pads):
            if pad is not None and not pad.attached():
                self._let_go(row)
        if not all(self.is_there):
            before_ns = self._searched_ns
            if before_ns is None or now_ns - before_ns >= _SEARCH_NS:
                self._searched_ns = now_ns
                self._search()
        return [None if pad is None else _read(pad) for pad in self._pads]

    def rumble(self, row: int, strong: float, weak: float, time: float) -> None:
        """Rumble a pad for ``time`` [s]; amplitudes 0 … 1."""
        pad = self._pads[row]
        if pad is not None and self.can_rumble[row]:
            pad.rumble(strong, weak, round(1e3 * time))

    def close(self) -> None:
        """Stop the motors and close all pads."""
        for row in range(len(self._pads)):
            self.rumble(row, 0.0, 0.0, 0.0)
            self._let_go(row)
        for remote in self._remotes:
            remote.close()
        self._remotes = []

    def _search(self) -> None:
        found = list(list_pads(self._sdl))
        for row, device in enumerate(self._wanted):
            free = [one for one in found if one.instance not in self._instances]
            chosen = [one for one in free if _is_meant(one, self._name(device))]
            if not self.is_there[row] and chosen:
                self._take(row, chosen[0])

    def _name(self, device: str) -> str:
        path = device.removeprefix(_VIRTUAL)
        return RemotePad.name_of(path) if path != device else device

    def _take(self, row: int, found: Found) -> None:
        try:
            pad = self._sdl.controller.Controller(found.place)
        except RuntimeError:  # pygame's own: it is forbidden, or gone again
            return
        self._pads[row], self._instances[row] = pad, found.instance
        self.is_there[row], self.names[row] = True, found.name
        # half of an axis may have a part of its own: +leftx, -leftx
        self.has[row] = frozenset(name.lstrip("+-") for name in pad.get_mapping())
        # SDL asks the driver only if an amplitude changes
        self.can_rumble[row] = bool(pad.rumble(_UNFELT, _UNFELT, 1))
        pad.rumble(0.0, 0.0, 0)

    def _let_go(self, row: int) -> None:
        pad = self._pads[row]
        if pad is not None:
            pad.quit()
        self._pads[row], self._instances[row] = None, -1
        self.is_there[row] = self.can_rumble[row] = False

    def _describe(self, missing: Sequence[str]) -> str:
        seen = [f"'{one.name}' ({one.guid})" for one in list_pads(self._sdl)]
        wanted = ", ".join(f"'{one}'" if one else "any" for one in missing)
        return (
            f"expected a game controller for each of: {wanted}, got "
            f"{', '.join(seen) or 'none'}; plug it in or pair it, and on Linux let "
            "this user read /dev/input/event* and /dev/hidraw*"
        )


def _is_meant(found: Found, wanted: str) -> bool:
    return wanted.lower() in found.name.lower() or (
        bool(wanted) and wanted.lower() in found.guid.lower()
    )


def _read(pad: Any) -> dict[str, float]:
    values = {name: normalise(pad.get_axis(number)) for name, number in AXES.items()}
    for name, number in BUTTONS.items():
        values[name] = float(pad.get_button(number))
    return values
