"""Messages between a driver and the process of its arm, over one socket pair.

A packet is a message: its first byte is its kind.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

N = 7  # spec: joints of every arm of the maker
EVERY = 2  # chosen: cycles of 1 ms between states for the owner, 500 Hz
LONGEST = 4096  # chosen: bytes, above those of any message here


class Order(IntEnum):
    """Messages to the process."""

    GOAL = 1
    KEEP = 2
    START = 3
    END = 4
    RECOVER = 5


class Mode(IntEnum):
    """The robot's mode. spec: libfranka, robot_state.h."""

    OTHER = 0
    IDLE = 1
    MOVE = 2
    GUIDING = 3
    REFLEX = 4
    USER_STOPPED = 5
    RECOVERY = 6


_STATE, _ERRORS, _FAILURE, _NOTE = 1, 2, 3, 4  # chosen: kinds from the process
_GOAL_LAYOUT = struct.Struct(f"<B{N}d")
_STATE_LAYOUT = struct.Struct(f"<BqqBBfI{4 * N}d")


@dataclass(frozen=True, slots=True)
class State:
    """The arm at one instant; arrays have shape (7,).

    Attributes:
        stamp_ns: When the process received it, on the host's monotonic clock, [ns].
        device_ms: The control unit's time of it, [ms].
        mode: Of the robot.
        is_streaming: The process commands the arm.
        success_rate: Share of the last 100 commands that came in time, 0 … 1.
        n_resets: How often the unit was elsewhere than commanded.
        q: Measured, [rad].
        dq: Measured, [rad/s].
        tau: External torques, [N·m].
        end: Where the arm comes to rest without further goals, [rad].
    """

    stamp_ns: int
    device_ms: int
    mode: Mode
    is_streaming: bool
    success_rate: float
    n_resets: int
    q: Vec
    dq: Vec
    tau: Vec
    end: Vec


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors by the maker's names; empty: none.

    Attributes:
        now: Of the robot.
        last: Of the last motion, and why it ended.
    """

    now: str
    last: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The process has ended, or could not begin."""

    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """An order that the robot refused."""

    text: str


News = State | Errors | Failure | Note


def pack_goal(q: Vec) -> bytes:
    """Return the message of a goal, shape (7,), [rad]."""
    return _GOAL_LAYOUT.pack(Order.GOAL, *q.tolist())


def pack_order(order: Order) -> bytes:
    """Return the message of an order without a goal."""
    return bytes((order,))


def unpack_order(data: bytes) -> tuple[Order, Vec | None]:
    """Return an order and its goal, shape (7,), [rad], if it has one.

    Raises:
        ValueError: If it is none.
    """
    order = Order(data[0])
    if order is not Order.GOAL:
        return order, None
    if len(data) != _GOAL_LAYOUT.size:
        raise ValueError(f"goal: expected {_GOAL_LAYOUT.size} bytes, got {len(data)}")
    return order, np.array(_GOAL_LAYOUT.unpack(data)[1:])


def pack_news(news: News) -> bytes:
    """Return the message of something new."""
    if isinstance(news, State):
        return _STATE_LAYOUT.pack(
            _STATE,
            news.stamp_ns,
            news.device_ms,
            news.mode,
            news.is_streaming,
            news.success_rate,
            news.n_resets,
            *news.q.tolist(),
            *news.dq.tolist(),
            *news.tau.tolist(),
            *news.end.tolist(),
        )
    if isinstance(news, Errors):
        return bytes((_ERRORS,)) + f"{news.now}\n{news.last}".encode()[: LONGEST - 1]
    if isinstance(news, Failure):
        return bytes((_FAILURE,)) + news.reason.encode()[: LONGEST - 1]
    return bytes((_NOTE,)) + news.text.encode()[: LONGEST - 1]


def unpack_news(data: bytes) -> News:
    """Return the content of a message of the process.

    Raises:
        ValueError: If it is none.
    """
    if data[0] == _STATE and len(data) == _STATE_LAYOUT.size:
        _, stamp, device, mode, streams, share, n, *rest = _STATE_LAYOUT.unpack(data)
        q, dq, tau, end = np.array(rest).reshape(4, N)
        return State(
            stamp, device, Mode(mode), bool(streams), share, n, q, dq, tau, end
        )
    text = data[1:].decode(errors="replace")
    if data[0] == _ERRORS:
        now, _, last = text.partition("\n")
        return Errors(now, last)
    if data[0] == _FAILURE:
        return Failure(text)
    if data[0] == _NOTE:
        return Note(text)
    raise ValueError(f"expected a message, got one of kind {data[0]}")
