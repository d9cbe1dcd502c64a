"""Labels of trials, and the index ``trials.csv``.

Its columns: ``path`` (relative to the index), ``kind``, ``user``, ``task``, ``mode``,
``trial``; others are kept.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.recording.exports import is_arbot_csv
from paprle_lab.evaluation.reporting.files import write_text

INDEX = "trials.csv"
LABELS = ("kind", "user", "task", "mode", "trial")
KINDS = ("human", "robot")
_FITS = {"trial": r"\d+"}  # so that s_shape_1 is trial 1 of s_shape
_NUMBERED = re.compile(r"(?P<task>.*?)[ _-]*(?P<trial>\d+)")
_WHO = {"robot": "robot", "human": "human", "h": "human"}
"""Kind by the last word of a name; ARBot's files are H1 and robot_1."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A motion with its labels.

    Attributes:
        kind: ``human``, or ``robot`` for a replay.
        mode: Capture method, such as ``arpose``.
        trial: Number of the repetition.
    """

    path: Path
    kind: str = "human"
    user: str = ""
    task: str = ""
    mode: str = ""
    trial: str = ""
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def group(self) -> tuple[str, str, str, str]:
        """Labels shared by repetitions."""
        return self.kind, self.user, self.task, self.mode

    @property
    def name(self) -> str:
        """The known labels as words."""
        words = (self.user, self.task, self.mode, self.trial)
        found = " ".join(filter(None, words)) or self.path.stem
        return f"{found} (robot)" if self.kind == "robot" else found


def normalise(word: str) -> str:
    """Return a normalised label: ``CV+IMU`` as ``cv_imu``."""
    return re.sub(r"[^0-9a-z]+", "_", word.strip().lower()).strip("_")


def guess_labels(path: Path) -> Trial:
    """Return a file with labels from its name.

    ``robot_2`` is a robot's second replay, ``H3`` the third of task ``h``;
    ``cup_robot_2`` and ``cup_H3`` name the task.
    """
    numbered = _NUMBERED.fullmatch(path.stem)
    task = normalise(numbered["task"] if numbered else path.stem)
    trial = numbered["trial"] if numbered else ""
    before, _, who = task.rpartition("_")
    if who == "robot" or (before and who in _WHO):
        task = before
    return Trial(path=path, kind=_WHO.get(who, "human"), task=task, trial=trial)


def is_index(path: Path) -> bool:
    """Return whether a path is an index."""
    return path.name == INDEX if path.is_file() else (path / INDEX).is_file()


def read_index(path: Path) -> list[Trial]:
    """Return the trials of an index.

    Raises:
        RecordingError: Listing all mistakes.
    """
    file = path / INDEX if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
        rows = csv.DictReader(io.StringIO(text), strict=True)
        heads = rows.fieldnames or ()
        missing = {"path", *LABELS} - set(heads)
        if missing:
            names = ", ".join(sorted(missing))
            raise RecordingError(f"{file}: expected an index of trials, no {names}")
        listed = [(rows.line_num, row) for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as err:
        raise RecordingError(f"{file}: expected an index of trials, got {err}") from err
    problems: list[str] = []
    trials = [_parse(file, line, row, problems) for line, row in listed]
    if problems:
        raise RecordingError("\n".join(problems))
    return trials


def _parse(
    file: Path, line: int, row: Mapping[str | None, str], problems: list[str]
) -> Trial:
    if None in row or None in row.values():
        problems.append(f"{file}:{line}: expected as many words as columns")
        return Trial(path=file)
    kind = normalise(row["kind"])
    if kind not in KINDS:
        problems.append(f"{file}:{line}: expected kind human or robot, got '{kind}'")
    if not row["path"]:
        problems.append(f"{file}:{line}: expected the path of a trial, got none")
    return Trial(
        path=file.parent / row["path"],
        kind=kind,
        user=row["user"].strip(),
        task=normalise(row["task"]),
        mode=normalise(row["mode"]),
        trial=row["trial"].strip(),
        more={
            key: value
            for key, value in row.items()
            if key is not None and key not in {"path", *LABELS}
        },
    )


def write_index(folder: Path, trials: Sequence[Trial]) -> Path:
    """Return the written index of a folder.

    Raises:
        ConfigError: If writing fails.
    """
    more = list(dict.fromkeys(key for trial in trials for key in trial.more))
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["path", *LABELS, *more])
    for one in trials:
        where = one.path.resolve()
        path = _tell_from(folder.resolve(), where)
        labels = [getattr(one, name) for name in LABELS]
        rows.writerow([path, *labels, *(one.more.get(key, "") for key in more)])
    write_text(folder / INDEX, text.getvalue())
    return folder / INDEX


def _tell_from(folder: Path, path: Path) -> str:
    for up, parent in enumerate((folder, *folder.parents)):
        if path.is_relative_to(parent):
            return "/".join([*[".."] * up, *path.relative_to(parent).parts])
    return str(path)


def find_by_layout(folder: Path, layout: str) -> list[Trial]:
    """Return the trials below a folder, labelled by paths.

    ``layout``: such as ``{user}/{mode}/{task}_{trial}.csv``.

    Raises:
        ConfigError: If a label is wrong or missing, or no file matches.
    """
    parts = re.split(r"\{(\w*)\}", layout)
    names = parts[1::2]
    unknown = sorted(set(names) - set(LABELS))
    if not names or unknown or len(set(names)) < len(names):
        raise ConfigError(
            f"--layout: expected labels of {', '.join(LABELS)} in braces, once each, "
            f"got '{layout}'"
        )
    pattern = "".join(
        rf"(?P<{part}>{_FITS.get(part, '[^/]+')})" if k % 2 else re.escape(part)
        for k, part in enumerate(parts)
    )
    found = []
    for path in sorted(folder.rglob("*")):
        match = re.fullmatch(pattern, path.relative_to(folder).as_posix())
        if match is not None and path.is_file():
            told = match.groupdict()
            found.append(
                Trial(
                    path=path,
                    kind=normalise(told.get("kind", "human")),
                    user=told.get("user", ""),
                    task=normalise(told.get("task", "")),
                    mode=normalise(told.get("mode", "")),
                    trial=told.get("trial", ""),
                )
            )
    if not found:
        raise ConfigError(f"{folder}: expected files '{layout}', got none")
    return found


def find_logs(folder: Path) -> list[Path]:
    """Return ARBot logs of a folder without recordings."""
    if not folder.is_dir() or any(folder.glob("*.mcap")):
        return []
    return [path for path in sorted(folder.glob("*.csv")) if is_arbot_csv(path)]


def list_trials(paths: Iterable[Path]) -> list[Trial]:
    """Return the trials of indices, files and folders.

    Raises:
        RecordingError: If an index cannot be read.
    """
    trials: list[Trial] = []
    for path in paths:
        if is_index(path):
            trials += read_index(path)
        else:
            trials += map(guess_labels, find_logs(path) or [path])
    return trials
