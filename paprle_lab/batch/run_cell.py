"""Run of one cell."""

from __future__ import annotations

import faulthandler
import gc
import json
import tempfile
import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from paprle.config import resolve
from paprle.contracts.errors import ConfigError, PaprleError
from paprle.hosts.exit_codes import EXIT_CODES, NOT_FOLLOWED, NOT_RECORDED
from paprle.hosts.virtual import VirtualSession
from paprle_lab.batch.cells import Cell, find_versions
from paprle_lab.batch.figures import make_row
from paprle_lab.batch.result_store import ResultStore
from paprle_lab.batch.sources import fetch, hash_anew, hash_file, is_address
from paprle_lab.dataset.create import create
from paprle_lab.evaluation.episode import EpisodeResult, measure_episode

Json = dict[str, Any]

MARK = "mark"
"""File by which a worker knows that it sees the place of the results."""
DONE, REFUSED, FAILED, LOST = "done", "refused", "failed", "lost"
"""Ends of a cell; LOST: its worker died each time."""


def do_job(job: Mapping[str, Any]) -> Json:
    """Run a cell, and write its part on success.

    Args:
        job: ``cell``, ``address`` of the results, its ``mark``, ``versions``, and
            ``time_limit`` until the process ends, [s].

    Returns:
        ``index``, ``status``, ``error``, ``robot_s`` and ``core_s``, [s].
    """
    began = time.process_time()
    cell = Cell.from_dict(job["cell"])
    status, error, robot_s = DONE, None, 0.0
    faulthandler.dump_traceback_later(job["time_limit"], exit=True)
    try:
        place = _enter(job)
        with tempfile.TemporaryDirectory(prefix="paprle-") as folder:
            words = _bring_files(cell, Path(folder))
            row = _WORK[cell.work](replace(cell, words=words), place)
        robot_s = row.get("duration_s") or 0.0
        place.write(name_part(cell.index, DONE), encode_part(cell, DONE, None, row))
    except ConfigError as err:
        status, error = REFUSED, str(err)
    except PaprleError as err:
        status, error = FAILED, str(err)
    except Exception:  # noqa: BLE001 - one cell is never the end of a batch
        status, error = FAILED, traceback.format_exc(limit=-4)
    finally:
        faulthandler.cancel_dump_traceback_later()
    _forget()
    return {
        "index": cell.index,
        "status": status,
        "error": error,
        "robot_s": robot_s,
        "core_s": time.process_time() - began,
    }


def _forget() -> None:
    """Free the cell's reference cycles, about 0.2 MB each."""
    gc.collect()
    _spare_the_rest()


@cache
def _spare_the_rest() -> None:
    gc.freeze()


def _enter(job: Mapping[str, Any]) -> ResultStore:
    place = ResultStore(job["address"])
    mark = place.read(MARK)
    if mark is None or mark.decode() != job["mark"]:
        raise ConfigError(
            f"results: expected '{place.address}' to be the same place on all hosts, "
            "got a host that does not see it; give one that all see, or s3://…"
        )
    if job["versions"] != find_versions():
        differ = [
            f"{name} {job['versions'].get(name)} and {own}"
            for name, own in find_versions().items()
            if job["versions"].get(name) != own
        ]
        raise ConfigError(
            f"results: expected the same versions on all hosts, got {', '.join(differ)}"
        )
    return place


def _bring_files(cell: Cell, folder: Path) -> tuple[str, ...]:
    sources = () if cell.work == "session" else cell.words  # the others are settings
    elsewhere = filter(is_address, dict.fromkeys((*cell.files, *sources)))
    copies = {one: fetch(one, folder / str(k)) for k, one in enumerate(elsewhere)}
    for path, expected in cell.files.items():
        if path not in copies and not Path(path).is_file():
            raise ConfigError(f"'{path}': expected the file of the plan, got none here")
        copy = copies.get(path)
        if (hash_anew(str(copy)) if copy else hash_file(path)) != expected:
            raise ConfigError(f"'{path}': expected the file of the plan, got another")
    words = []
    for word in cell.words:
        key, is_setting, value = word.partition("=")
        if cell.work == "session" and value in copies:
            words.append(f"{key}{is_setting}{copies[value]}")
        else:
            words.append(str(copies.get(word, word)))
    return tuple(words)


def _run_session(cell: Cell, place: ResultStore) -> Json:
    with tempfile.TemporaryDirectory(prefix="paprle-") as folder:
        words = ["session.clock=virtual", "session.episodes=1", f"record.dir={folder}"]
        session = VirtualSession(
            resolve([*cell.words, *words]), say=lambda _: None, is_thrown_away=True
        )
        if session.plan.layout.leader.is_human:
            session.close()
            raise ConfigError(
                f"leader '{cell.leader}': expected one that goes by itself, got one "
                "that a person holds"
            )
        end_reason = session.run()
        code = EXIT_CODES.get(end_reason, 1)
        if code == 0 and session.was_left:
            code = NOT_FOLLOWED
        recorder = session.recorder
        if code == 0 and recorder is not None and recorder.losses:
            code = NOT_RECORDED
        row: Json = {"exit_code": code, "session_end": end_reason}
        paths = sorted(Path(folder).glob("*.mcap"))
        if not paths:
            return row
        row |= _measure(paths[-1])
        if cell.keeps:
            place.put(Path(folder), f"recordings/{cell.index:07d}")
        return row


def _measure(path: Path) -> Json:
    measured: EpisodeResult = measure_episode(path)
    if measured.entry["error"] is not None:
        raise ConfigError(str(measured.entry["error"]))
    return make_row(measured)


def _evaluate(cell: Cell, place: ResultStore) -> Json:  # noqa: ARG001 - all work is asked so
    (path,) = cell.words
    return {"exit_code": 0, **_measure(Path(path))}


def _create_dataset(cell: Cell, place: ResultStore) -> Json:
    (source,) = cell.words
    with tempfile.TemporaryDirectory(prefix="paprle-") as folder:
        out = Path(folder) / "data"
        report = create([Path(source)], out, cell.form)  # type: ignore[arg-type]
        place.put(out, f"datasets/{cell.index:07d}")
    return {
        "exit_code": 0 if report.n_episodes else 1,
        "n_episodes": report.n_episodes,
        "n_frames": report.n_frames,
    }


_WORK = {"session": _run_session, "evaluate": _evaluate, "dataset": _create_dataset}


def name_part(index: int, status: str) -> str:
    """Return the file name of a cell's part."""
    return f"parts/{index:07d}.{'json' if status == DONE else 'failed.json'}"


def encode_part(
    cell: Cell, status: str, error: str | None, row: Mapping[str, Any]
) -> bytes:
    """Return a cell's row as JSON."""
    names = {
        key: value
        for key, value in cell.to_dict().items()
        if key not in {"words", "files", "keeps"}
    }
    told = {**names, "status": status, "error": error, **row}
    return json.dumps(told, allow_nan=False, sort_keys=True).encode()
