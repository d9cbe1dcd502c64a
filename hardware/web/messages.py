"""Messages of a page: strict JSON.

Units: [m], [ms] of the page's clock, quaternions x, y, z, w, axes of WebXR.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import TypeAdapter, ValidationError

from paprle.hardware.web.errors import MessageError

VERSION = 1
"""Of these messages; a page that was kept from another version is told to reload."""
MAX_BYTES = 4096  # spec: safety.md A7
_FAR = 100.0  # [m] chosen: no room is larger
_LONG = 1e12  # [ms] chosen: a page that is open for thirty years
NORM = (0.9, 1.1)  # spec: safety.md A6: quaternions of another length are refused
STRICT: Mapping[str, Any] = {
    "extra": "forbid",
    "strict": True,
    "allow_inf_nan": False,
}

Length = Annotated[float, Ge(-_FAR), Le(_FAR)]
QuaternionPart = Annotated[float, Ge(-NORM[1]), Le(NORM[1])]
Share = Annotated[float, Ge(0), Le(1)]
Count = Annotated[int, Ge(0), Le(2**31)]
Moment = Annotated[float, Ge(0), Le(_LONG)]
Name = Annotated[str, MinLen(1), MaxLen(32)]
Mode = Literal["all", "move", "turn"]
"""Part of a hand's motion that is passed on: all, its position, its orientation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandMessage:
    """A hand in a message.

    Attributes:
        p: [m].
        q: x, y, z, w.
        press: Current one's number, from 1.
        opening: 0 closed … 1 open.
        gap: Thumb to index, [m].
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    p: tuple[Length, Length, Length]
    q: tuple[QuaternionPart, QuaternionPart, QuaternionPart, QuaternionPart]
    tracked: bool
    held: bool
    press: Count
    opening: Share | None = None
    gap: Annotated[float, Ge(0), Le(_FAR)] | None = None

    def __post_init__(self) -> None:
        norm = math.sqrt(sum(part * part for part in self.q))
        if not NORM[0] <= norm <= NORM[1]:
            raise ValueError(f"a unit quaternion, got one of length {norm:g}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """Presses of buttons since the page's load."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    stop: Count = 0
    next_episode: Count = 0
    discard: Count = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleMessage:
    """Poses of the hands, and the operator's input.

    Attributes:
        seq: Rises in a connection.
        t: Capture, page's clock, [ms].
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["sample"]
    seq: Count
    t: Moment
    limbs: Annotated[Mapping[Name, HandMessage], MaxLen(2)]
    scale: Annotated[float, Gt(0), Le(2)] = 1.0
    mode: Mode = "all"
    actions: Counts = field(default_factory=Counts)
    battery: Share | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HelloMessage:
    """First message of a connection.

    Attributes:
        page: Constant over connections.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["hello"]
    version: Count
    page: Name
    device: Annotated[str, MaxLen(300)] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClockMessage:
    """The page's time, as an answer."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    type: Literal["clock"]
    id: Count
    t: Moment


Message = SampleMessage | HelloMessage | ClockMessage
_KINDS: Mapping[str, TypeAdapter[Any]] = {
    "sample": TypeAdapter(SampleMessage),
    "hello": TypeAdapter(HelloMessage),
    "clock": TypeAdapter(ClockMessage),
}


def parse_message(data: str | bytes) -> Message:
    """Return a page's message.

    Raises:
        MessageError: Invalid message.
    """
    message: Message = parse_kind(data, _KINDS)
    return message


def parse_kind(data: str | bytes, kinds: Mapping[str, TypeAdapter[Any]]) -> Any:
    """Return a message whose ``type`` is a key of ``kinds``.

    Raises:
        MessageError: Invalid message.
    """
    kind = parse_object(data).get("type")
    adapter = kinds.get(kind) if isinstance(kind, str) else None
    if adapter is None:
        raise MessageError(f"type: expected {', '.join(kinds)}")
    return validate(adapter, data)


def parse_object(data: str | bytes) -> dict[str, Any]:
    """Return a JSON object without repeated keys.

    Raises:
        MessageError: Something else.
    """
    if not isinstance(data, str) or len(data) > MAX_BYTES:
        raise MessageError(f"message: expected text of up to {MAX_BYTES} characters")
    try:
        parsed = json.loads(
            data, object_pairs_hook=_make_object, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as err:
        raise MessageError(f"message: expected JSON ({err})") from err
    if not isinstance(parsed, dict):
        raise MessageError("message: expected a JSON object")
    return parsed


def validate(adapter: TypeAdapter[Any], data: str | bytes) -> Any:
    """Return a message of one kind.

    Raises:
        MessageError: A field is missing, wrong or unknown.
    """
    try:
        return adapter.validate_json(data)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise MessageError(f"{where}: {first['msg']}") from err


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def write_message(kind: str, /, **members: object) -> str:
    """Return a message for a page."""
    return json.dumps({"type": kind, **members}, allow_nan=False)
