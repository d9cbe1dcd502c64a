"""The report: figures of episodes as JSON, and an HTML page.

An entry holds the worst limb's figures (largest raw RMSE) and all ``limbs``; unmeasured
keys are null, with a reason in ``notes``.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from paprle.contracts.errors import MissingDependency
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.recording.others.bags import is_bag
from paprle_lab.evaluation.bags import BagTopics, measure_bag
from paprle_lab.evaluation.episode import EpisodeResult, measure_episode
from paprle_lab.evaluation.groups import compare
from paprle_lab.evaluation.reporting.camera_strips import list_camera_strips
from paprle_lab.evaluation.reporting.comparison import compare_in_text
from paprle_lab.evaluation.reporting.files import name_report, write_text
from paprle_lab.evaluation.reporting.moments import describe_moments, find_moments
from paprle_lab.evaluation.reporting.page import render_page
from paprle_lab.evaluation.reporting.report_text import describe_itv, summarise_entry
from paprle_lab.evaluation.reporting.verdict import judge_run

Json = dict[str, Any]


def evaluate(
    episodes: Sequence[Path],
    out_dir: Path | None = None,
    topics: BagTopics = BagTopics(),  # noqa: B008 - frozen
    work: Work = UNSEEN,
) -> list[Json]:
    """Return one JSON entry per recording or bag; ``error`` explains a blank one.

    A report is written if ``out_dir`` is given.

    Raises:
        MissingDependency: Without matplotlib; the JSON is written.
        ConfigError: If writing fails.
    """
    work.note("measuring")
    measured = []
    for k, path in enumerate(episodes):
        work.count(k, len(episodes), "episodes")
        measured.append(_measure(Path(path), topics))
    results = collect_entries(measured)
    if out_dir is not None:
        work.note("drawing the report")
        _write(results, measured, find_report(episodes, out_dir))
    return results


def find_report(episodes: Sequence[Path], out_dir: Path) -> Path:
    """Return the path of the page."""
    return out_dir / f"{name_report([Path(path) for path in episodes])}.html"


def _measure(path: Path, topics: BagTopics) -> EpisodeResult:
    if path.exists() and is_bag(path):
        return measure_bag(path, topics)
    return measure_episode(path)


def collect_entries(measured: Sequence[EpisodeResult]) -> list[Json]:
    """Return entries of episodes with variability and moments."""
    itvs = compare(measured)
    names = _make_names([Path(result.entry["path"]) for result in measured])
    return [
        {
            **result.entry,
            "episode": name,
            "itv": itv,
            "moments": describe_moments(result),
        }
        for result, name, itv in zip(measured, names, itvs, strict=True)
    ]


def _make_names(paths: Sequence[Path]) -> list[str]:
    stems = [path.stem for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [str(path.parent / path.stem) for path in paths]


def write_report(
    results: Sequence[Json], episodes: Sequence[Path], out_dir: Path
) -> Path:
    """Return the path of the written page.

    Raises:
        MissingDependency: Without matplotlib; the JSON is written.
        ConfigError: If writing fails.
    """
    page = find_report(episodes, out_dir)
    _write(results, (measure_episode(Path(p)) for p in episodes), page)
    return page


def summary_text(results: Sequence[Json]) -> str:
    """Return verdict and figures as lines."""
    parts = [_summarise(entry) for entry in results]
    after = [compare_in_text(results), describe_itv(results)]
    return "\n\n".join([*parts, *filter(None, after)])


def _summarise(entry: Json) -> str:
    text = summarise_entry(entry)
    if entry["error"]:
        return text
    verdict = "\n".join(f"  {line}" for line in judge_run(entry).sentences)
    return f"{text}\n{verdict}"


def is_worth_writing(results: Sequence[Json], *, is_there: bool) -> bool:
    """Return whether results exist, and replace no better report."""
    n_failed = sum(entry["error"] is not None for entry in results)
    return n_failed == 0 or (n_failed < len(results) and not is_there)


def _write(
    results: Sequence[Json], measured: Iterable[EpisodeResult], page: Path
) -> None:
    figures = page.with_suffix(".json")
    if not is_worth_writing(results, is_there=figures.exists()):
        return
    text = json.dumps(list(results), indent=2, allow_nan=False) + "\n"
    write_text(figures, text)
    plots, scenes = _load_drawing("plots"), _load_drawing("moment_pictures")
    pictures, moments = [], []
    for result in measured:
        pictures.append([*list_camera_strips(result), *plots.draw_episode(result)])
        moments.append([*scenes.draw_moments(result, find_moments(result))])
    names = [str(entry["episode"]) for entry in results]
    title = names[0] if len(names) == 1 else f"{len(names)} episodes"
    title = f"Teleoperation report: {title}"
    write_text(page, render_page(results, pictures, title, moments))


def _load_drawing(name: str) -> Any:
    try:
        return importlib.import_module(f"paprle_lab.evaluation.reporting.{name}")
    except ImportError as err:
        raise MissingDependency(
            "the report's page: expected matplotlib for its plots, got none; "
            "pip install 'paprle[report]'"
        ) from err
