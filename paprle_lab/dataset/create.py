"""Creation of a data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import (
    ConfigError,
    MissingDependency,
    RecordingError,
)
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import Vec
from paprle.observation.columns import Columns
from paprle.observation.frame import StateFrame
from paprle.observation.joints import Style
from paprle.recording.header import robot_from_dict
from paprle.recording.reading import Reading
from paprle_lab.dataset.common import Common, DatasetFormat, Format
from paprle_lab.dataset.episodes import (
    ALL,
    EpisodeChoice,
    LeftOut,
    RecordingProgress,
    Robot,
    Selection,
    SourceRecording,
    choose,
    choose_rate,
    find_objects,
    find_recordings,
    find_sizes,
    list_exact,
    measures,
)
from paprle_lab.dataset.frames import EpisodeFrames
from paprle_lab.dataset.report import DatasetReport
from paprle_lab.dataset.staging_folder import OWN, StagingFolder

META = "meta"
FEWEST = 3  # chosen: fewer show no motion that a policy could learn
_STYLES: Mapping[str, Style] = {"lerobot": "lerobot", "hdf5": "aloha"}
_NEEDED = {"lerobot": ("pyarrow", "av"), "hdf5": ("h5py", "av")}
_TARGETS = {
    "lerobot": ("lerobot_target", "LerobotTarget"),
    "hdf5": ("hdf5", "AlohaTarget"),
}
_VERSION = 2


def create(
    places: Sequence[Path],
    out: Path,
    form: Format,
    *,
    fps: int | None = None,
    selection: Selection = ALL,
    work: Work = UNSEEN,
) -> DatasetReport:
    """Create or extend a data set.

    ``fps`` [Hz] is by default the slowest camera's, or 30.

    Returns:
        The report.

    Raises:
        ConfigError: If there are no recordings, or the data set differs.
        MissingDependency: If a package is missing.
    """
    load = _load_target(form)
    choice = _refuse(choose(find_recordings(places)), selection.refused)
    if choice.robot is None or not choice.sources:
        reasons = "; ".join(f"{path.name}: {why}" for path, why, _ in choice.left_out)
        raise ConfigError(
            f"dataset: expected an episode that was kept, got none: {reasons}"
        )
    with _hold(out) as stage:
        common = _find_common(choice, choice.robot, stage.own, form, fps)
        common = replace(
            common, keep_undriven=selection.keep_undriven, choice=selection.choice
        )
        _check_frames(common, stage.own)
        report = DatasetReport(common.fps)
        target = load(stage.root, common)
        _note_discarded(choice, stage.own, report)
        n_marked = sum(bool(source.marks) for source in choice.sources)
        if n_marked and form == "lerobot" and not common.has_marks:
            report.notes.append(
                f"subtasks and mistakes of {n_marked} recordings are left out: the set "
                "began without; make another one"
            )
        for what in list_exact(choice.robot) if form == "lerobot" else ():
            report.notes.append(f"{what} is left out; --format hdf5 has it")
        folders = _write_all(choice, stage, target, common, report, work)
        known = dict(stage.own.get("sources", {}))
        report.n_before = len(known)
        known |= {name: _read_summary(folder) for name, folder in folders.items()}
        for values in known.values():
            report.add(values)
        for column in common.columns.all:
            report.columns.setdefault(column.source, []).append(column.name)
        for camera in common.sizes:
            report.columns[camera] = [f"observation.images.{camera}"]
        if not known:
            return report
        meta = stage.begin_meta()
        totals = target.pack(meta, list(folders.values()), stage.own)
        report.n_episodes, report.n_frames = totals["n_episodes"], totals["n_frames"]
        _write_own(meta, common, known, totals)
        lines = "\n".join(report.lines())
        (meta / "report.txt").write_text(lines + "\n", encoding="utf-8")
        stage.finish_meta(meta)
    return report


def _refuse(choice: EpisodeChoice, refused: Mapping[Path, str]) -> EpisodeChoice:
    left_out = [
        LeftOut(one.path, refused[one.path], one.sha256)
        for one in choice.sources
        if one.path in refused
    ]
    return replace(
        choice,
        sources=tuple(one for one in choice.sources if one.path not in refused),
        left_out=(*choice.left_out, *left_out),
    )


def _load_target(form: Format) -> Callable[[Path, Common], DatasetFormat]:
    missing = [name for name in _NEEDED[form] if find_spec(name) is None]
    if missing:
        raise MissingDependency(
            f"dataset: expected the package '{missing[0]}', got none; install it with: "
            "pip install 'paprle[data]'"
        )
    module, name = _TARGETS[form]
    make: Callable[[Path, Common], DatasetFormat]
    make = getattr(import_module(f"paprle_lab.dataset.formats.{module}"), name)
    return make


@contextmanager
def _hold(out: Path) -> Iterator[StagingFolder]:
    try:
        with closing(StagingFolder(out, META)) as stage:
            yield stage
    except OSError as err:
        raise RecordingError(
            f"dataset '{out}': expected to write it, got {err}; what is whole stays: "
            "run it again when there is room"
        ) from err


def _find_common(
    choice: EpisodeChoice,
    robot: Robot,
    own: Mapping[str, Any],
    form: Format,
    fps: int | None,
) -> Common:
    if own:
        if own.get("version") != _VERSION:
            raise ConfigError(
                f"dataset: expected a data set of version {_VERSION}, got "
                f"{own.get('version')!r}; choose another --out"
            )
        rate, has_effort = int(own["fps"]), bool(own["has_effort"])
        objects = list(own["objects"])
    else:
        rate = fps or choose_rate(robot)
        has_effort = all(measures(source, "tau_meas") for source in choice.sources)
        objects = find_objects(choice.sources)
    columns = Columns(
        robot_from_dict(robot.header["robot"]),
        robot.urdf,
        _STYLES[form],
        has_effort=has_effort,
        objects=objects,
    )
    has_marks = any(source.marks for source in choice.sources)
    if own:
        has_marks = bool(own.get("has_marks", False))
    common = Common(robot, form, columns, find_sizes(robot), rate, has_marks=has_marks)
    if own:
        asked = _describe(common) | {"fps": fps or rate}
        different = [key for key, value in asked.items() if own.get(key) != value]
        if different:
            raise ConfigError(
                f"dataset: expected the {', '.join(different)} of the data set that is "
                "there, got others; choose another --out"
            )
    return common


def _check_frames(common: Common, own: Mapping[str, Any]) -> None:
    choice = own.get("images", "nearest") if own else common.choice
    if common.sizes and choice != common.choice:
        raise ConfigError(
            f"dataset: expected images chosen as in the data set that is there, got "
            f"--images {common.choice}; choose another --out, or --images {choice}"
        )
    if own and bool(own.get("keep_undriven", True)) != common.keep_undriven:
        has = "without" if common.keep_undriven else "with"
        raise ConfigError(
            "dataset: expected the frames of the data set that is there, which are "
            f"those {has} frames that nobody drove; choose another --out, or "
            f"{'leave out' if common.keep_undriven else 'add'} --keep-undriven"
        )


def _describe(common: Common) -> dict[str, Any]:
    described = {
        "version": _VERSION,
        "format": common.form,
        "fps": common.fps,
        "has_effort": common.columns.has_effort,
        "objects": common.columns.objects,
        "robot": common.columns.robot.name,
        "urdf_sha256": common.robot.urdf_sha256,
        "columns": [asdict(column) for column in common.columns.all],
        "cameras": common.sizes,
    }
    values: dict[str, Any] = json.loads(json.dumps(described))
    return values


def _note_discarded(
    choice: EpisodeChoice, own: Mapping[str, Any], report: DatasetReport
) -> None:
    report.left_out += choice.left_out
    known = own.get("sources", {})
    for path, reason, sha256 in choice.left_out:
        if sha256 and _name(sha256) in known:
            report.notes.append(
                f"{path}: {reason}, but after it became part of this data set, which "
                "still has it; make another one"
            )


def _name(sha256: str) -> str:
    return sha256[:16]


def _write_all(
    choice: EpisodeChoice,
    stage: StagingFolder,
    target: DatasetFormat,
    common: Common,
    report: DatasetReport,
    work: Work,
) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    work.note("packing recordings")
    progress = RecordingProgress(work, choice.sources)
    for source in progress.each():
        name = _name(source.sha256)
        if name in stage.own.get("sources", {}):
            continue
        if not name or name in folders:
            why = "a copy of another one" if name else "its manifest has no sha256"
            report.left_out.append(LeftOut(source.path, why, source.sha256))
            continue
        folder = stage.find(name)
        if folder is None:
            try:
                folder = _write_one(source, stage, target, common, progress)
            except RecordingError as err:
                report.left_out.append(LeftOut(source.path, str(err), source.sha256))
                continue
        folders[name] = folder
    return folders


def _write_one(
    source: SourceRecording,
    stage: StagingFolder,
    target: DatasetFormat,
    common: Common,
    progress: RecordingProgress,
) -> Path:
    part = stage.begin(_name(source.sha256))
    record = Reading(source.path).config.get("record") or {}
    frames = EpisodeFrames(
        source.path,
        common.fps,
        also=[
            *["tau_meas"] * common.columns.has_effort,
            *["objects"] * bool(common.columns.objects),
        ],
        depth=common.form == "hdf5",
        kept=source.kept,
        choice=common.choice,
    )
    common.columns.begin()
    try:
        counted = _count(frames, common.fps, progress)
        driven = _Driven(counted, keep_undriven=common.keep_undriven)
        n = target.write(part, source, _compute(driven, common.columns))
    except RecordingError:
        stage.abandon(part)
        raise
    if frames.problem or n < FEWEST:
        stage.abandon(part)
        problem = frames.problem or f"only {n} frames {driven.describe()}"
        raise RecordingError(problem)
    summary = {
        "file": source.path.name,
        "task": source.task,
        "outcome": source.outcome,
        "n_frames": n,
        "n_undriven": driven.n_left_out,
        "trimmed": frames.trimmed,
        "ended": frames.ended,
        "latency": record.get("latency"),
        "accounts": {name: one.to_dict() for name, one in frames.accounts.items()},
    }
    (part / OWN).write_text(json.dumps(summary), encoding="utf-8")
    return stage.finish(part)


class _Driven:
    def __init__(self, frames: Iterable[StateFrame], *, keep_undriven: bool) -> None:
        self._frames, self._keep_undriven = frames, keep_undriven
        self.n_left_out = 0

    def __iter__(self) -> Iterator[StateFrame]:
        for frame in self._frames:
            if self._keep_undriven or frame.driven.any():
                yield frame
            else:
                self.n_left_out += 1

    def describe(self) -> str:
        if not self.n_left_out:
            return "in which all sources tell"
        return f"that a leader drove, beside {self.n_left_out} that nobody drove"


def _count(
    frames: Iterable[StateFrame], fps: int, progress: RecordingProgress
) -> Iterator[StateFrame]:
    for k, frame in enumerate(frames):
        progress.count(k / fps)
        yield frame


def _compute(
    frames: Iterable[StateFrame], columns: Columns
) -> Iterator[tuple[StateFrame, dict[str, Vec]]]:
    for frame in frames:
        values = columns.compute(frame)
        broken = [name for name, v in values.items() if not np.isfinite(v).all()]
        if broken:
            raise RecordingError(
                f"expected numbers in {', '.join(broken)}, got NaN or infinity"
            )
        yield frame, values


def _read_summary(folder: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((folder / OWN).read_text(encoding="utf-8"))
    return summary


def _write_own(
    meta: Path,
    common: Common,
    sources: Mapping[str, Any],
    totals: Mapping[str, Any],
) -> None:
    own = _describe(common) | {
        "keep_undriven": common.keep_undriven,
        "images": common.choice,
        "has_marks": common.has_marks,
        "totals": totals,
        "sources": sources,
    }
    (meta / OWN).write_text(json.dumps(own, indent=1) + "\n", encoding="utf-8")
