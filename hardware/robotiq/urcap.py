"""Gripper behind a UR's URCap "Robotiq Grippers".

Sources: Robotiq's URCap for port and variables; SDU Robotics, ``robotiq_gripper.py`` of
ur_rtde's documentation, for lines and answers.
"""

from __future__ import annotations

import socket

from paprle.hardware.robotiq.status import Status
from paprle.hardware.vendor_arm.states import ArmError

PORT = 63352  # spec: URCap; TCP
_REACH_TIME = 1.0  # [s] chosen: a controller on the same network answers in 1 ms
_ANSWER_TIME = 0.25  # [s] chosen: the URCap asks the gripper some 100 times a second
_MOST_BYTES = 1024  # chosen: answers have ten


class UrcapLine:
    """Connection, for one thread."""

    def __init__(self, host: str) -> None:
        self.name = f"robotiq '{host}'"
        self._host = host
        self._socket: socket.socket | None = None

    def reach(self) -> None:
        """Connect or reconnect.

        Raises:
            ArmError: No listener.
        """
        self.close()
        try:
            self._socket = socket.create_connection((self._host, PORT), _REACH_TIME)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.settimeout(_ANSWER_TIME)
        except OSError as err:
            raise ArmError(
                f"{self.name}: expected Robotiq's URCap at port {PORT}, got: {err}; "
                "install it and choose the gripper in its page of the installation"
            ) from err

    def read(self) -> Status:
        """Return the status.

        Raises:
            ArmError: No answer.
        """
        return Status(
            state=self._ask("STA"),
            contact=self._ask("OBJ"),
            fault=self._ask("FLT"),
            position=self._ask("POS"),
        )

    def move(self, position: int, speed: int, force: int) -> None:
        """Move the fingers; all are bytes, [counts].

        Raises:
            ArmError: No acknowledgement.
        """
        self._set(f"SET POS {position} SPE {speed} FOR {force} GTO 1")

    def set_active(self, *, is_active: bool) -> None:
        """Activate, with motion, or reset.

        Raises:
            ArmError: No acknowledgement.
        """
        self._set(f"SET ACT {is_active:d}")

    def close(self) -> None:
        """Disconnect; repeatable."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ask(self, variable: str) -> int:
        words = self._exchange(f"GET {variable}").split()
        if len(words) != 2 or words[0] != variable or not words[1].isdigit():
            raise ArmError(
                f"{self.name}: expected '{variable}' and a number, got "
                f"'{' '.join(words)}'; look at the gripper's cable"
            )
        return int(words[1])

    def _set(self, line: str) -> None:
        answer = self._exchange(line).strip()
        if answer != "ack":
            raise ArmError(f"{self.name}: expected 'ack' to '{line}', got '{answer}'")

    def _exchange(self, line: str) -> str:
        """Return the answer: one packet, as it has no end mark."""
        try:
            if self._socket is None:
                raise ConnectionError("it is not connected")
            self._socket.sendall(f"{line}\n".encode())
            answer = self._socket.recv(_MOST_BYTES)
            if not answer:
                raise ConnectionError("it hung up")
        except OSError as err:
            raise ArmError(f"{self.name}: {err}") from err
        return answer.decode("ascii", errors="replace")
