"""The report: figures of episodes as JSON, and a page to look at.

``evaluate`` measures, ``write_report`` writes ``report.json`` and ``report.html``,
``summary_text`` is for the terminal. A key that could not be measured is null, and
``notes`` of the entry say why.

The list has one entry an episode. Its top level holds the figures of the worst limb
(largest raw RMSE, named in ``worst_limb``); all limbs stand under ``limbs``. ``itv``
compares all episodes with each other and stands, the same, in every entry.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import MissingDependency
from paprle.contracts.types import Vec
from paprle.evaluation.bags import BagTopics, measure_bag
from paprle.evaluation.episode import EpisodeResult, measure_episode
from paprle.evaluation.itv import report_itv
from paprle.evaluation.page import render_page
from paprle.evaluation.report_text import describe_itv, summarise_entry
from paprle.recording.bags import is_bag

Json = dict[str, Any]

CLOSED = 0.05  # chosen: a path whose ends are nearer than this share of it is closed


def evaluate(
    episodes: Sequence[Path],
    out_dir: Path | None = None,
    topics: BagTopics = BagTopics(),  # noqa: B008 - frozen
) -> list[Json]:
    """Measure recorded episodes.

    Args:
        episodes: MCAP files, their manifests, or folders with one episode each; or
            bags of ROS.
        out_dir: Where to write the report; nothing is written when absent.
        topics: What to compare in bags.

    Returns:
        One entry an episode, JSON values only; ``error`` says why one is blank.

    Raises:
        MissingDependency: If a page is wanted and matplotlib is not installed; the
            JSON has been written then.
    """
    measured = [_measure(Path(path), topics) for path in episodes]
    results = collect_entries(measured)
    if out_dir is not None:
        _write(results, measured, out_dir)
    return results


def _measure(path: Path, topics: BagTopics) -> EpisodeResult:
    if path.exists() and is_bag(path):
        return measure_bag(path, topics)
    return measure_episode(path)


def collect_entries(measured: Sequence[EpisodeResult]) -> list[Json]:
    """Return the entries of measured episodes, with what compares them."""
    itv = _compare(measured)
    names = _make_names([Path(result.entry["path"]) for result in measured])
    return [
        {**result.entry, "episode": name, "itv": itv}
        for result, name in zip(measured, names, strict=True)
    ]


def _make_names(paths: Sequence[Path]) -> list[str]:
    """Return what tells episodes apart: their stems, or with their folders."""
    stems = [path.stem for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [str(path.parent / path.stem) for path in paths]


def write_report(
    results: Sequence[Json], episodes: Sequence[Path], out_dir: Path
) -> Path:
    """Write ``report.json`` and ``report.html``.

    Args:
        results: From ``evaluate``.
        episodes: The same episodes; read again, one at a time, for the plots.
        out_dir: Folder to write into; made if it does not exist.

    Returns:
        Path of ``report.html``.

    Raises:
        MissingDependency: If matplotlib is not installed; the JSON has been written.
    """
    return _write(results, (measure_episode(Path(p)) for p in episodes), out_dir)


def summary_text(results: Sequence[Json]) -> str:
    """Return the figures as a few lines an episode."""
    parts = [summarise_entry(entry) for entry in results]
    itv = describe_itv(results)
    return "\n\n".join([*parts, itv] if itv else parts)


def _write(
    results: Sequence[Json], measured: Iterable[EpisodeResult], out_dir: Path
) -> Path:
    out_dir.mkdir(parents=True, exist_ok=True)
    text = json.dumps(list(results), indent=2, allow_nan=False) + "\n"
    (out_dir / "report.json").write_text(text, encoding="utf-8")
    plots = _load_plots()
    pictures = [list(plots.draw_episode(result)) for result in measured]
    names = [str(entry["episode"]) for entry in results]
    title = names[0] if len(names) == 1 else f"{len(names)} episodes"
    page = out_dir / "report.html"
    html = render_page(results, pictures, f"Teleoperation report: {title}")
    page.write_text(html, encoding="utf-8")
    return page


def _load_plots() -> Any:
    """Return the module of the plots, which needs matplotlib."""
    try:
        return importlib.import_module("paprle.evaluation.plots")
    except ImportError as err:
        raise MissingDependency(
            "report.html: expected matplotlib for its plots, got none; "
            "pip install 'paprle[report]'"
        ) from err


def _compare(measured: Sequence[EpisodeResult]) -> Json | None:
    """Return ITV of the limb that varies most; None below two episodes with motion."""
    trials: dict[str, list[tuple[Vec, Vec]]] = {}
    for result in measured:
        for limb in result.limbs:
            if len(limb.actual) > 1:
                trials.setdefault(limb.name, []).append((limb.actual.t, limb.actual.p))
    reports: dict[str, Json] = {}
    for name, paths in trials.items():
        if len(paths) < 2:
            continue
        reports[name] = dict(report_itv(paths))
        if all(_is_closed(p) for _, p in paths):
            reports[name]["cyclic"] = report_itv(paths, is_cyclic=True)
    if not reports:
        return None
    worst = max(reports, key=lambda name: float(reports[name]["arc_length_mm"]))
    return {"limb": worst, **reports[worst], "limbs": reports}


def _is_closed(p: Vec) -> bool:
    length = float(np.linalg.norm(np.diff(p, axis=0), axis=1).sum())
    return float(np.linalg.norm(p[-1] - p[0])) < CLOSED * length
