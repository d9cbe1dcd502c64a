"""Draft of a mapping, to be checked by whoever knows the robot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paprle_lab.conversion.bags.inspection import (
    SeenBag,
    SeenField,
    SeenTopic,
    is_one_clock,
)

_COMMANDS = re.compile(
    r"command|cmd|desired|target|goal|action|setpoint|reference|leader|master|servo",
    re.IGNORECASE,
)
_NOISE = re.compile(  # words of a camera's topic that are no name
    r"image_raw|image_rect|image_color|image|compressed|rgb|color|video|raw|rect|h264",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"covariance|transforms|^name$|layout|speed_scaling", re.IGNORECASE)
_JOINTS = re.compile(r"joint_?(pos|state)|qpos|robot_state", re.IGNORECASE)
_KINDS = (  # spec: sensor_msgs/JointState; chosen: other names of its fields
    (re.compile(r"^(joint_?)?(vel|velocity|velocities|dq|qd|qvel)$"), "velocity"),
    (re.compile(r"^(joint_?)?(effort|efforts|torque|torques|tau)$"), "effort"),
    (re.compile(r"^(joint_?)?(pos|position|positions|q|qpos|angles)$"), "state"),
)
_UNITS = {"state": "rad", "velocity": "rad/s", "effort": "N·m"}  # spec: REP-103
_USUAL_FPS = 30
_SLOWEST_FPS = 1


@dataclass(frozen=True)
class _Wanted:
    column: str
    topic: SeenTopic
    field: SeenField
    unit: str


def draft_mapping(bag: SeenBag) -> str:
    """Return the text of a mapping; CHECK marks guesses."""
    return "\n".join(_write(bag)) + "\n"


def _write(bag: SeenBag) -> Iterator[str]:
    cameras = _name_cameras(bag.topics)
    rates = [one.rate for one in cameras.values() if np.isfinite(one.rate)]
    fps = max(_SLOWEST_FPS, round(min(rates))) if rates else _USUAL_FPS
    yield f"# Drafted from {bag.path.name} by paprle dataset inspect."
    yield "# CHECK marks guesses. Delete columns and cameras that are not wanted."
    yield f"fps: {fps}  # {'of the slowest camera' if rates else 'no camera: chosen'}"
    yield 'robot_type: ""  # CHECK: such as ur5e'
    yield 'task: ""  # CHECK: an instruction, such as pick up the red cube'
    yield from _write_clock(bag.topics)
    yield "columns:"
    wanted = list(_choose(bag.topics))
    states = [one.field for one in wanted if one.column == "observation.state"]
    joints = states[0].labels if len(states) == 1 else ()
    for column in dict.fromkeys(one.column for one in wanted):
        parts = [one for one in wanted if one.column == column]
        first = parts[0].field
        is_unnamed = column == "action" and len(parts) == 1 and not first.labels
        if is_unnamed and len(joints) == len(first.names):
            yield "  # CHECK: names are those of the state, in its order"
            parts = [replace(parts[0], field=replace(first, labels=joints))]
        yield from _write_column(column, parts)
    names = {one.column for one in wanted}
    if "action" not in names and "observation.state" in names:
        yield "  # CHECK: no topic of commands was found: the next state is the action"
        yield "  action: {next_of: observation.state}"
    elif not names:
        yield "  # CHECK: no joints or poses were found; name a topic, such as"
        yield "  # observation.state:"
        yield "  # - {topic: /TOPIC, field: data, names: [a, b, c], unit: rad}"
    if cameras:
        yield "cameras:"
        for name, one in cameras.items():
            size = list(one.picture or ())
            yield f"  {name}: {{topic: {_quote(one.topic.name)}, size: {size}}}"
    used = {one.topic.topic.name for one in wanted}
    used |= {one.topic.name for one in cameras.values()}
    yield from _list_others([one for one in bag.topics if one.topic.name not in used])


def _write_clock(topics: Sequence[SeenTopic]) -> Iterator[str]:
    others = [one.topic.name for one in topics if not is_one_clock(one)]
    if others:
        yield f"clock: reception  # stamps of {', '.join(others)[:80]} are of another"
    else:
        yield "clock: header  # stamps of the senders; or reception"


def _choose(topics: Sequence[SeenTopic]) -> Iterator[_Wanted]:
    for one in topics:
        if one.picture is not None:
            continue
        is_command = bool(_COMMANDS.search(one.topic.name))
        is_plan = one.topic.kind.endswith("JointTrajectory")
        for found in one.fields:
            last = found.path[-1]
            if _ASIDE.search(".".join(found.path)):
                continue
            kind = _find_kind(one, found)
            if kind and not is_command and not is_plan:
                yield _Wanted(f"observation.{kind}", one, found, _UNITS[kind])
            elif kind == "state":
                yield _Wanted("action", one, found, _UNITS[kind])
            elif is_command and not kind:
                yield _Wanted("action", one, found, "")
            elif last in {"pose", "wrench", "position"} or "gripper" in one.topic.name:
                column = f"observation.{_slug(one.topic.name)}"
                yield _Wanted(column, one, found, "")


def _find_kind(topic: SeenTopic, field: SeenField) -> str:
    """Return the kind of a field of joints: state, velocity, effort, or none."""
    if not field.labels and not _JOINTS.search(topic.topic.name):
        return ""
    name = field.path[-1].lower()
    return next((kind for form, kind in _KINDS if form.match(name)), "")


def _write_column(column: str, parts: Sequence[_Wanted]) -> Iterator[str]:
    is_alone = len({one.topic.topic.name for one in parts}) == 1
    if column == "action" and not is_alone:
        yield "  # CHECK: several topics of commands; keep those that moved the robot"
    yield f"  {column}:"
    taken = set[str]()
    for one in parts:
        labels = one.field.labels or _name_numbers(one.field)
        prefix = _slug(one.topic.topic.name) + "."
        own = tuple(
            name if name not in taken or one.field.labels else prefix + name
            for name in labels
        )
        twice = [name for name in own if name in taken]
        lead = "  # CHECK: these joints are above, too: " if twice else "  "
        taken |= set(own)
        values = [
            f"topic: {_quote(one.topic.topic.name)}",
            f"field: {'.'.join(one.field.path)}",
            f"names: [{', '.join(_quote(name) for name in own)}]",
            f"unit: {_quote(one.unit)}" if one.unit else "",
        ]
        yield f"{lead}- {{{', '.join(filter(None, values))}}}"


def _name_numbers(field: SeenField) -> tuple[str, ...]:
    """Return names of numbers that their message does not name."""
    base = field.path[-1]
    return tuple(f"{base}.{name}" if name else base for name in field.names)


def _name_cameras(topics: Sequence[SeenTopic]) -> dict[str, SeenTopic]:
    """Return pictures by a camera's name; of one camera the topic with most."""
    chosen = dict[str, SeenTopic]()
    for one in topics:
        if one.picture is None:
            continue
        words = [
            _slug(_NOISE.sub("", part)) for part in one.topic.name.split("/") if part
        ]
        name = "_".join(dict.fromkeys(filter(None, words))) or "camera"
        before = chosen.get(name)
        if before is None or one.topic.n_messages > before.topic.n_messages:
            chosen[name] = one
    return chosen


def _list_others(topics: Sequence[SeenTopic]) -> Iterator[str]:
    if topics:
        yield "# not used:"
    for one in topics:
        fields = [
            f"{'.'.join(seen.path)} ({len(seen.names)} numbers)" for seen in one.fields
        ]
        told = one.topic.problem or ", ".join(fields)[:100]
        if one.picture is not None:
            told = "another topic of a camera above"
        yield f"#   {one.topic.name} [{one.topic.kind}] {told}".rstrip()


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()


def _quote(text: str) -> str:
    is_plain = re.fullmatch(r"[A-Za-z/][A-Za-z0-9_/.-]*", text)
    is_word = text.lower() in {"true", "false", "null", "yes", "no", "on", "off"}
    return text if is_plain and not is_word else json.dumps(text, ensure_ascii=False)
