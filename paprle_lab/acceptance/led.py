"""Checks in reduced mode: silence and pulled cables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.types import LeaderInfo, SessionState
from paprle.gate.smoothing import compute_delay
from paprle.recording.reader import Episode
from paprle_lab.acceptance.check import Kit, Outcome, Skipped
from paprle_lab.acceptance.led_session import LedSession

_REDUCED = "session.reduced=true"
SIMULATED = ("kinematic", "mujoco")
_LEADS = 2.0  # [s] chosen: the robot moves by then
_SILENT = 2.0  # [s] chosen: twice gate.latch_after
_BACK = 4.0  # [s] chosen: a device that is plugged in again is found by then
_BY_HAND = 15.0  # [s] chosen: beside that, for a person
_UNPLUGGED = 60.0  # [s] chosen: a person finds the plug
_AT_ONCE = 5.0  # [s] chosen: a command that pulls it takes no longer
_SILENCE, _SLOW_SILENCE = 0.1, 0.2  # [s] spec: docs/SAFETY.md, third promise
_SLOW_RATE = 50.0  # [Hz] spec: the same
_SLACK = 0.1  # [s] chosen: a shared machine, and the servo's own settling
_RECENT = 1.0  # [s] chosen: a hand that leads to and fro turns in less
_MOVES = 1e-3  # [rad/s or m/s] chosen: of a command that counts as motion
_STAYS = 0.005  # [rad or m] chosen: a held arm


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLoss:
    """A loss of connection in motion.

    Attributes:
        at_ns: Begin.
        back_ns: End.
        shown: Lines printed between.
        state: At the end.
    """

    at_ns: int
    back_ns: int
    shown: tuple[str, ...]
    state: str
    episode: Episode


def find_leader_info(kit: Kit) -> LeaderInfo:
    """Return the merged properties of all leaders."""
    return merge_leaders({name: one.info for name, one in kit.leaders.items()})


def check_silence(kit: Kit) -> Outcome:
    """Check rest while the leader's process is paused in motion."""
    with kit.lead(_REDUCED) as session:
        session.wait(_LEADS)
        n_before = len(session.text)
        at_ns = session.pause_leaders()
        session.wait(_SILENT)
        shown = tuple(session.list_shown(n_before))
        back_ns = time.monotonic_ns()
        session.resume()
        session.wait(_SILENT)
        state = session.state
    episode = _open(session)
    loss = ConnectionLoss(
        at_ns=at_ns, back_ns=back_ns, shown=shown, state=state, episode=episode
    )
    info = find_leader_info(kit)
    return judge_loss(kit, loss, find_silence(info), goes_on=not info.is_human)


def find_silence(info: LeaderInfo) -> float:
    """Return a leader's silence until the robot brakes, [s]."""
    if info.rate >= _SLOW_RATE:
        return _SILENCE
    return min(max(4.0 / info.rate + 0.02, _SILENCE), _SLOW_SILENCE)


def check_leader_out(kit: Kit) -> Outcome:
    """Check rest while the leader's cable is pulled."""
    if not find_leader_info(kit).is_human and "leader-out" not in kit.hooks:
        raise Skipped("a program has no cable")
    _need_hands(kit, "leader-out")
    return _unplug(kit, "leader", find_silence(find_leader_info(kit)))


def check_robot_out(kit: Kit) -> Outcome:
    """Check rest while the robot's cable is pulled."""
    if kit.resolved.env_type in SIMULATED and "robot-out" not in kit.hooks:
        raise Skipped("a simulated robot has no cable")
    _need_hands(kit, "robot-out")
    return _unplug(kit, "robot", kit.resolved.gate.state_latch_after)


def _need_hands(kit: Kit, hook: str) -> None:
    if kit.person.is_absent and hook not in kit.hooks:
        raise Skipped(f"nobody is there to pull it, and no --hook {hook}=…")


