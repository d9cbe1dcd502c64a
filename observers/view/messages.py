"""Messages of a page, strict JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le, MaxLen, Predicate
from pydantic import TypeAdapter

from paprle.contracts.operator.actions import PAGE_ACTIONS
from paprle.contracts.reality_levels import Level
from paprle.hardware.web.messages import (
    STRICT,
    ClockMessage,
    Count,
    Moment,
    Name,
    parse_kind,
)

VERSION = 1
"""Of these messages; a page that was kept from another version is told to reload."""
_MOST = 64  # chosen: joints of the largest robot, twice
_FAR = 100.0  # [rad] or [m] chosen: no joint goes farther

Deflection = Annotated[float, Ge(-1), Le(1)]
Coordinate = Annotated[float, Ge(-_FAR), Le(_FAR)]
Action = Annotated[str, Predicate(PAGE_ACTIONS.__contains__)]
"""Actions that a page may request; quit is not among them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """First message: the page's name."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["hello"]
    version: Count
    page: Name


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """Take or release control."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["control"]
    wanted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Press:
    """Request of an action."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["press"]
    action: Action


@dataclass(frozen=True, kw_only=True, slots=True)
class Clutch:
    """Clutch of a limb."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["clutch"]
    limb: Name
    held: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelMessage:
    """Level between virtual and real, and whether cues are drawn."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["level"]
    level: Level
    cues: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceObject:
    """Placement of an object.

    Attributes:
        xyz: Upright frame in the world, [m]; None: nowhere.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["place"]
    name: Name
    xyz: tuple[Coordinate, Coordinate, Coordinate] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Task of the next episode."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["task"]
    text: Annotated[str, MaxLen(200)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """Note on the open episode, else on the last one."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["note"]
    text: Annotated[str, MaxLen(200)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Request of an episode's report."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["report"]
    episode: Name


@dataclass(frozen=True, kw_only=True, slots=True)
class LimbMessage:
    """Input for one limb.

    Attributes:
        jog: Deflections of x, y, z, roll, pitch, yaw and gripper.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    jog: tuple[
        Deflection, Deflection, Deflection, Deflection, Deflection, Deflection,
        Deflection,
    ]  # fmt: skip
    opening: Annotated[float, Ge(0), Le(1)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HandsMessage:
    """The operator's current input, sent with every frame.

    Attributes:
        seq: Rises with every message.
        t: On the page's clock, [ms].
        press: Number of its press, from 1.
        joints: [rad] or [m]; may be empty.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["hands"]
    seq: Count
    t: Moment
    held: bool
    press: Count
    limbs: Annotated[Mapping[Name, LimbMessage], MaxLen(_MOST)]
    joints: Annotated[
        tuple[Annotated[float, Ge(-_FAR), Le(_FAR)], ...], MaxLen(_MOST)
    ] = field(default=())


Message = (
    Hello
    | Control
    | Press
    | Clutch
    | LevelMessage
    | PlaceObject
    | Task
    | Note
    | Report
    | ClockMessage
    | HandsMessage
)
_KINDS: Mapping[str, TypeAdapter[Any]] = {
    "hello": TypeAdapter(Hello),
    "control": TypeAdapter(Control),
    "press": TypeAdapter(Press),
    "clutch": TypeAdapter(Clutch),
    "level": TypeAdapter(LevelMessage),
    "place": TypeAdapter(PlaceObject),
    "task": TypeAdapter(Task),
    "note": TypeAdapter(Note),
    "report": TypeAdapter(Report),
    "clock": TypeAdapter(ClockMessage),
    "hands": TypeAdapter(HandsMessage),
}


def parse(data: str | bytes) -> Message:
    """Return a message of a page's socket.

    Raises:
        MessageError: If it is invalid.
    """
    message: Message = parse_kind(data, _KINDS)
    return message
