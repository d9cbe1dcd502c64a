"""Error of teleoperation over bad networks, with and without reconstruction.

``python -m benchmarks.remote.telexr [FOLDER [TRACE …]]``: recorded hands and made
motions cross networks there and back in virtual time, by
``benchmarks.remote.telexr_ways``. Networks are those of ``paprle.hardware.net``, and
Wi-Fi round trips (folder ``network`` beside FOLDER), half each way, 30 a second.
Medians over motions, by trace and way, of

* the teleoperation error, user against displayed robot (T2),
* user, and displayed robot, against actual robot,
* the user's path without delay,
* motion to motion latency (T1) as confirmed, and uncounted captures,

and our reduction of the first and of displayed against actual robot (T13), with 95 %
intervals of resampled motions. ``led`` is TeleXR's picture (T13), the robot at the
newest capture.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.remote.reconstruction import Hand, list_motions
from benchmarks.remote.telexr_ways import make_way
from paprle.contracts.types import Vec
from paprle.hardware.net.impairment import Impairment
from paprle.hardware.net.trace import DIRECTIONS, Row, Trace, list_profiles, load_traces
from paprle.hosts.two_hosts.far_watch import SHOW_NS

TICK_NS = 5_000_000
LENGTH = 10.0  # [s] of each motion
SETTLED = 2.0  # [s] chosen: until hosts have met
WAYS = "none", "hold", "velocity", "ours"
COMPARED = ("ours", "teleoperation"), ("ours", "shown-robot"), ("led", "teleoperation")
N_RESAMPLED = 2000
BEGIN_NS = round((SETTLED + 1.0) * 1e9)
MEASURED = "avp_wireless-mono.json"


class Run(NamedTuple):
    """Result of a motion over a network, by tick.

    Attributes:
        user: Hand, (n, 3), [m].
        robot: (n, 3), [m].
        shown: As displayed.
        led: Robot at the newest capture, or as shown.
        ways: From capture to known effect, [s].
        n_lost: Captures that the robot never took.
    """

    user: Vec
    robot: Vec
    shown: Vec
    led: Vec
    ways: Vec
    n_lost: int


def run(hand: Hand, traces: list[Trace], kind: str, seed: int) -> Run:
    """Return a motion's result over a network."""
    up, down = (Impairment(one, 2 * seed + i) for i, one in enumerate(traces))
    way, effects, now_ns = make_way(kind), dict[int, int](), 10**9
    rows: list[tuple[Vec, Vec, Vec, Vec]] = []
    n_before, shown = 0, np.array(hand(0.0).translation)
    for _ in range(round((LENGTH + SETTLED) * 1e9 / TICK_NS)):
        now_ns += TICK_NS
        now = now_ns * 1e-9
        T = hand(max(now - 1.0, 0.0))
        for data in way.operate(down.deliver(now), T, now_ns):
            up.send(data, now)
        for data in way.act(up.deliver(now), now_ns):
            down.send(data, now)
        if now_ns % SHOW_NS == 0 and (drawn := way.draw(now_ns)) is not None:
            shown = drawn
        if now_ns <= BEGIN_NS:
            n_before = way.n_captured
            continue
        if way.heard > BEGIN_NS:
            effects.setdefault(way.heard, now_ns)
        robot = shown if way.robot is None else way.robot
        led = shown if way.led is None else way.led
        rows.append((np.array(T.translation), robot, shown, led))
    late = way.late_ns  # its motion passes a capture so much later
    took = np.array([(at + late - then) * 1e-9 for then, at in effects.items()])
    n_taken = sum(stamp > BEGIN_NS for stamp in way.taken)
    n_lost = way.n_captured - n_before - n_taken
    return Run(*map(np.array, zip(*rows, strict=True)), took, n_lost)


