"""Schema of ARBot's data set (section 4.1.4).

132 human trajectories: 11 users × 3 shapes × 2 modes (A), 11 users × 3 rectangles × 2
modes (B), at 30.1 Hz, with 5 to 7 % repeated stamps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.recording.exports import read_arbot_csv
from paprle_lab.trials.labels import Trial, is_index, read_index
from paprle_lab.trials.log import GAP, Quality, hash_file, measure_quality

N_USERS = 11
SHAPES = ("square", "circle", "s_shape")
RECTANGLE = "rectangle"
TRIALS = ("1", "2", "3")
MODES = ("arpose", "cv_imu")
RATE = 100.0  # [Hz] spec: ARBot, section 4.1.4
_NEAR = 0.9  # chosen: share of the declared rate below which it is told
MEASURED = ("rows", "seconds", "rate_hz", "duplicates", "longest_gap_s", "sha256")


class SchemaFinding(NamedTuple):
    """A finding on a data set."""

    where: str
    kind: str
    text: str
    is_fault: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.kind}{'' if self.is_fault else ' (note)'}: " + (
            self.text
        )


def list_cells(users: Sequence[str]) -> set[tuple[str, str, str, str]]:
    """Return all (user, task, mode, trial); shapes have trial ""."""
    shapes = product(users, SHAPES, MODES, [""])
    return {*shapes, *product(users, [RECTANGLE], MODES, TRIALS)}


def index_trials(trials: Sequence[Trial]) -> list[Trial]:
    """Return labelled files with the columns ``MEASURED``.

    Raises:
        RecordingError: Listing unreadable files.
    """
    problems, found = [], []
    for one in trials:
        try:
            quality = measure_quality(read_arbot_csv(one.path))
        except RecordingError as err:
            problems.append(str(err))
            continue
        found.append(replace(one, more=_tell_quality(quality, hash_file(one.path))))
    if problems:
        raise RecordingError("\n".join(problems))
    return found


def _tell_quality(quality: Quality, sha256: str) -> dict[str, str]:
    return {
        "rows": str(quality.rows),
        "seconds": f"{quality.seconds:.3f}",
        "rate_hz": f"{quality.rate_hz:.2f}",
        "duplicates": str(quality.duplicates),
        "longest_gap_s": f"{quality.longest_gap_s:.3f}",
        "sha256": sha256,
    }


def check_set(path: Path, work: Work = UNSEEN) -> tuple[list[SchemaFinding], str]:
    """Return findings by ARBot's schema, and a summary line.

    Raises:
        RecordingError: If the index is missing or unreadable.
    """
    if not is_index(path):
        raise RecordingError(
            f"{path}: expected a folder with an index; make one: paprle dataset index "
            f"{path} --layout '{{user}}/{{mode}}/{{task}}_{{trial}}.csv'"
        )
    trials = read_index(path)
    human = [one for one in trials if one.kind == "human"]
    findings = list(_check_cells(str(path), human))
    seen: dict[str, Trial] = {}
    rates: list[float] = []
    for k, one in enumerate(trials):
        work.count(k, len(trials), "trials")
        findings += _check_file(one, seen, rates)
    told = f"{len(human)} human trajectories, {len(trials) - len(human)} replays"
    if rates:
        told += f"; real rates {min(rates):.1f} … {max(rates):.1f} Hz"
    return findings, told


def _cell(one: Trial) -> tuple[str, str, str, str]:
    return one.user, one.task, one.mode, "" if one.task in SHAPES else one.trial


def _check_cells(where: str, trials: Sequence[Trial]) -> Iterator[SchemaFinding]:
    users = sorted({one.user for one in trials})
    if len(users) != N_USERS:
        text = f"expected {N_USERS} users, got {len(users)}: {', '.join(users)}"
        yield SchemaFinding(where, "users", text)
    wanted, there = list_cells(users), Counter(map(_cell, trials))
    missing = sorted(wanted - set(there))
    if missing:
        names = [" ".join(filter(None, cell)) for cell in missing]
        some = ", ".join(names[:6]) + (" …" if len(names) > 6 else "")
        yield SchemaFinding(
            where, "missing", f"{len(missing)} of {len(wanted)}: {some}"
        )
    for one in trials:
        if _cell(one) not in wanted:
            yield SchemaFinding(
                str(one.path),
                "label",
                f"'{one.name}' is no trial of the schema: tasks {', '.join(SHAPES)}, "
                f"{RECTANGLE} with trial 1 … 3, modes {', '.join(MODES)}",
            )
    for cell, n in sorted(there.items()):
        if n > 1:
            yield SchemaFinding(
                where, "twice", f"{' '.join(filter(None, cell))}: {n} files"
            )


def _check_file(
    one: Trial, seen: dict[str, Trial], rates: list[float]
) -> Iterator[SchemaFinding]:
    where = str(one.path)
    try:
        quality = measure_quality(read_arbot_csv(one.path))
        digest = hash_file(one.path)
    except (RecordingError, OSError) as err:
        yield SchemaFinding(where, "unreadable", str(err))
        return
    if quality.rows < 2:
        yield SchemaFinding(where, "empty", f"{quality.rows} rows")
        return
    rates.append(quality.rate_hz)
    if digest in seen:
        yield SchemaFinding(where, "copy", f"the same bytes as {seen[digest].path}")
    seen.setdefault(digest, one)
    listed = one.more.get("sha256")
    if listed and listed != digest:
        yield SchemaFinding(
            where, "changed", "not the file of the index (SHA-256 differs)"
        )
    yield from _judge(where, quality)


def _judge(where: str, quality: Quality) -> Iterator[SchemaFinding]:
    for text in quality.units:
        yield SchemaFinding(where, "units", text)
    if quality.disorder:
        yield SchemaFinding(where, "disorder", f"{quality.disorder} stamps go back")
    if quality.gaps:
        text = (
            f"{quality.gaps} longer than {GAP} s, up to {quality.longest_gap_s:.2f} s"
        )
        yield SchemaFinding(where, "gaps", text)
    if quality.duplicates:
        share = 100.0 * quality.duplicates / quality.rows
        text = f"{quality.duplicates} rows ({share:.1f} %) repeat a stamp"
        yield SchemaFinding(where, "duplicates", text, is_fault=False)
    if quality.rate_hz < _NEAR * RATE:
        text = f"{quality.rate_hz:.1f} Hz, the paper says {RATE:g} Hz"
        yield SchemaFinding(where, "rate", text, is_fault=False)
