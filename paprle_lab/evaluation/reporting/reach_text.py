"""Text and advice on a limb's shortfall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

WORTH = 0.05  # [%] chosen: what takes less of the time would read as nothing
MATTERS = 2.0  # [%] chosen: of the time; advice for less would be noise
NOTABLE = 0.1  # chosen: of a cause's time; joints with less of it are not named
N_JOINTS = 3  # chosen: more names than this say less
LONG_LAG = 100.0  # [ms] chosen: delays that people begin to wait for
ON_TIME = 99.0  # [%] spec: the report's mark of a session in time

WORDS = {
    "out_of_reach": "not reached from this posture",
    "bound": "a joint at its limit",
    "velocity": "velocity limit",
    "acceleration": "acceleration limit",
    "jerk": "jerk limit",
    "catching_up": "catching up",
    "blocked": "blocked",
    "not_followed": "off its command",
    "clearance": "keeping clear of a body",
    "unverified": "without a verified stop",
    "tool_speed": "tool speed",
    "singularity": "near a singularity",
}
"""Words for causes in a sentence."""


def describe_reach(reach: Json | None) -> str:
    """Describe reached targets and causes."""
    if reach is None:
        return "not known: nothing tells what was asked of the joints"
    parts = [f"reached {_share(reach['reached_percent'])}"]
    for entry in reach["short"]:
        if entry["percent"] >= WORTH:
            parts += _describe_entry(entry)
    return ", ".join(parts)


def describe_longest(reach: Json | None) -> str:
    """Describe the longest and total shortfall."""
    if reach is None or not reach["short"] or reach["short_s"] < 0.01:
        return ""
    worst = reach["short"][0]
    said = (
        f"{reach['short_s']:.1f} s short; {WORDS[worst['cause']]} for up to "
        f"{worst['longest_s']:.1f} s"
    )
    off = worst["farthest_mm"]  # of what the IK left; of what the gate kept, nothing
    return f"{said}, {off:.0f} mm off at most" if off >= 0.5 else said


def name_cause(entry: Json) -> str:
    """Return a cause with its joints."""
    joints = _list_joints(entry)
    words = WORDS[entry["cause"]]
    return f"{words} ({', '.join(joints)})" if joints else words


def _list_joints(entry: Json) -> list[str]:
    shares = list(entry["joints"].items())[:N_JOINTS]
    return [name for name, share in shares if share > NOTABLE * entry["percent"]]


def list_advice(entry: Json) -> list[str]:
    """Return advice, the most important first."""
    if entry["error"]:
        return ["Run `paprle info` on it: it says what is in the file."]
    advice = [*_advise_on_session(entry), *_advise_on_reach(entry)]
    lag = entry["lag_ms"]
    if lag is not None and lag > LONG_LAG:
        advice.append(
            f"The robot was {lag:.0f} ms behind. The table of latencies says whose "
            "delay it is: before the command, or between command and motion."
        )
    if not advice:
        advice.append(
            "Nothing stood in the way. Try a faster or a larger motion, or repeat this "
            "one and give all episodes to `paprle evaluate` to see how much they vary."
        )
    return advice


def _share(percent: float) -> str:
    """Return a share, never rounded to 0 or 100 %."""
    if 99.5 <= percent < 100.0 or 0.0 < percent < 1.0:
        return f"{min(percent, 99.99):.2g} %" if percent < 1 else f"{percent:.2f} %"
    return f"{percent:.0f} %"


def _describe_entry(entry: Json) -> list[str]:
    if entry["cause"] == "bound" and entry["joints"]:
        shares = list(entry["joints"].items())[:N_JOINTS]
        return [f"{name} at its limit {_share(share)}" for name, share in shares]
    joints = ", ".join(_list_joints(entry))
    whose = f" ({joints})" if joints else ""
    return [f"{WORDS[entry['cause']]} {_share(entry['percent'])}{whose}"]


def _advise_on_session(entry: Json) -> Iterator[str]:
    if not entry["is_complete"]:
        yield (
            "The recording is not complete. `paprle recover` makes a file of what is "
            "valid in it."
        )
    if entry.get("engaged_s") == 0.0:
        yield (
            "The session was never ENGAGED. Engage the leader as its page says, and "
            "move; only then is anything compared."
        )
    if entry["gate"]["violations"]:
        yield (
            "A command broke a motion limit. Do not run this robot on; the oracle's "
            "verdict below says which command and which joint."
        )
    on_time = entry["tick"]["on_time_percent"]
    if on_time is not None and on_time < ON_TIME:
        yield (
            f"{100 - on_time:.1f} % of the session's ticks were late. Close other "
            "programs, or lower session.rate."
        )


def _advise_on_reach(entry: Json) -> Iterator[str]:
    reach = entry.get("reach") or {"short": []}
    causes = {one["cause"]: one for one in reach["short"] if one["percent"] >= MATTERS}
    bound = causes.get("bound")
    if bound and bound["joints"]:
        names = " and ".join(list(bound["joints"])[:N_JOINTS])
        yield (
            f"The target asked for more than the range of {names}. Engage with the "
            "hand turned so that there is room, begin from another posture (home in "
            "the robot's YAML), or move within a smaller space."
        )
    elif "out_of_reach" in causes:
        off = causes["out_of_reach"]["farthest_mm"]
        yield (
            f"The target was {off:.0f} mm beyond what the joints reached from their "
            "posture. Keep the motion nearer to the robot, begin in another posture, "
            "or shrink it with retarget.scale (leaders that drive by relative motion)."
        )
    kinds = ("velocity", "acceleration", "jerk")
    rates = [causes[kind] for kind in kinds if kind in causes]
    if rates:
        what = " and the ".join(name_cause(one) for one in rates)
        slower = (
            "Play it with leader.speed=0.5"
            if entry.get("leader") == "offline"
            else "Move more slowly"
        )
        yield (
            f"The motion asks for more than the {what}. {slower}, or shrink "
            "it with retarget.scale; raise limits in the robot's YAML only if its "
            "maker allows more."
        )
    if "clearance" in causes or "unverified" in causes:
        kept = "; ".join(entry["gate"].get("kept") or ["bodies are kept apart"])
        yield (
            f"The gate acted: {kept}. Keep away from there, or look at them with "
            "`paprle collision`."
        )
    if "blocked" in causes or "not_followed" in causes:
        yield (
            "Something held the robot. See what it pushed against, and whether its "
            "drives are on and strong enough."
        )
