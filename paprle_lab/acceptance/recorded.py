"""Checks of one session at full speed."""

from __future__ import annotations

from paprle.contracts.errors import RecordingError
from paprle_lab.acceptance.check import Kit, Outcome, SessionOutcome
from paprle_lab.evaluation.episode import measure_episode

_MARGIN = 30.0  # [s] chosen: beside the session's own time, for its end
_NEAR = 0.02  # [s] chosen: four periods of most robots
_SILENCE = 0.1  # [s] spec: docs/SAFETY.md: older samples are silence
_ON_TIME = 99.0  # [%] chosen: README, Measured: a healthy machine has 100
_RATE = 0.01  # chosen: share of the rate that may be missing


def _record(kit: Kit) -> SessionOutcome:
    if kit.recorded is None:
        kit.recorded = _run(kit)
    return kit.recorded


def _run(kit: Kit) -> SessionOutcome:
    words = (f"session.duration={kit.seconds!r}", "session.episodes=1")
    with kit.lead(*words) as session:
        session.wait(kit.seconds + _MARGIN)
        session.end()
        code, path = session.code, session.find_recording()
    entry = measure_episode(path).entry
    shown = tuple(session.list_shown()[-4:])
    return SessionOutcome(code=-1 if code is None else code, entry=entry, shown=shown)


def check_latency(kit: Kit) -> Outcome:
    """Measure from samples to commands and to motion."""
    entry = _record(kit).entry
    if entry["error"]:
        raise RecordingError(str(entry["error"]))
    command, motion = (
        entry["latency_ms"][k] for k in ("capture_to_command", "command_to_motion")
    )
    if command["p50"] is None or motion["p50"] is None:
        return Outcome(problems=["the robot moved too little to measure a delay"])
    figures = [
        f"sample to command: {command['p50']:.1f} ms, p99 {command['p99']:.1f}",
        f"command to motion: {motion['p50']:.1f} ms, p99 {motion['p99']:.1f}",
    ]
    problems = []
    if command["p50"] > 1e3 * _SILENCE:
        problems.append(
            f"commands rest on samples that are {command['p50']:.0f} ms old; expected "
            f"at most {1e3 * _SILENCE:.0f}"
        )
    if kit.lag is not None and motion["p50"] > 1e3 * (kit.lag + _NEAR):
        problems.append(
            f"the robot follows {motion['p50']:.0f} ms late; the gate counts on "
            f"{1e3 * kit.lag:.0f} ms: measure its lag by `paprle identify`"
        )
    return Outcome(figures=figures, problems=problems)


def check_recording(kit: Kit) -> Outcome:
    """Judge the episode as ``paprle evaluate`` does."""
    entry = _record(kit).entry
    if entry["error"]:
        raise RecordingError(str(entry["error"]))
    gate = entry["gate"]
    figures = [
        f"engaged for {entry['engaged_s']:.1f} s, limits broken: {gate['violations']}",
    ]
    problems = []
    if gate["violations"] != 0:
        problems.append(f"limits were broken: {gate.get('oracle') or 'not judged'}")
    if not entry["is_complete"]:
        problems.append("the file is not complete; read it with `paprle recover`")
    if not entry["engaged_s"] > 0.0:
        problems.append("the session was never engaged")
    problems += [note for note in entry["notes"] if note.startswith("not recorded")]
    return Outcome(figures=figures, problems=problems)


def check_end(kit: Kit) -> Outcome:
    """Judge the session's punctuality and end."""
    recorded = _record(kit)
    tick = recorded.entry["tick"]
    if tick["rate_hz"] is None:
        return Outcome(problems=[f"no tick was recorded: {' | '.join(recorded.shown)}"])
    asked = kit.resolved.session.rate
    figures = [
        f"exit code {recorded.code}",
        f"{tick['rate_hz']:.1f} of {asked:g} ticks a second, "
        f"{tick['on_time_percent']:.2f} % on time, {tick['lost']} lost",
    ]
    problems = []
    if recorded.code:
        said = " | ".join(recorded.shown)
        problems.append(f"expected exit code 0, got {recorded.code}: {said}")
    if tick["rate_hz"] < (1.0 - _RATE) * asked:
        problems.append(f"expected {asked:g} ticks a second, got {tick['rate_hz']:.1f}")
    if tick["on_time_percent"] < _ON_TIME:
        problems.append(
            f"expected {_ON_TIME:g} % of ticks on time, got "
            f"{tick['on_time_percent']:.2f} %"
        )
    policy = kit.resolved.session.close_policy
    left = "without power" if policy == "off" else "with power, holding"
    if kit.power_off:
        left += f" (without power it {kit.power_off})"
    figures.append(f"left {left}, as session.close_policy={policy} declares")
    if not kit.person.sees(f"Is the robot now {left}?"):
        problems.append(f"the person did not find the robot {left}")
    return Outcome(figures=figures, problems=problems)
