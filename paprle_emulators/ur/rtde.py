"""RTDE, port 30004, protocol version 2.

Source: Universal Robots, "Real-Time Data Exchange (RTDE) Guide".
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from paprle_emulators.ur.controller import VERSION, Controller
from paprle_emulators.ur.variables import (
    INPUTS,
    OUTPUTS,
    make_format,
    read_values,
    write_values,
)

RATE = 500.0  # [Hz] spec: e-series
_HEADER = struct.Struct(">HB")
_PROTOCOL = b"\x00\x02"
_COMMAND_REGISTERS = {"input_int_register_0", "input_int_register_24"}
_SERVOJ = 11  # spec: ur_rtde's control script


@dataclass(slots=True)
class Recipe:
    """Names and layout of a package."""

    names: list[str]
    layout: struct.Struct


class RtdeClient:
    """Answers to one client."""

    def __init__(
        self,
        controller: Controller,
        claims: dict[str, object],
        note_goal: Callable[[list[float]], None],
    ) -> None:
        """Serve a client; ``note_goal`` takes ``servoJ`` registers.

        All clients share ``claims``, the input variables in use.
        """
        self._controller, self._claims, self._note_goal = controller, claims, note_goal
        self._rest = b""
        self._inputs: list[Recipe] = []
        self._output: Recipe | None = None
        self._every = 1
        self.is_started = False

    def take(self, data: bytes) -> bytes:
        """Return answers to a client's bytes.

        Raises:
            ValueError: If not RTDE.
        """
        self._rest += data
        answers = b""
        while len(self._rest) >= _HEADER.size:
            size, kind = _HEADER.unpack_from(self._rest)
            if size < _HEADER.size:
                raise ValueError(f"RTDE: expected a package of 3 bytes, got {size}")
            if len(self._rest) < size:
                break
            body, self._rest = self._rest[_HEADER.size : size], self._rest[size:]
            answers += self._answer(chr(kind), body)
        return answers

    def make_data(self) -> bytes:
        """Return this cycle's data, if any."""
        recipe, controller = self._output, self._controller
        if not self.is_started or recipe is None or controller.n_cycles % self._every:
            return b""
        values = recipe.layout.pack(*read_values(recipe.names, controller))
        return _pack("U", b"\x01" + values)

    def leave(self) -> None:
        """Give up the input variables."""
        for name in [name for name, owner in self._claims.items() if owner is self]:
            del self._claims[name]

    def _answer(self, kind: str, body: bytes) -> bytes:
        answers: dict[str, Callable[[bytes], bytes]] = {
            "V": lambda asked: _pack("V", bytes([asked == _PROTOCOL])),
            "v": lambda _: _pack("v", struct.pack(">4I", *VERSION)),
            "O": self._set_output,
            "I": self._add_input,
            "S": lambda _: self._start(is_on=True),
            "P": lambda _: self._start(is_on=False),
            "U": self._take_data,
        }
        return answers[kind](body) if kind in answers else b""

    def _start(self, *, is_on: bool) -> bytes:
        self.is_started = is_on and self._output is not None
        return _pack("S" if is_on else "P", bytes([self.is_started or not is_on]))

    def _set_output(self, body: bytes) -> bytes:
        (rate,) = struct.unpack_from(">d", body)
        names = _split(body[8:])
        types = [OUTPUTS[n][0] if n in OUTPUTS else "NOT_FOUND" for n in names]
        if "NOT_FOUND" in types or not names:
            return _pack("O", b"\x00" + ",".join(types).encode())
        self._output = Recipe(names, struct.Struct(make_format(types)))
        self._every = max(1, round(RATE / rate)) if rate > 0 else 1
        return _pack("O", b"\x01" + ",".join(types).encode())

    def _add_input(self, body: bytes) -> bytes:
        names = _split(body)
        types = [self._find_type(name) for name in names]
        if {"NOT_FOUND", "IN_USE"} & set(types) or not names:
            return _pack("I", b"\x00" + ",".join(types).encode())
        self._claims.update(dict.fromkeys(names, self))
        self._inputs.append(Recipe(names, struct.Struct(make_format(types))))
        return _pack("I", bytes([len(self._inputs)]) + ",".join(types).encode())

    def _find_type(self, name: str) -> str:
        if name not in INPUTS:
            return "NOT_FOUND"
        return INPUTS[name] if self._claims.get(name, self) is self else "IN_USE"

    def _take_data(self, body: bytes) -> bytes:
        if not body or not 1 <= body[0] <= len(self._inputs):
            return b""
        recipe = self._inputs[body[0] - 1]
        try:
            values = recipe.layout.unpack(body[1:])
        except struct.error as err:
            raise ValueError(f"RTDE: recipe {body[0]}: {err}") from err
        if len(values) != len(recipe.names):  # a vector, external_force_torque
            return b""
        write_values(recipe.names, values, self._controller)
        if recipe.names[0] in _COMMAND_REGISTERS and values[0] == _SERVOJ:
            self._note_goal([float(value) for value in values[1:]])
        return b""


def _split(body: bytes) -> list[str]:
    return [name for name in body.decode("ascii").split(",") if name]


def _pack(kind: str, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), ord(kind)) + body
