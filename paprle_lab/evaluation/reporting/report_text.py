"""Figures of a report as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from paprle_lab.evaluation.far import describe_far
from paprle_lab.evaluation.reporting.reach_text import describe_longest, describe_reach
from paprle_lab.evaluation.smoothness import find_worst

Json = dict[str, Any]

UNKNOWN = "–"
N_DIGITS = 4  # chosen: 0.1 µm; smaller figures say nothing of a robot
SMALLEST = 0.0001


def format_number(value: float | None, unit: str = "") -> str:
    """Return a number with up to three figures and unit."""
    if value is None:
        return UNKNOWN
    if isinstance(value, int):
        text = str(value)
    elif value == 0.0:
        text = "0"
    elif abs(value) < SMALLEST:
        text = f"<{SMALLEST}" if value > 0 else f">-{SMALLEST}"
    else:
        digits = 2 - math.floor(math.log10(abs(value)))
        text = f"{value:.{min(max(digits, 0), N_DIGITS)}f}"
    return f"{text} {unit}".rstrip()


def list_facts(entry: Json) -> list[str]:
    """Return the recorded duration, end and completeness."""
    if entry["error"]:
        return [str(entry["path"])]
    return [
        f"{entry.get('leader')} → {entry.get('follower')} in {entry.get('env')}",
        f"{format_number(entry.get('engaged_s'), 's')} engaged of "
        f"{format_number(entry.get('duration_s'), 's')}",
        f"ended by {entry['end_reason']}",
        "complete" if entry["is_complete"] else "NOT complete",
        *(["discarded by the operator"] if entry["is_discarded"] else []),
    ]


def describe_episode(entry: Json) -> str:
    """Explain an episode's figures."""
    if entry["error"]:
        return f"This episode could not be read: {entry['error']}."
    compensated, raw = entry["ate_mm"]["lag_compensated"], entry["ate_mm"]["raw"]
    sentences = []
    if raw["median"] is None:
        sentences.append("The robot was never compared with a target.")
    else:
        several = len(entry["limbs"]) > 1
        who = f"The worst limb, {entry['worst_limb']}," if several else "The robot"
        sentences.append(
            f"{who} was within {format_number(raw['median'], 'mm')} of its target half "
            f"of the time, and within {format_number(raw['p95'], 'mm')} for 95 % of it."
        )
    if compensated["median"] is not None:
        sentences.append(_describe_delay(raw["median"], compensated))
    if entry["reach"] is not None and raw["median"] is not None:
        longest = describe_longest(entry["reach"])
        said = describe_reach(entry["reach"])
        sentences.append(f"{said[0].upper()}{said[1:]}{longest and ': '}{longest}.")
    sentences.append(_describe_gate(entry["gate"]))
    on_time = entry["tick"]["on_time_percent"]
    if on_time is not None:
        rate = format_number(entry["tick"]["rate_hz"], "Hz")
        sentences.append(f"The session ran at {rate}, {on_time:.2f} % of it in time.")
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_delay(raw: float, compensated: Json) -> str:
    tau, median = compensated["tau_ms"], compensated["median"]
    if median > raw:
        return (
            f"It is {format_number(tau, 'ms')} behind its target where it reaches it."
        )
    share = "Most" if median < 0.5 * raw else "Little"
    return (
        f"{share} of that is delay: shifted by τ = {format_number(tau, 'ms')}, "
        f"it is off by {format_number(median, 'mm')} in the median."
    )


def _describe_gate(gate: Json) -> str:
    if gate["violations"] is None:
        return "The commands were not judged."
    if gate["violations"]:
        broken = [k for k, n in gate["violations_by_invariant"].items() if n]
        return f"The commands BROKE {', '.join(broken)}: see the oracle's verdict."
    reasons = gate["interventions_by_reason"]
    names = ", ".join(f"{k.lower()} {n}×" for k, n in reasons.items())
    acted = (
        f"the gate acted {gate['interventions']} times ({names})"
        if names
        else ("the gate never had to act")
    )
    return f"No command broke a motion limit, and {acted}."


def describe_clearance(gate: Json) -> str:
    """Describe the least clearance and its verdict."""
    if gate.get("min_clearance_mm") is None:
        return "not judged"
    nearest = format_number(gate["min_clearance_mm"], "mm")
    n_near = gate["violations_by_invariant"]["C1"]
    verdict = f"NEARER THAN KEPT {n_near}×" if n_near else "kept"
    told = [f"{verdict}: at least {nearest}, {' – '.join(gate['nearest_pair'])}"]
    return "; ".join(told + gate["kept"])


