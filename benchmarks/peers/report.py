"""Markdown tables of one run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

BEGIN = "<!-- peers: begin, written by python -m benchmarks.peers --write-docs -->"
END = "<!-- peers: end -->"

NAMES = {
    "ours": "**ours**",
    "solve": "ours, `IkSolver.solve`",
    "pink10": "pink, 10 nearest pairs",
    "upstream": "upstream's algorithm",
}
Row = dict[str, Any]
Column = tuple[str, Callable[[Row], str]]


def number(value: float, digits: int = 3) -> str:
    """Format significant digits."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    if abs(value) < 1e-4:
        return f"{value:.0e}"
    n_decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{n_decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """Format a share; only 1 is 100 %."""
    if share is None or not math.isfinite(share):
        return "–"
    text = f"{100.0 * share:.2f}".rstrip("0").rstrip(".")
    return f"{text if share >= 1.0 or text != '100' else '>99.99'} %"


def spread(values: dict[str, float], *keys: str) -> str:
    """Format median, p95, p99 or max."""
    return " / ".join(number(values[key]) if values else "–" for key in keys)


def table(columns: list[Column], rows: dict[str, dict[str, Row]]) -> str:
    """Format rows by robot and peer."""
    lines = [
        "| robot | | " + " | ".join(title for title, _ in columns) + " |",
        "|" + "---|" * (len(columns) + 2),
    ]
    for robot, peers in rows.items():
        for k, (peer, row) in enumerate(peers.items()):
            cells = [make(row) for _, make in columns]
            first = robot if k == 0 else ""
            name = NAMES.get(peer, peer)
            lines.append(f"| {first} | {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _us(row: Row) -> str:
    return spread(row["us"], "median", "p99")


def _part(name: str, what: str, *keys: str) -> Callable[[Row], str]:
    return lambda row: spread(row[name][what], *keys) if name in row else "–"


def _success(name: str) -> Callable[[Row], str]:
    return lambda row: percent(row[name]["success"]) if name in row else "–"


def _limits(row: Row) -> str:
    names = ("over_limits", "over_speed", "over_acceleration")
    return " / ".join(str(row[name]) for name in names)


TIME: Column = ("µs, median / p99", _us)
SUCCESS: Column = ("success", _success("reachable"))
TICKS: Column = ("ticks", lambda row: str(row["reachable"]["n"]))
SPREAD = ("median", "p95", "p99", "max")
MM: Column = ("mm, median / p95 / p99 / max", _part("reachable", "mm", *SPREAD))
DEG: Column = ("degrees, the same", _part("reachable", "deg", *SPREAD))
IK_MM: Column = ("IK alone, mm, median / max", _part("ik", "mm", "median", "max"))
IK_DEG: Column = ("degrees, the same", _part("ik", "deg", "median", "max"))
IK_SUCCESS: Column = ("IK alone, success", _success("ik"))
PEAKS: Column = (
    "peak rad/s, rad/s², rad/s³",
    lambda row: spread(row, "rad_s", "rad_s2", "rad_s3"),
)
LIMITS: Column = ("ticks over position / speed / acceleration limit", _limits)
CLEARANCE: Column = ("least clearance, mm", lambda row: spread(row, "clearance_mm"))
BACK: Column = ("back after out of reach", _success("back"))
IK_BACK: Column = ("IK alone, the same", _success("ik_back"))
UNSOLVED: Column = ("no solution", lambda row: str(row["unsolved"]))

COLD: list[Column] = [
    ("targets", lambda row: str(row["n"])),
    ("solved", lambda row: percent(row["success"])),
    ("from the first start", lambda row: percent(row["success_at_once"])),
    ("µs, median", lambda row: number(row["us"]["median"])),
    ("p90", lambda row: number(row["p90_us"])),
    ("p99", lambda row: number(row["us"]["p99"])),
    ("out of reach: targets", lambda row: str(row["n_out"])),
    ("µs, median", lambda row: number(row["us_out"]["median"])),
    ("mm left, median", lambda row: number(row["mm_out_median"])),
]
PATHS: list[Column] = [
    ("paths", lambda row: str(row["paths"]["n"])),
    ("within 1 mm all along", lambda row: percent(row["paths"]["within_1mm"])),
    ("IK alone", lambda row: percent(row["ik_paths"]["within_1mm"])),
    (
        "worst error of a path, mm: median",
        lambda row: number(row["paths"]["median_mm"]),
    ),
    ("p90", lambda row: number(row["paths"]["p90_mm"])),
    ("max", lambda row: number(row["paths"]["max_mm"])),
]
CROSSING: list[Column] = [
    ("ticks", lambda row: str(row["n"])),
    CLEARANCE,
    ("touching", lambda row: percent(row["touching"])),
    ("nearer than asked", lambda row: percent(row["too_near"])),
    PEAKS,
    LIMITS,
    (
        "no limb moves though one is held up",
        lambda row: percent(row["freeze"]["frozen"]),
    ),
    ("longest, s", lambda row: number(row["freeze"]["longest_s"])),
    ("all back on target", lambda row: percent(row["freeze"]["back"])),
    UNSOLVED,
    TIME,
]
ARRIVAL: list[Column] = [
    ("targets", lambda row: str(row["n"])),
    ("reached", lambda row: percent(row["reached"])),
    ("time / optimal: median", lambda row: number(row["median"], 4)),
    ("p99", lambda row: number(row["p99"], 4)),
    ("max", lambda row: number(row["max"], 4)),
    ("overshoot, rad", lambda row: number(row["overshoot"])),
    (
        "left out: no clear way for Ruckig",
        lambda row: f"{row['n_unfair']} (max {number(row['max_unfair'], 4)})",
    ),
]
SECTIONS: dict[str, tuple[str, list[Column]]] = {
    "apart": (
        "Warm tracking, all bodies kept apart",
        [TIME, SUCCESS, TICKS, MM, DEG, PEAKS, LIMITS, CLEARANCE, UNSOLVED],
    ),
    "warm": (
        "Warm tracking, limits alone",
        [
            TIME,
            SUCCESS,
            TICKS,
            MM,
            DEG,
            IK_SUCCESS,
            IK_MM,
            IK_DEG,
            PEAKS,
            LIMITS,
            BACK,
            IK_BACK,
        ],
    ),
    "fast": (
        "Fast tracking: up to 3 rad/s, near limits",
        [TIME, SUCCESS, TICKS, MM, DEG, IK_SUCCESS, IK_MM, IK_DEG, PEAKS, LIMITS],
    ),
    "lines": (
        "Straight lines at 0.4 m/s, through limits and singularities",
        [*PATHS, PEAKS, LIMITS, CLEARANCE, UNSOLVED, TIME],
    ),
    "cold": ("Cold solves: 0.1 mm and 1 mrad, within limits", COLD),
    "crossing": ("Two and four arms sent through each other", CROSSING),
    "arrival": ("Time to target against Ruckig", ARRIVAL),
}


_OURS = ("ours", "solve")
_LEAST = 0.01  # [mm], [µs], [%] chosen: differences below are none


def _count(row: Row) -> int:
    return int(row["n"])


def _success_of(scenario: str, row: Row) -> float:
    value = {
        "lines": lambda: row["paths"]["within_1mm"],
        "cold": lambda: row["success"],
        "crossing": lambda: row["freeze"]["back"],
    }.get(scenario, lambda: row.get("reachable", row)["success"])
    return 100.0 * float(value()) if scenario != "arrival" else math.nan


def _back_of(_: str, row: Row) -> float:
    return 100.0 * float(row["back"]["success"]) if "back" in row else math.nan


def _error_of(scenario: str, row: Row) -> float:
    if scenario == "lines":
        return float(row["paths"]["p90_mm"])
    is_track = scenario in {"apart", "warm", "fast"}
    return float(row["reachable"]["mm"]["p99"]) if is_track else math.nan


MEASURES: list[tuple[str, Callable[[str, Row], float], int]] = [
    ("median time, µs", lambda _, row: row.get("us", {}).get("median", math.nan), -1),
    ("p99 of the time, µs", lambda _, row: row.get("us", {}).get("p99", math.nan), -1),
    ("success, %", _success_of, 1),
    ("back after out of reach, %", _back_of, 1),
    ("error, mm: p99; of lines p90 of the worst", _error_of, -1),
    ("least clearance, mm", lambda _, row: row.get("clearance_mm", math.nan), 1),
]
"""What is compared: its name, how to read it off a row, the sign of better."""


def render(results: dict[str, Any]) -> str:
    """Format a whole run."""
    scenarios = results["scenarios"]
    parts = [
        _header(results),
        "### Time of a step with all bodies kept apart\n\n"
        + _ratios(scenarios["apart"]),
    ]
    for name, (title, columns) in SECTIONS.items():
        parts.append(f"### {title}\n\n" + table(columns, scenarios[name]))
    parts.append("### Growth with limbs and pairs\n\n" + _growth(results))
    parts.append("### Where a peer is better\n\n" + _losses(scenarios))
    return "\n\n".join(parts)


def _header(results: dict[str, Any]) -> str:
    def pairs(versions: dict[str, str]) -> str:
        return ", ".join(f"{name} {number}" for name, number in versions.items())

    robots = ", ".join(
        f"{name} ({r['limbs']} limbs, {r['joints']} joints, {r['pairs']} pairs)"
        for name, r in results["robots"].items()
    )
    return (
        f"`{results['command']}`, {results['seconds']} s, on {results['machine']}, "
        f"with {results['load'][0]} processes at work before and "
        f"{results['load'][1]} after it (its own among them); "
        f"{pairs(results['versions'])}; beside them "
        f"{pairs(results['versions_of_placo']) or 'no placo'}. Robots: {robots}."
    )


def _ratios(rows: dict[str, dict[str, Row]]) -> str:
    peers = list(dict.fromkeys(p for peers in rows.values() for p in peers))
    lines = [
        "| robot | ours, µs | " + " | ".join(f"{p} / ours" for p in peers[1:]) + " |",
        "|" + "---|" * (len(peers) + 1),
    ]
    for robot, own in rows.items():
        unit = own["ours"]["us"]["median"]
        cells = [
            number(own[p]["us"]["median"] / unit) if p in own else "–"
            for p in peers[1:]
        ]
        lines.append(f"| {robot} | {number(unit)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _losses(scenarios: dict[str, dict[str, dict[str, Row]]]) -> str:
    lines = ["| scenario | what | peer | robot: theirs, ours |", "|---|---|---|---|"]
    for scenario, (what, measure, sign) in itertools.product(SECTIONS, MEASURES):
        better: dict[str, list[str]] = {}
        for robot, rows in scenarios[scenario].items():
            ours = measure(scenario, rows["ours"])
            for peer, row in rows.items():
                if peer in _OURS:
                    continue
                theirs = measure(scenario, row)
                is_alike = "time" in what or 2 * _count(row) >= _count(rows["ours"])
                if is_alike and sign * (theirs - ours) > _LEAST:
                    pair = f"{robot}: {number(theirs)}, {number(ours)}"
                    better.setdefault(peer, []).append(pair)
        title = SECTIONS[scenario][0]
        lines += [
            f"| {title} | {what} | {NAMES.get(peer, peer)} | {'; '.join(robots)} |"
            for peer, robots in better.items()
        ]
    return "\n".join(lines)


def _growth(results: dict[str, Any]) -> str:
    rows = results["scenarios"]["growth"]
    peers = list(dict.fromkeys(p for own in rows.values() for p in own))
    lines = [
        "| arms | pairs | " + " | ".join(f"{p}, µs" for p in peers) + " |",
        "|" + "---|" * (len(peers) + 2),
    ]
    for robot, own in rows.items():
        size = results["robots"][robot]
        cells = [_us(own[p]) if p in own else "–" for p in peers]
        lines.append(f"| {size['limbs']} | {size['pairs']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_into(path: Path, page: str) -> None:
    """Put the tables between a page's markers.

    Raises:
        ValueError: Without markers.
    """
    text = path.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"{path}: expected the markers '{BEGIN}' and '{END}'")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{page}\n\n{END}{after}")
