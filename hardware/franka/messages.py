"""Packets between a driver and its process, kind first."""

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
    """The arm at one instant, shape (7,).

    Attributes:
        stamp_ns: Receipt, monotonic, [ns].
        device_ms: The unit's time, [ms].
        success_rate: Of the last 100 commands, 0 … 1.
        n_resets: Deviations from commands.
        q: Measured, [rad].
        dq: Measured, [rad/s].
        tau: External, [N·m].
        end: Rest without goals, [rad].
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
        last: End of the last motion.
    """

    now: str
    last: str


@dataclass(frozen=True, slots=True)
class Failure:
    """End or failed start of the process.

    Attributes:
        version: Of a unit's protocol that is not the model's; 0: none.
    """

    reason: str
    version: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A refused order."""

    text: str


News = State | Errors | Failure | Note


def pack_goal(q: Vec) -> bytes:
    """Return a goal's packet, shape (7,), [rad]."""
    return _GOAL_LAYOUT.pack(Order.GOAL, *q.tolist())


def pack_order(order: Order) -> bytes:
    """Return another order's packet."""
    return bytes((order,))


def unpack_order(data: bytes) -> tuple[Order, Vec | None]:
    """Return an order and its goal, shape (7,), [rad], if any.

    Raises:
        ValueError: Invalid packet.
    """
    order = Order(data[0])
    if order is not Order.GOAL:
        return order, None
    if len(data) != _GOAL_LAYOUT.size:
        raise ValueError(f"goal: expected {_GOAL_LAYOUT.size} bytes, got {len(data)}")
    return order, np.array(_GOAL_LAYOUT.unpack(data)[1:])


def pack_news(news: News) -> bytes:
    """Return news as a packet."""
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
        return bytes((_FAILURE, news.version)) + news.reason.encode()[: LONGEST - 2]
    return bytes((_NOTE,)) + news.text.encode()[: LONGEST - 1]


def unpack_news(data: bytes) -> News:
    """Return a packet's content.

    Raises:
        ValueError: Invalid packet.
    """
    if data[0] == _STATE and len(data) == _STATE_LAYOUT.size:
        _, stamp, device, mode, streams, share, n, *rest = _STATE_LAYOUT.unpack(data)
        q, dq, tau, end = np.array(rest).reshape(4, N)
        return State(
            stamp, device, Mode(mode), bool(streams), share, n, q, dq, tau, end
        )
    if data[0] == _FAILURE:
        return Failure(data[2:].decode(errors="replace"), data[1])
    text = data[1:].decode(errors="replace")
    if data[0] == _ERRORS:
        now, _, last = text.partition("\n")
        return Errors(now, last)
    if data[0] == _NOTE:
        return Note(text)
    raise ValueError(f"expected a message, got one of kind {data[0]}")