def _unplug(kit: Kit, part: str, silence: float) -> Outcome:
    with kit.lead(_REDUCED) as session:
        session.wait(_LEADS)
        n_before = len(session.text)
        kit.person.act(
            f"Pull the cable of the {part} now, while it moves.",
            kit.hooks.get(f"{part}-out"),
        )
        at_ns = time.monotonic_ns()
        by_hand = 0.0 if kit.person.is_absent else _BY_HAND
        patience = _UNPLUGGED if by_hand else _AT_ONCE
        if not session.wait(patience, lambda: session.state != "ENGAGED") and (
            session.is_running
        ):
            return Outcome(problems=[f"the session went on for {patience:g} s"])
        session.wait(_SILENT)
        shown = tuple(session.list_shown(n_before))
        back_ns = time.monotonic_ns()
        kit.person.act(f"Plug the {part} in again.", kit.hooks.get(f"{part}-in"))
        session.wait(_BACK if f"{part}-in" in kit.hooks else _BACK + by_hand)
        state = session.state if session.is_running else "ended"
    episode = _open(session)
    if part == "robot":
        at_ns = find_last_state(episode)
    elif f"{part}-out" not in kit.hooks:  # a person pulls it somewhat later
        at_ns = find_left(episode) - round(1e9 * silence)
    loss = ConnectionLoss(
        at_ns=at_ns, back_ns=back_ns, shown=shown, state=state, episode=episode
    )
    goes_on = part == "leader" and not find_leader_info(kit).is_human
    outcome = judge_loss(kit, loss, silence, goes_on=goes_on)
    problems = list(outcome.problems)
    if not shown:
        problems.append(f"the session printed nothing when the {part} was gone")
    if not kit.person.sees(
        f"Did it say clearly that the {part} was gone, and did the arm stay at rest?"
    ):
        problems.append(
            f"the person found no clear message that the {part} was gone, or saw motion"
        )
    return Outcome(figures=outcome.figures, problems=problems)


def _open(session: LedSession) -> Episode:
    try:
        return session.open_episode()
    except RecordingError as err:
        said = " | ".join(session.list_shown()[-3:])
        raise RecordingError(f"{err}; the session printed: {said}") from err


def find_left(episode: Episode) -> int:
    """Return the time of leaving ENGAGED, or the last tick, [ns]."""
    ticks = episode.ticks
    engaged = ticks["state"] == SessionState.ENGAGED
    later = np.flatnonzero(~engaged & (np.cumsum(engaged) > 0))
    return int(ticks["stamp_ns"][later[0] if len(later) else -1])


def find_last_state(episode: Episode) -> int:
    """Return the last measurement before the longest gap, [ns]."""
    stamps = np.unique(episode.gate["meas_ns"])
    end = max(int(stamps[-1]), int(episode.gate["stamp_ns"][-1]))
    gaps = np.diff(np.append(stamps, end))
    return int(stamps[int(np.argmax(gaps))])


def judge_loss(
    kit: Kit, loss: ConnectionLoss, silence: float, *, goes_on: bool
) -> Outcome:
    """Judge rest and return; ``goes_on``: a program may lead again."""
    robot, episode = kit.robot.info, loss.episode
    h = float(episode.header["gate_period"])
    gate = episode.gate
    moving = np.abs(gate["dq_cmd"]).max(axis=1) > _MOVES
    since = (gate["stamp_ns"].astype(np.int64) - loss.at_ns) * 1e-9
    figures = [f"shown: {line}" for line in loss.shown[-3:]]
    recent = (since > -_RECENT) & (since <= 0.0)
    if not moving[recent].any():
        return Outcome(
            figures=figures,
            problems=["the robot stood when it happened, so nothing was tried"],
        )
    braking = float((robot.dq_max / robot.ddq_max).max())
    delay = 1.0 / kit.resolved.session.rate + h + 2.0 * compute_delay(robot, h)
    allowed = silence + delay + braking + _SLACK
    gone = (loss.back_ns - loss.at_ns) * 1e-9
    late = since[moving & (since > 0.0) & (since < gone)]
    rest = float(late[-1]) if len(late) else 0.0
    figures.append(
        f"the command was at rest after {1e3 * rest:.0f} ms, allowed "
        f"{1e3 * allowed:.0f} ms"
    )
    problems = []
    if rest > allowed:
        problems.append(
            f"the command came to rest after {rest:.2f} s; expected {allowed:.2f} s"
        )
    still = (since > allowed + 3.0 * _SLACK) & (since < gone)
    problems += _judge_still(kit, gate["q_meas"][still])
    figures.append(f"in the end: {loss.state}")
    if goes_on:
        figures.append("the leader is a program, which goes on by itself")
    else:
        problems += _judge_return(kit, loss, gate["q_meas"][since >= gone])
    return Outcome(figures=figures, problems=problems)


def _judge_still(kit: Kit, q_meas: np.ndarray) -> Iterator[str]:
    if not len(q_meas):
        return
    moved = np.ptp(q_meas, axis=0)
    yield from (
        f"{kit.robot.joint_names[j]} moved by {moved[j]:.3f} though the command stood"
        for j in np.flatnonzero(moved > _STAYS)
    )


def _judge_return(kit: Kit, loss: ConnectionLoss, q_meas: np.ndarray) -> Iterator[str]:
    if loss.state in {"ENGAGED", "ALIGNING"}:
        yield f"the session was {loss.state} again before anybody engaged it"
    for problem in _judge_still(kit, q_meas):
        yield f"{problem}, after it was back and before a new engagement"