def describe_smoothness(joints: Json) -> str:
    """Describe the worst joint of each smoothness figure."""
    ripple = find_worst(joints, "ripple")
    if ripple is None:
        return "not judged"
    flips = find_worst(joints, "sign_changes_per_s") or ("", 0.0)
    said = [
        f"ripple {ripple[1]:.2f} ({ripple[0]})",
        f"sign changes {flips[1]:.0f} /s ({flips[0]})",
    ]
    for limit in "VAJ":
        worst = find_worst(joints, f"at_{limit.lower()}_percent")
        whose = f" ({worst[0]})" if worst is not None and worst[1] > 0.0 else ""
        share = UNKNOWN if worst is None else f"{worst[1]:.1f} %"
        said.append(f"at {limit} {share}{whose}")
    return ", ".join(said)


def describe_itv(entries: Sequence[Json]) -> str:
    """Describe the variability of repeated episodes."""
    found: list[Json] = []
    for entry in entries:
        if entry["itv"] and entry["itv"] not in found:
            found.append(entry["itv"])
    return "\n".join(_describe_itv(itv) for itv in found)


def _describe_itv(itv: Json) -> str:
    text = (
        f"Inter-trial variability of {itv['n_trials']} episodes, {itv['of']}, limb "
        f"{itv['limb']}: {format_number(itv['arc_length_mm'], 'mm')} by arc length, "
        f"{format_number(itv['normalised_time_mm'], 'mm')} by normalised time"
    )
    if itv.get("cyclic"):
        turned = format_number(itv["cyclic"]["arc_length_mm"], "mm")
        text += f"; {turned} by arc length with closed paths turned to a common start"
    return text + "."


def summarise_entry(entry: Json) -> str:
    """Return a few lines on an episode."""
    head = f"{entry['episode']}: {', '.join(list_facts(entry))}"
    if entry["error"]:
        return f"{entry['episode']}: {entry['error']}"
    n = format_number
    ate, latency, tick = entry["ate_mm"], entry["latency_ms"], entry["tick"]
    raw, shifted = ate["raw"], ate["lag_compensated"]
    within = ate["within_limits"]
    limb = f" ({entry['worst_limb']}, worst of {len(entry['limbs'])})"
    orientation = entry.get("orientation_deg", {}).get("raw", {})
    gate = entry["gate"]
    acted = gate.get("interventions_by_reason") or {}
    longest = describe_longest(entry["reach"])
    far = describe_far(entry["far"]) if entry["far"] else []
    lines = [
        head,
        f"  position     raw median {n(raw['median'], 'mm')}, p95 {n(raw['p95'], 'mm')}"
        f", max {n(raw['max'], 'mm')}{limb if len(entry['limbs']) > 1 else ''}",
        f"  without lag  median {n(shifted['median'], 'mm')}, p95 "
        f"{n(shifted['p95'], 'mm')}, at τ = {n(shifted.get('tau_ms'), 'ms')}",
        f"  session      {_describe_tracking(entry['tracking'])}",
        f"  targets      {describe_reach(entry['reach'])}",
        *([f"               {longest}"] if longest else []),
        f"  where reached mean {n(within['mean'], 'mm')}, p95 "
        f"{n(within['p95'], 'mm')}, without lag",
        f"  orientation  raw median {n(orientation.get('median'), '°')}, max "
        f"{n(orientation.get('max'), '°')}",
        f"  lag          {n(entry['lag_ms'], 'ms')}",
        "  latency      p50 / p99: "
        + ", ".join(
            f"{key.replace('_', ' ')} {n(value['p50'])} / {n(value['p99'], 'ms')}"
            for key, value in latency.items()
        )
        + f" (look-ahead {n(entry['look_ahead_ms'], 'ms')} included)",
        *(f"  {'' if i else 'far away':12} {said}" for i, said in enumerate(far)),
        f"  gate         {gate.get('oracle', 'not judged').splitlines()[0]}; acted: "
        + (", ".join(f"{k.lower()} {v}×" for k, v in acted.items()) or "never"),
        f"  clearance    {describe_clearance(gate)}",
        f"  smoothness   {describe_smoothness(entry['smoothness'])}",
        f"  tick         {n(tick['rate_hz'], 'Hz')}, {n(tick['on_time_percent'], '%')} "
        f"in time, p50 {n(tick['p50_us'], 'µs')}, p99 {n(tick['p99_us'], 'µs')}",
    ]
    return "\n".join([*lines, *(f"  note: {note}" for note in entry["notes"])])


def _describe_tracking(tracking: Json | None) -> str:
    if tracking is None:
        return "not known"
    said = tracking["summary"] or "always where the hand was"
    paused = f"; paused: {tracking['pauses']}" if tracking["pauses"] else ""
    return f"{said}{paused}"
