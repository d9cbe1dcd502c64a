"""Scores of sets: two passes, one episode in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle_lab.scoring.arm_faults import find_swapped
from paprle_lab.scoring.faults import (
    WHOLE,
    Fault,
    find_duplicates,
    find_idle,
    find_jump,
    find_shifts,
    find_stuck,
)
from paprle_lab.scoring.figures import Figures, Usual, find_usual, measure_figures
from paprle_lab.scoring.measures import MeasuredEpisode, Measures, find_detours, measure
from paprle_lab.scoring.points import Points, compute_points
from paprle_lab.scoring.rate_faults import find_clock, find_repeats, find_speeds
from paprle_lab.scoring.read_recordings import LeftOut, read_recordings
from paprle_lab.scoring.series import LEROBOT, RECORDING, EpisodeSeries
from paprle_lab.scoring.spool import Spool
from paprle_lab.scoring.unit_faults import find_units


class ScoredEpisode(NamedTuple):
    """An episode with its score.

    Attributes:
        number: Of the spool.
        interventions: Of the gate, by reason; a recording alone has them.
    """

    number: int
    name: str
    path: Path
    task: str
    measures: Measures
    faults: tuple[Fault, ...]
    points: Points
    interventions: Mapping[str, int]


@dataclass
class ScoredSet:
    """Episodes of one set, the best first.

    Attributes:
        kind: RECORDING or LEROBOT.
        faults: Of the set, not of an episode.
        left_out: Episodes that were not read, with the reason.
    """

    name: str
    kind: str
    episodes: list[ScoredEpisode] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=list)

    @property
    def n_faults(self) -> int:
        """Number of faults."""
        return len(self.faults) + sum(len(one.faults) for one in self.episodes)


def score_places(
    places: Sequence[Path],
    spool: Spool,
    *,
    has_images: bool = True,
    work: Work = UNSEEN,
) -> ScoredSet:
    """Score recordings, or one LeRobot data set.

    ``spool`` keeps what was read, in the order of reading.

    Returns:
        The set, its best episode first.

    Raises:
        ConfigError: If there is nothing to score.
        RecordingError: If a data set is unreadable.
    """
    if is_lerobot(places[0]):
        # the tables need pyarrow, which recordings do not
        from paprle_lab.scoring.read_lerobot import read_lerobot  # noqa: PLC0415

        scored = ScoredSet(places[0].resolve().name, LEROBOT)
        episodes = read_lerobot(places[0], scored.left_out, work, has_images=has_images)
    else:
        scored = ScoredSet("recordings", RECORDING)
        episodes = read_recordings(places, scored.left_out, work)
    score(episodes, scored, spool)
    if not scored.episodes:
        why = "; ".join(f"{path.name}: {text}" for path, text in scored.left_out)
        raise ConfigError(f"dataset score: expected an episode, got none: {why}")
    return scored


def find_refused(
    places: Sequence[Path], least: float, work: Work = UNSEEN
) -> dict[Path, str]:
    """Return the recordings whose score is below ``least``, with score and reason.

    Raises:
        ConfigError: If there is nothing to score.
    """
    with Spool() as spool:
        scored = score_places(places, spool, work=work)
    return {
        one.path: f"its score of {one.points.score:.0f} is below {least:g}: "
        + "; ".join(one.points.reasons)
        for one in scored.episodes
        if one.points.score < least
    }


def is_lerobot(place: Path) -> bool:
    """Return whether a folder is a LeRobot data set."""
    return (place / "meta" / "info.json").is_file()


def score(episodes: Iterable[EpisodeSeries], scored: ScoredSet, spool: Spool) -> None:
    """Score episodes into a set."""
    figures, rates, clocks = list[Figures](), list[float](), list[Fault]()
    for series in episodes:
        if figures:
            columns = {k: len(one.names) for k, one in figures[0].tracks.items()}
            here = {k: len(one.names) for k, one in series.tracks.items()}
            if columns != here:
                why = "other columns than the first episode"
                scored.left_out.append((series.path / series.name, why))
                continue
        figures.append(measure_figures(series))
        rates.append(series.rate)
        clocks += find_clock(len(spool), series)
        spool.add(series)
    if not figures:
        return
    usual = find_usual(figures)
    measured = [measure(series, usual) for series in spool]
    faults = [*clocks, *_find_faults(figures, usual, rates)]
    for k, one in enumerate(measured):
        for camera, longest in one.stuck.items():
            faults += find_stuck(k, camera, longest)
    faults = _drop_consequences(faults)
    scored.faults = [fault for fault in faults if fault.episode == WHOLE]
    scored.episodes = _rank(spool, measured, faults)


def _find_faults(
    figures: Sequence[Figures], usual: Usual, rates: Sequence[float]
) -> Iterator[Fault]:
    for k, (one, rate) in enumerate(zip(figures, rates, strict=True)):
        yield from find_idle(k, one, usual)
        yield from find_jump(k, one, usual)
        yield from find_repeats(k, one, rate)
    yield from find_duplicates(figures, usual)
    yield from find_shifts(figures, rates)
    yield from find_units(figures, usual)
    yield from find_swapped(figures, usual)
    yield from find_speeds(figures)


def _drop_consequences(faults: Sequence[Fault]) -> list[Fault]:
    """Drop faults that follow from no motion, or from motion in another unit."""
    idle = {fault.episode for fault in faults if fault.kind == "idle"}
    scaled = {fault.episode for fault in faults if fault.kind == "unit"}
    return [
        fault
        for fault in faults
        if (fault.kind == "idle" or fault.episode not in idle)
        and (fault.kind != "camera" or fault.episode not in scaled)
    ]


def _rank(
    spool: Spool, measured: Sequence[MeasuredEpisode], faults: Sequence[Fault]
) -> list[ScoredEpisode]:
    tasks = [one.task for one in spool.heads]
    detours = find_detours(tasks, [one.path for one in measured])
    episodes = list[ScoredEpisode]()
    for k, (head, one, detour) in enumerate(
        zip(spool.heads, measured, detours, strict=True)
    ):
        own = tuple(fault for fault in faults if fault.episode == k)
        measures = replace(one.measures, detour=detour)
        points = compute_points(measures, own)
        label = (k, head.name, head.path, head.task)
        told = head.facts.interventions
        episodes.append(ScoredEpisode(*label, measures, own, points, told))
    return sorted(episodes, key=lambda one: -one.points.score)
