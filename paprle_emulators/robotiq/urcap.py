"""The URCap's port; answers end without a line feed.

Sources: Robotiq's URCap for the variables; SDU Robotics, ``robotiq_gripper.py`` of
ur_rtde's documentation.
"""

from __future__ import annotations

from collections.abc import Callable

from paprle_emulators.robotiq.gripper import EmulatedGripper

PORT = 63352  # spec: URCap
_MOST_LINE = 4096  # [bytes] chosen: a client that sends no line feed is dropped


class UrcapSession:
    """A client of the URCap."""

    def __init__(
        self, gripper: EmulatedGripper, has_answer: Callable[[], bool]
    ) -> None:
        self._gripper, self._has_answer = gripper, has_answer
        self._rest = b""

    def take(self, data: bytes) -> bytes:
        """Return the answers of complete lines.

        Raises:
            ValueError: If a line does not end.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_LINE:
            raise ValueError("URCap: expected a line feed")
        return b"".join(self._answer(line.decode("ascii", "replace")) for line in lines)

    def make_data(self) -> bytes:
        """Return nothing."""
        return b""

    def leave(self) -> None:
        """Drop an incomplete line."""
        self._rest = b""

    def _answer(self, line: str) -> bytes:
        match line.split():
            case ["GET", name]:
                return self._get(name).encode()
            case ["SET", *words] if words and len(words) % 2 == 0:
                return self._set(words)
        return b"?"

    def _get(self, name: str) -> str:
        gripper = self._gripper
        values = {
            "STA": gripper.state,
            "OBJ": gripper.contact,
            "FLT": int(gripper.fault),
            "POS": round(gripper.position),
            "PRE": gripper.outputs["POS"],
            "SID": 9,
        }
        values |= {key: gripper.outputs[key] for key in ("ACT", "GTO", "ATR")}
        values |= {key: gripper.outputs[key] for key in ("SPE", "FOR")}
        if name not in values or not self._has_answer():
            return f"{name} ?"
        gripper.hear()
        return f"{name} {values[name]}"

    def _set(self, words: list[str]) -> bytes:
        names, values = words[::2], words[1::2]
        gripper = self._gripper
        known = all(name in gripper.outputs for name in names)
        if not known or not all(value.isdigit() for value in values):
            return b"?"
        if self._has_answer():
            gripper.hear()
            numbers = (min(int(value), 255) for value in values)
            gripper.write(dict(zip(names, numbers, strict=True)))
        return b"ack"
