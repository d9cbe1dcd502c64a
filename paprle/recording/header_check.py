"""Validation of a recording's untrusted header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)

from paprle.contracts.axes import N_AXES
from paprle.contracts.errors import RecordingError
from paprle.contracts.robot_info import JOINT_VECTORS
from paprle.contracts.settings.jerk import LONGEST_TURNING

_MAX_NAMES = 1000  # chosen: joints, limbs, objects; a humanoid with hands has some 60
_FAR_NS = 1 << 62  # chosen: [ns] 146 years
_LARGEST = 1e6  # chosen: [rad], [m] and their derivatives; no robot's limit is larger
_MAX_SIDE = 1 << 14  # chosen: [px] of an image; no camera of a robot has more
_NO_LIMIT = 1e12  # chosen: far above what switches a limit off, [rad/s³] of jerk

Name = Annotated[str, Field(max_length=200)]
Names = Annotated[list[Name], Field(max_length=_MAX_NAMES)]
Note = Annotated[str, Field(max_length=10_000)]  # chosen: a file's note is a line
Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
Numbers = Annotated[list[Number | None], Field(max_length=_MAX_NAMES)]
Limit = Annotated[float, Field(gt=0, le=_NO_LIMIT, allow_inf_nan=False)]
Limits = Annotated[list[Limit], Field(max_length=_MAX_NAMES)]
Section = dict[str, Any]
_Row = Annotated[list[Number], Field(min_length=3, max_length=3)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Limb(_Part):
    name: Name
    base_link: Name
    eef_link: Name
    joint_names: Names
    gripper: Section | None


class _RobotParts(_Part):
    name: Name
    urdf_path: str
    joint_names: Names
    limbs: Annotated[list[_Limb], Field(max_length=_MAX_NAMES)]
    mimics: Annotated[list[Section], Field(max_length=_MAX_NAMES)]


_VECTORS: dict[str, Any] = {
    row.name: (Limits | None, None) if row.is_optional else (Numbers, ...)
    for row in JOINT_VECTORS
}
_Robot = create_model("_Robot", __base__=_RobotParts, **_VECTORS)


class _Leader(_Part):
    limbs: Names
    joint_names: Annotated[dict[Name, Names], Field(max_length=_MAX_NAMES)]
    axes: Annotated[
        dict[Name, Annotated[Names, Field(max_length=N_AXES)]],
        Field(max_length=_MAX_NAMES),
    ] = {}
    axis_speeds: Annotated[list[Number | None], Field(max_length=3)] = []
    sampling: Annotated[list[str | Number], Field(max_length=2)] = []
    look_ahead: Annotated[float, Field(ge=0, le=_LARGEST)]


class _Pose(_Part):
    xyz: Annotated[list[Number], Field(min_length=3, max_length=3)]
    quat_xyzw: Annotated[list[Number], Field(min_length=4, max_length=4)]


class _Camera(_Part):
    type: Name
    video: Literal["h264", "jpeg", "none"]
    width: Annotated[int, Field(gt=0, le=_MAX_SIDE)]
    height: Annotated[int, Field(gt=0, le=_MAX_SIDE)]
    fps: Annotated[float, Field(gt=0, le=_LARGEST)]
    encoding: Literal["rgb8", "mono8", "depth16", "ids16", "jpeg", "png"]
    K: Annotated[list[_Row], Field(min_length=3, max_length=3)] | None
    distortion: Annotated[list[Number], Field(min_length=5, max_length=5)] = [0.0] * 5
    link: Name
    T_link_camera: _Pose
    depth_unit: Annotated[float, Field(ge=0, le=1.0)]


Cameras = Annotated[dict[Name, _Camera], Field(max_length=_MAX_NAMES)]


class _Header(_Part):
    leader: str
    follower: str
    env: str
    version: str = ""
    git_rev: str | None = None
    gate_period: Annotated[float, Field(gt=0, le=10.0)] | None = None
    wall_offset_ns: Annotated[int, Field(gt=-_FAR_NS, lt=_FAR_NS)]
    task: str | None = None
    session_episode: int | None = None
    objects: Names = []
    placed: Names = []
    cameras: Cameras = {}
    leader_notes: Annotated[list[Note], Field(max_length=_MAX_NAMES)] = []
    robot: _Robot  # type: ignore[valid-type] # made of a table
    leader_info: _Leader


class _Rates(_Part):
    rate: Annotated[float, Field(gt=0, le=_LARGEST)] | None = None


class _Config(_Part):
    session: _Rates | None = None
    gate: Section | None = None
    retarget: Section | None = None


_CAMERAS = TypeAdapter(Cameras)
_HEADER, _CONFIG = TypeAdapter(_Header), TypeAdapter(_Config)


def check_header(header: Mapping[str, Any], where: str) -> None:
    """Validate the header of a file.

    Raises:
        RecordingError: If a value is missing, of another type, or out of range.
    """
    _check(_HEADER, header, f"{where}: header")
    robot = header["robot"]
    n = len(robot["joint_names"])
    for name in _VECTORS:
        if len(robot.get(name) or [0] * n) != n:
            raise RecordingError(
                f"{where}: header robot.{name}: expected {n} numbers, got "
                f"{len(robot[name])}; the file was not written by paprle"
            )
    jerks = robot.get("dddq_max") or [None] * n
    for ddq, dddq in zip(robot["ddq_max"], jerks, strict=True):
        if dddq is None:
            continue
        if ddq is None or dddq < 2.0 * ddq / LONGEST_TURNING:
            raise RecordingError(
                f"{where}: header robot.dddq_max: expected at least twice ddq_max a "
                f"second, got {dddq:g}; the file was not written by paprle"
            )
    for low, high in zip(robot["q_min"], robot["q_max"], strict=True):
        if low is not None and high is not None and low > high:
            raise RecordingError(
                f"{where}: header robot.q_min: expected at most q_max, got {low:g} > "
                f"{high:g}; the file was not written by paprle"
            )


def check_cameras(cameras: Mapping[str, Any], where: str) -> None:
    """Validate a header's cameras.

    Raises:
        RecordingError: As ``check_header``.
    """
    _check(_CAMERAS, cameras, f"{where}: header cameras")


def check_config(config: Mapping[str, Any], where: str) -> None:
    """Validate a config's sections.

    Raises:
        RecordingError: If one has another type.
    """
    _check(_CONFIG, config, f"{where}: config")


def _check(adapter: TypeAdapter[Any], values: Mapping[str, Any], where: str) -> None:
    try:
        adapter.validate_python(dict(values))
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise RecordingError(
            f"{where} {name}: expected what paprle writes, got: {first['msg']}; the "
            "file is damaged, or of another program"
        ) from err
