"""What an episode holds, as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import GateState, SessionState
from paprle.gate.reasons import Reason
from paprle.recording.reader import Episode

_GAP_FACTOR = 2.5  # chosen: two records late by a quarter of a period are no gap


def describe(episode: Episode) -> str:
    """Return the episode's summary: what, how long, rates, gaps, states, end."""
    return "\n".join(_lines(episode))


def _lines(episode: Episode) -> Iterator[str]:
    header = episode.header
    triple = f"leader={header['leader']} follower={header['follower']}"
    yield f"{episode.path.name}: {triple} env={header['env']}"
    yield f"  robot      {_describe_robot(episode)}"
    yield f"  start      {_start(episode)}"
    yield f"  duration   {_duration(episode):.3f} s"
    yield f"  end        {episode.end_reason}, {_find_fate(episode)}"
    if episode.manifest and episode.manifest.get("outcome"):
        yield f"  outcome    {episode.manifest['outcome']}"
    if episode.note:
        yield f"  attention  {episode.note}"
    yield f"  version    {header['version']}, revision {header['git_rev'] or 'unknown'}"
    if header.get("task"):
        yield f"  task       {header['task']}"
    yield "  streams"
    yield f"    session  {_describe_stream(episode.ticks, _dropped(episode, 'tick'))}"
    yield f"    gate     {_describe_stream(episode.gate, _dropped(episode, 'gate'))}"
    for limb, (t_ns, _) in episode.leader.items():
        yield f"    leader   {limb}: {_describe_rate(t_ns)}"
    yield f"    events   {len(episode.events)}"
    yield f"  session    {_describe_states(episode.ticks, SessionState)}"
    yield f"  gate       {_describe_states(episode.gate, GateState)}"
    yield f"  acted      {_describe_reasons(episode)}"
    yield from _describe_config(episode)


def _describe_robot(episode: Episode) -> str:
    robot = episode.robot
    limbs = ", ".join(limb["name"] for limb in robot["limbs"])
    return f"{robot['name']}: {len(robot['joint_names'])} joints; limbs {limbs}"


def _stamps(episode: Episode) -> npt.NDArray[np.int64]:
    parts = [episode.ticks["stamp_ns"], episode.gate["stamp_ns"]]
    return np.concatenate(parts)


def _duration(episode: Episode) -> float:
    stamps = _stamps(episode)
    return float(np.ptp(stamps)) * 1e-9 if len(stamps) else 0.0


def _start(episode: Episode) -> str:
    stamps = _stamps(episode)
    if not len(stamps):
        return "nothing recorded"
    wall_ns = int(stamps.min()) + episode.wall_offset_ns
    moment = datetime.fromtimestamp(wall_ns / 1e9, tz=timezone.utc)
    return moment.isoformat(timespec="milliseconds")


def _find_fate(episode: Episode) -> str:
    """Return what became of the episode."""
    manifest = episode.manifest or {}
    if manifest.get("discarded"):
        return "discarded by the operator"
    return "kept" if manifest.get("kept", bool(manifest)) else "broken off"


def _dropped(episode: Episode, name: str) -> int | None:
    dropped = (episode.manifest or {}).get("dropped")
    return dropped.get(name) if isinstance(dropped, dict) else None


def _describe_stream(records: npt.NDArray[np.void], dropped: int | None) -> str:
    if not len(records):
        return "nothing recorded"
    missing = int(np.diff(records["k"].astype(np.int64)).clip(1).sum())
    missing -= len(records) - 1
    text = f"{_describe_rate(records['stamp_ns'])}, {missing} missing in between"
    return text if dropped is None else f"{text}, {dropped} dropped"


def _describe_rate(stamps: npt.NDArray[np.int64]) -> str:
    """Return count, median rate, and gaps longer than twice the median period."""
    if len(stamps) < 2:
        return f"{len(stamps)} records"
    steps = np.diff(stamps) * 1e-9
    median = float(np.median(steps))
    rate = 1.0 / median if median > 0 else float("nan")
    gaps = steps[steps > _GAP_FACTOR * median]
    text = f"{len(stamps)} records at {rate:.1f} Hz, {len(gaps)} gaps"
    return f"{text}, longest {gaps.max() * 1e3:.1f} ms" if len(gaps) else text


def _describe_states(
    records: npt.NDArray[np.void], kind: type[SessionState] | type[GateState]
) -> str:
    counts = Counter(records["state"].tolist())
    total = max(len(records), 1)
    names = {state.value: state.name for state in kind}
    shares = [
        f"{names.get(value, value)} {100 * n / total:.1f} %"
        for value, n in counts.most_common()
    ]
    return ", ".join(shares) or "nothing recorded"


def _describe_reasons(episode: Episode) -> str:
    """Return how many gate ticks each reason acted in."""
    words = episode.gate["reasons"]
    acted = {
        reason.name: int((words >> np.uint64(reason) & np.uint64(1)).sum())
        for reason in Reason
    }
    return ", ".join(f"{name} {n}" for name, n in acted.items() if n) or "never"


def _describe_config(episode: Episode) -> Iterator[str]:
    """Yield the settings that change what the figures mean."""
    config = episode.config
    rate = (config.get("session") or {}).get("rate")
    h = float(episode.header["gate_period"])
    yield f"  config     session.rate={rate}, gate.period={1e3 * h:g} ms"
    unsafe = sorted(_find_unsafe(config, ""))
    if unsafe:
        yield f"  UNSAFE     {', '.join(unsafe)}"


def _find_unsafe(section: object, prefix: str) -> Iterator[str]:
    if not isinstance(section, dict):
        return
    for key, value in section.items():
        if key.startswith("unsafe_") and value:
            yield f"{prefix}{key}={value}"
        yield from _find_unsafe(value, f"{prefix}{key}.")
