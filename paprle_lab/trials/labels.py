"""Labels of a trial, such as user and task, and the index of a set: ``trials.csv``.

The index has a row a trial: ``path`` (from the index's own folder), ``kind`` (human or
robot: a robot's replay of a human motion), ``user``, ``task``, ``mode``, ``trial``.
More columns, such as those that ``paprle dataset index`` measures, are kept beside.
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
    """A motion with its labels; those that nobody gave are empty.

    Attributes:
        path: The log or recording.
        kind: ``human``, or ``robot`` for a robot's replay of a human motion.
        user: Pseudonym of who did it.
        task: For example ``square``.
        mode: How it was captured, for example ``arpose``.
        trial: Which of several alike.
        more: Other columns of the index.
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
        """The labels that repetitions share: kind, user, task, mode."""
        return self.kind, self.user, self.task, self.mode

    @property
    def name(self) -> str:
        """The labels that are there, as words."""
        words = (self.user, self.task, self.mode, self.trial)
        found = " ".join(filter(None, words)) or self.path.stem
        return f"{found} (robot)" if self.kind == "robot" else found


def normalise(word: str) -> str:
    """Return a label in one spelling: ``CV+IMU`` and ``cv_imu`` are the same."""
    return re.sub(r"[^0-9a-z]+", "_", word.strip().lower()).strip("_")


def guess_labels(path: Path) -> Trial:
    """Return a file that stands in no index with labels of its name.

    ``robot_2`` is the second replay by a robot, ``H3`` the third of the task ``h``; of
    the task before them are ``cup_robot_2`` and ``cup_H3``.

    Args:
        path: The file.

    Returns:
        The trial; a robot's need not have a task.
    """
    numbered = _NUMBERED.fullmatch(path.stem)
    task = normalise(numbered["task"] if numbered else path.stem)
    trial = numbered["trial"] if numbered else ""
    before, _, who = task.rpartition("_")
    if who == "robot" or (before and who in _WHO):
        task = before
    return Trial(path=path, kind=_WHO.get(who, "human"), task=task, trial=trial)


def is_index(path: Path) -> bool:
    """Return whether a path is an index or a folder with one."""
    return path.name == INDEX if path.is_file() else (path / INDEX).is_file()


def read_index(path: Path) -> list[Trial]:
    """Read an index.

    Args:
        path: The file, or its folder.

    Returns:
        Its trials, in order; their files need not be there.

    Raises:
        RecordingError: If it cannot be read; says every mistake.
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
    """Write the index of a folder, whole or not at all.

    Args:
        folder: Where it stands; paths are told from there.
        trials: The trials.

    Returns:
        The index.

    Raises:
        ConfigError: If it cannot be written.
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
    """Return a path relative to a folder, through its parents where need be."""
    for up, parent in enumerate((folder, *folder.parents)):
        if path.is_relative_to(parent):
            return "/".join([*[".."] * up, *path.relative_to(parent).parts])
    return str(path)


def find_by_layout(folder: Path, layout: str) -> list[Trial]:
    """Find the trials of a folder by how their paths are made of labels.

    Args:
        folder: Where to look, in all of it.
        layout: A path from there with labels in braces, for example
            ``{user}/{mode}/{task}_{trial}.csv``.

    Returns:
        Trials by path; without ``{kind}`` all are human.

    Raises:
        ConfigError: If the layout names no label, or an unknown one, or nothing fits.
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
    """Return the logs of ARBot in a folder that has no recordings, by name."""
    if not folder.is_dir() or any(folder.glob("*.mcap")):
        return []
    return [path for path in sorted(folder.glob("*.csv")) if is_arbot_csv(path)]


def list_trials(paths: Iterable[Path]) -> list[Trial]:
    """Return the trials that paths mean.

    Args:
        paths: An index, or files and folders of files that say by their names what
            they are.

    Returns:
        The trials.

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
