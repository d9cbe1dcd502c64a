"""A checked motion from any file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.recorded.quantities import (
    check_joints,
    doubt_assumed,
    doubt_opening,
    guess_units,
)
from paprle.contracts.types import RobotInfo
from paprle.leaders.offline.checks import (
    MOST_ROWS,
    MOST_TIME,
    clean,
    find_loss,
    find_own_joints,
)
from paprle.leaders.offline.config import ColumnSettings, OfflineConfig
from paprle.leaders.offline.readers.arrays import read_npz
from paprle.leaders.offline.readers.decode import read_whole
from paprle.leaders.offline.readers.text import Limb, read_text
from paprle.leaders.offline.track import Rows, RowTrack
from paprle.recording.others.adaptix import AdaptixFrame, is_adaptix


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMotion:
    """A motion to play.

    Attributes:
        tracks: By limb; time 0 is the first row of all.
        absolute: Limbs with poses in the follower's base.
        period: Longest median time between rows, [s].
        begin: File time at play time 0, [s].
    """

    tracks: Mapping[str, RowTrack]
    notes: tuple[str, ...]
    absolute: frozenset[str]
    period: float
    robot: str = ""
    axis_speeds: AxisSpeeds = AxisSpeeds()
    begin: float = 0.0
    frames: tuple[AdaptixFrame, ...] = ()


def load_motion(
    config: OfflineConfig, robot: RobotInfo | None = None
) -> RecordedMotion:
    """Return the checked motion of all files.

    Raises:
        ConfigError: If files do not match the config.
        DeviceError: If a file is unreadable, or has no motion.
    """
    limbs, notes, periods, tracks = {}, [], [], {}
    for path, found in _read_files(config):
        for name, limb in found.items():
            rows, breaks, counts = clean(limb.rows, config.max_gap, robot)
            what = f"{path.name} ({name})" if len(found) > 1 else path.name
            notes.append(_describe(what, limb, limb.counts + counts))
            if len(rows.t) < 2:
                raise DeviceError(
                    f"{path}: expected rows of motion closer than {config.max_gap:g} s "
                    f"to each other, got none for limb '{name}' ({notes[-1]}); "
                    f"{_say_units(limb, config)}, leader.max_gap bridges longer gaps"
                )
            _check_frame(path, limb, config)
            doubts = list(limb.doubts)
            if limb.is_assumed:
                doubts += _check_joints(path, limb.rows, robot)
            if not config.allow_loss:
                loss = find_loss(rows, breaks, limb.counts + counts, limb.n_lines)
                _check_loss(
                    path, limb, loss, f"{notes[-1]}; {_say_units(limb, config)}"
                )
            notes += [f"{what}: {limb.told}"] if limb.told else []
            doubts.append(doubt_opening(limb.rows.opening))
            notes += [f"CHECK: {what}: {doubt}" for doubt in doubts if doubt]
            limbs[name] = limb
            tracks[name] = (rows, breaks)
            periods.append(float(np.median(np.diff(rows.t))))
    moved = {n: rows for n, (rows, _) in tracks.items() if rows.axes is None}
    kinds = {name: rows.q is None for name, rows in moved.items()}
    if len(set(kinds.values())) > 1:
        raise ConfigError(
            "leader.paths: expected poses for all limbs or joints for all, got "
            f"{ {name: 'poses' if pose else 'joints' for name, pose in kinds.items()} }"
        )
    begins = _begins({name: (r.t[0], r.t[-1]) for name, (r, _) in tracks.items()})
    if len(set(begins.values())) > 1:
        notes.append("the files do not overlap in time: each starts at its first row")
    frames = next(iter(limbs.values())).frames
    if config.hook and not frames:
        raise ConfigError(
            "leader.hook: expected a recording of AdaptiX, whose frames it is called "
            f"with, got {notes[0]}; leave it out"
        )
    return RecordedMotion(
        tracks={
            name: RowTrack(replace(rows, t=rows.t - begins[name]), breaks)
            for name, (rows, breaks) in tracks.items()
        },
        notes=tuple(notes),
        absolute=frozenset(name for name, limb in limbs.items() if limb.is_absolute),
        period=max(periods),
        robot=_find_robot(limbs.values()),
        axis_speeds=next(iter(limbs.values())).axis_speeds,
        begin=next(iter(begins.values())),
        frames=frames,
    )


def _say_units(limb: Limb, config: OfflineConfig) -> str:
    units = config.units
    lengths = "" if limb.rows.p is None else f", positions in [{units.length or 'm'}]"
    is_named = bool(units.time or units.length)
    guess = "" if is_named else guess_units(limb.rows.t, limb.rows.p, config.max_gap)
    said = f"stamps are in [{units.time or 's'}]{lengths} (leader.units)"
    return f"{said}; {guess}" if guess else said


def _check_joints(path: Path, rows: Rows, robot: RobotInfo | None) -> list[str]:
    """Refuse joints that cannot be in [rad]; return the doubt about others."""
    if rows.q is None:
        return []
    own = find_own_joints(rows.joint_names, robot)
    names = [rows.joint_names[i] for i in own]
    check_joints(path, names, rows.q[:, own])
    return [doubt_assumed(names, rows.q[:, own])]


def _check_frame(path: Path, limb: Limb, config: OfflineConfig) -> None:
    if config.frame == "absolute" and not limb.has_orientation:
        raise ConfigError(
            f"{path}: expected an orientation for leader.frame=absolute, got positions "
            "alone; name its columns (leader.columns), or leader.frame=relative"
        )


def _check_loss(path: Path, limb: Limb, loss: tuple[float, float], why: str) -> None:
    rows, time = loss
    if rows <= MOST_ROWS and (time <= MOST_TIME or limb.has_pauses):
        return
    raise ConfigError(
        f"{path}: expected at most {MOST_ROWS:.0%} of the rows and {MOST_TIME:.0%} of "
        f"the time to be lost, got {rows:.0%} and {time:.0%} ({why}); mend the file, "
        "or play what is left with leader.allow_loss=true"
    )


def _find_robot(limbs: Iterable[Limb]) -> str:
    robots = {limb.robot for limb in limbs}
    return robots.pop() if len(robots) == 1 else ""


def _read_files(config: OfflineConfig) -> list[tuple[Path, dict[str, Limb]]]:
    if (config.path is None) == (not config.paths):
        raise ConfigError(
            "leader.path: expected the file to play (or leader.paths, one per limb), "
            f"got {'both' if config.paths else 'neither'}"
        )
    paths = (
        [Path(config.path)] if config.path else list(map(Path, config.paths.values()))
    )
    missing = [
        f"leader.path: expected a file or a bag, got none at '{path}'"
        for path in paths
        if not path.is_file() and not (path / "metadata.yaml").is_file()
    ]
    if missing:
        raise ConfigError(missing)
    if config.path is not None:
        return [(paths[0], _read(paths[0], config.limbs or (config.limb,), config))]
    single = replace(config, limbs=())
    return [
        (Path(path), _read(Path(path), (name,), single))
        for name, path in config.paths.items()
    ]


def _read(path: Path, names: tuple[str, ...], config: OfflineConfig) -> dict[str, Limb]:
    # Imported here: only these kinds of files need the recording's libraries.
    if path.suffix not in {".csv", ".npz", ".txt"}:
        from paprle.leaders.offline.readers.bags import read_bag  # noqa: PLC0415
        from paprle.recording.others.bags import is_bag  # noqa: PLC0415

        if is_bag(path):
            return read_bag(path, names, config)
    if path.suffix == ".mcap":
        from paprle.leaders.offline.episodes import read_episode  # noqa: PLC0415

        limbs = read_episode(path)
        is_single = len(limbs) == len(names) == 1
        return dict(zip(names, limbs.values(), strict=True)) if is_single else limbs
    if path.suffix == ".csv" and config.columns == ColumnSettings():
        from paprle.leaders.offline.readers.adaptix import read_adaptix  # noqa: PLC0415

        text = read_whole(path).text
        if is_adaptix(text):
            return {names[0]: read_adaptix(path, text, config)}
    read = read_npz if path.suffix == ".npz" else read_text
    return dict(zip(names, read(path, names, config), strict=True))


def _begins(spans: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return time 0 by limb: common, if the clocks may agree."""
    first = min(begin for begin, _ in spans.values())
    if max(begin for begin, _ in spans.values()) < min(
        end for _, end in spans.values()
    ):
        return dict.fromkeys(spans, first)
    return {name: begin for name, (begin, _) in spans.items()}


def _describe(what: str, limb: Limb, counts: Counter[str]) -> str:
    parts = [f"{limb.n_lines} rows"]
    parts += [f"{n} {kind}" for kind, n in counts.items() if n]
    return f"{what}: {', '.join(parts)}"
