"""Contents of a table, and the draft of a mapping."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from paprle_lab.conversion.coded_size import find_coded_size
from paprle_lab.conversion.tables.table_files import TableFile
from paprle_lab.conversion.tables.table_pictures import find_size

_SMALLEST = 16  # [px] chosen: a smaller array is a matrix
_COLUMNS = (  # spec: ACT, robomimic and UMI; chosen: other names of them
    (re.compile(r"(^|/)next_obs/|(^|/)(dones|rewards|states)$"), "", ""),
    (re.compile(r"(^|/)actions?$"), "action", ""),
    (re.compile(r"(^|/)(qvel|.*joint_vel\w*)$"), "observation.velocity", "rad/s"),
    (re.compile(r"(^|/)(effort|tau|.*torque\w*)$"), "observation.effort", "N·m"),
    (re.compile(r"(^|/)(qpos|.*joint_pos\w*)$"), "observation.state", "rad"),
    (re.compile(r"(^|/)\w*(eef|ee)_pos\w*$"), "observation.state", "m"),
    (re.compile(r"(^|/)\w*eef_rot_axis_angle$"), "observation.state", "rad"),
    (re.compile(r"(^|/)\w*(eef|ee)_quat\w*$"), "observation.state", ""),
    (re.compile(r"(^|/)\w*gripper_(width|qpos|pos)\w*$"), "observation.state", "m"),
)
_USUAL_FPS = 30


def list_contents(file: TableFile) -> Iterator[str]:
    """Yield lines on a file's episodes and arrays."""
    lengths = [episode.n for episode in file.episodes]
    rate = f" at {file.fps:g} Hz" if file.fps else ""
    yield (
        f"{file.path}: {len(lengths)} episodes of {min(lengths, default=0)} to "
        f"{max(lengths, default=0)} rows{rate}"
    )
    for name, array in _list_arrays(file).items():
        yield f"  {name:<44} {tuple(array.shape)} {array.dtype}"


def draft_table(file: TableFile) -> str:
    """Return the text of a mapping; CHECK marks guesses."""
    return "\n".join(_write(file)) + "\n"


def _write(file: TableFile) -> Iterator[str]:
    arrays = _list_arrays(file)
    sizes = {name: size for name in arrays if (size := _find_size(file, name))}
    told = "stated by the file" if file.fps else "CHECK: the file does not state it"
    yield f"# Drafted from {file.path.name} by paprle dataset inspect."
    yield "# CHECK marks guesses. Delete columns and cameras that are not wanted."
    yield f"fps: {round(file.fps) or _USUAL_FPS}  # {told}"
    yield 'robot_type: ""  # CHECK: such as ur5e'
    yield 'task: ""  # CHECK: an instruction, such as pick up the red cube'
    yield "columns:"
    numbers = {name: array for name, array in arrays.items() if name not in sizes}
    yield from _write_columns(numbers)
    if sizes:
        yield "cameras:"
    for name, size in sizes.items():
        camera = re.sub(r"_?(image|rgb)$", "", name.rsplit("/", 1)[-1]) or "camera"
        yield f"  {camera}: {{array: {json.dumps(name)}, size: {list(size)}}}"
    for name, array in numbers.items():
        if not _find_column(name, array)[0]:
            yield f"# not used: {name} {tuple(array.shape)} {array.dtype}"


def _write_columns(arrays: Mapping[str, Any]) -> Iterator[str]:
    columns = dict[str, list[str]]()
    for name in sorted(arrays, key=lambda one: (_rank(one), one)):
        column, unit = _find_column(name, arrays[name])
        if column:
            part = _write_part(name, unit, arrays[name])
            columns.setdefault(column, []).append(f"  - {part}  # CHECK")
    for column, lines in sorted(columns.items(), reverse=True):
        yield f"  {column}:"
        yield from lines
    if "action" not in columns and "observation.state" in columns:
        yield "  # CHECK: no actions were found: the next state is the action"
        yield "  action: {next_of: observation.state}"


def _list_arrays(file: TableFile) -> Mapping[str, Any]:
    return file.episodes[0].arrays if file.episodes else {}


def _rank(name: str) -> int:
    """Return the place within a column: joints, position, rotation, gripper."""
    forms = [form for form, *_ in _COLUMNS]
    return next((k for k, form in enumerate(forms) if form.search(name)), len(forms))


def _find_column(name: str, array: Any) -> tuple[str, str]:
    """Return the column of an array and its unit; empty: of none."""
    if array.dtype.kind not in "fiu":
        return "", ""
    return next(
        ((column, unit) for form, column, unit in _COLUMNS if form.search(name)),
        ("", ""),
    )


def _write_part(name: str, unit: str, array: Any) -> str:
    base = name.rsplit("/", 1)[-1]
    n = int(np.prod(array.shape[1:], dtype=int))
    names = [base] if n == 1 else [f"{base}.{k}" for k in range(n)]
    unit = f", unit: {json.dumps(unit, ensure_ascii=False)}" if unit else ""
    return f"{{array: {json.dumps(name)}, names: {json.dumps(names)}{unit}}}"


def _find_size(file: TableFile, name: str) -> tuple[int, int] | None:
    """Return height and width of an array's images, [px]; None: it has none."""
    array = file.episodes[0].arrays[name]
    size = find_size(array.shape[1:]) if array.ndim in {3, 4} else None
    if size is not None:
        is_image = array.ndim == 4 or array.dtype == np.uint8
        return size if is_image and min(size) >= _SMALLEST else None
    is_coded = array.dtype == object or (array.ndim == 2 and array.dtype == np.uint8)
    if not is_coded or not file.episodes[0].n:
        return None
    first = np.asarray(file.episodes[0].read(name, 0, 1)[0])
    is_bytes = first.dtype == np.uint8 and first.ndim == 1
    return find_coded_size(first.tobytes(), "") if is_bytes else None
