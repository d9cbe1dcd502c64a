"""Messages of a page: JSON, checked to the last field, refused whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le, MaxLen, Predicate
from pydantic import TypeAdapter

from paprle.contracts.actions import PAGE_ACTIONS
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
    """The first message: which page speaks."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["hello"]
    version: Count
    page: Name


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """The operator takes control, or gives it back."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["control"]
    wanted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Press:
    """An action is asked for."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["press"]
    action: Action


@dataclass(frozen=True, kw_only=True, slots=True)
class Clutch:
    """A limb is to follow no leader, or to follow it again."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["clutch"]
    limb: Name
    held: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelMessage:
    """Chosen level between virtual and real, and whether cues are drawn."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["level"]
    level: Level
    cues: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceObject:
    """An object is somewhere.

    Attributes:
        name: Which.
        xyz: Where its frame is, upright, in the world, [m]; None: nowhere.
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
    """The operator's note on the open episode, else on the last one."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["note"]
    text: Annotated[str, MaxLen(200)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The report of an episode is asked for."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["report"]
    episode: Name


@dataclass(frozen=True, kw_only=True, slots=True)
class Play:
    """A film is to run or to stand still.

    Attributes:
        playing: It is to run.
        speed: How many times as fast as it was.
        t: From this time on, [s]; None: from where it is.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["play"]
    playing: bool
    speed: Annotated[float, Ge(0.1), Le(16)]
    t: Annotated[float, Ge(0)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LimbMessage:
    """Input for one limb.

    Attributes:
        jog: Deflections of x, y, z, roll, pitch, yaw and gripper.
        opening: Of the gripper, 0 … 1; None: as it is.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    jog: tuple[
        Deflection, Deflection, Deflection, Deflection, Deflection, Deflection,
        Deflection,
    ]  # fmt: skip
    opening: Annotated[float, Ge(0), Le(1)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HandsMessage:
    """The operator's input at this moment, sent with every frame.

    Attributes:
        seq: Rises with every message of a connection.
        t: When, on the page's clock, [ms].
        held: The dead-man is held.
        press: Number of the press that holds it, counted from 1.
        limbs: Limbs that are to move; the others hold.
        joints: Positions of the robot's joints, [rad] or [m]; empty if not given.
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
    | Play
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
    "play": TypeAdapter(Play),
    "clock": TypeAdapter(ClockMessage),
    "hands": TypeAdapter(HandsMessage),
}


def parse(data: str | bytes) -> Message:
    """Parse a message of a page.

    Args:
        data: One message of its socket.

    Returns:
        The message.

    Raises:
        MessageError: If it is none of these.
    """
    message: Message = parse_kind(data, _KINDS)
    return message