def load_networks(folder: Path | None) -> dict[str, list[Trace]]:
    """Return profiles and measured networks, both directions."""
    found = {
        name: [load_traces(name)[way] for way in DIRECTIONS] for name in list_profiles()
    }
    path = None if folder is None else folder.parent / "network" / MEASURED
    if path is None or not path.is_file():
        return found
    told = json.loads(path.read_text())
    period = 1.0 / told["test_config"]["fps"]
    for name, one in told["resolutions"].items():
        halves = [0.5e-3 * ms for ms in one["raw_latencies"]]
        rows = [Row(k * period, delay) for k, delay in enumerate(halves)]
        found[f"wifi {name}"] = [Trace(rows)] * len(DIRECTIONS)
    return found


def find_shape_error(one: Run) -> float:
    """Return paths' mean distance at the best delay, [m]."""
    n = len(one.user)
    errors = [
        np.linalg.norm(one.robot[late:] - one.user[: n - late], axis=1).mean()
        for late in range(0, 120, 2)
    ]
    return float(min(errors))


def measure(one: Run) -> dict[str, float]:
    """Return a run's figures, [mm] and [ms]."""

    def distance(a: Vec, b: Vec) -> float:
        return float(1e3 * np.linalg.norm(a - b, axis=1).mean())

    return {
        "teleoperation": distance(one.user, one.shown),
        "user-robot": distance(one.user, one.robot),
        "shown-robot": distance(one.shown, one.robot),
        "shape": 1e3 * find_shape_error(one),
        "latency": float(1e3 * np.median(one.ways)),
        "latency p99": float(1e3 * np.percentile(one.ways, 99)),
        "lost": float(one.n_lost),
    }


def find_reduction(ours: Vec, others: Vec) -> tuple[float, float, float]:
    """Return the median reduction, and its 95 % interval."""
    shares = 1.0 - ours / others
    rng = np.random.default_rng(0)
    drawn = rng.choice(shares, (N_RESAMPLED, len(shares)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(np.median(shares)), float(low), float(high)


def compare(
    cells: dict[str, list[dict[str, float]]], name: str, way: str, other: str
) -> str:
    """Return a reduction between two ways, as text."""
    less, more = (np.array([c[name] for c in cells[one]]) for one in (way, other))
    share, low, high = find_reduction(less, more)
    wins = int((less < more).sum())
    return (
        f"less than {other}: {100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}], "
        f"in {wins} of {len(less)}"
    )


def gather_motions(folder: Path | None) -> dict[str, Hand]:
    """Return hands, in pieces of ``LENGTH``."""
    hands: dict[str, Hand] = {}
    for name, (hand, length) in list_motions(folder, longest=4 * LENGTH).items():
        n = max(1, math.floor(length / LENGTH)) if "." in name else 1
        for i in range(n):
            hands[f"{name} {i}" if n > 1 else name] = _cut(hand, i * LENGTH)
    return hands


def _cut(hand: Hand, begin: float) -> Hand:
    return lambda t: hand(begin + t)


def main(words: list[str]) -> None:
    """Print a table; write telexr.json."""
    folder = Path(words[0]) if words else None
    hands = gather_motions(folder)
    print(f"{len(hands)} motions: {', '.join(hands)}")
    told: dict[str, Any] = {}
    networks = load_networks(folder)
    for trace in words[1:] or networks:
        runs = {
            way: [
                run(hand, networks[trace], way, i)
                for i, hand in enumerate(hands.values())
            ]
            for way in WAYS
        }
        cells = {way: list(map(measure, runs[way])) for way in WAYS}
        cells["led"] = [measure(one._replace(shown=one.led)) for one in runs["ours"]]
        told[trace] = {way: dict(zip(hands, cells[way], strict=True)) for way in cells}
        print(f"\n{trace:<12}" + "".join(f"{name:>15}" for name in cells["ours"][0]))
        for way, row in cells.items():
            medians = [np.median([cell[name] for cell in row]) for name in row[0]]
            line = "".join(f"{value:15.1f}" for value in medians)
            print(f"  {way:<10}{line}", flush=True)
        for way, name in COMPARED:
            print(f"  {name} of {way}")
            for other in WAYS[:3]:
                print(f"    {compare(cells, name, way, other)}", flush=True)
    Path("telexr.json").write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
