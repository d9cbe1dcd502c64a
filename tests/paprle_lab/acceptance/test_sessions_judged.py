"""Judgement of sessions: rest after a loss, no motion after it, latency, end."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from planted_rigs import make_kit

from paprle.contracts.types import LeaderInfo
from paprle_lab.acceptance.check import SessionOutcome
from paprle_lab.acceptance.led import ConnectionLoss, find_silence, judge_loss
from paprle_lab.acceptance.recorded import check_end, check_latency, check_recording

H = 0.005  # [s]
LOST, BACK = 2.0, 4.0  # [s]
GATE = [("stamp_ns", "u8"), ("dq_cmd", "f8", (7,)), ("q_meas", "f8", (7,))]


def make_loss(rest=0.2, state="CLUTCHED", moving_from=0.0, drift=0.0, after=0.0):
    """Return a loss at 2 s of a joint in motion, whose command rests later."""
    t = np.arange(0.0, 6.0, H)
    gate = np.zeros(len(t), dtype=GATE)
    gate["stamp_ns"] = 1e9 * t
    gate["dq_cmd"][:, 0] = 0.1 * ((t >= moving_from) & (t < LOST + rest))
    gate["q_meas"][:, 0] = np.cumsum(gate["dq_cmd"][:, 0]) * H
    gate["q_meas"][:, 1] = drift * np.clip(t - LOST, 0.0, None)
    gate["q_meas"][:, 2] = after * np.clip(t - BACK, 0.0, None)
    episode = SimpleNamespace(gate=gate, header={"gate_period": H})
    return ConnectionLoss(
        at_ns=int(1e9 * LOST),
        back_ns=int(1e9 * BACK),
        shown=("CLUTCHED · leader lost",),
        state=state,
        episode=episode,
    )


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        ({}, None),
        ({"rest": 1.0}, "the command came to rest after"),
        ({"rest": -1.2}, "the robot stood when it happened"),
        ({"drift": 0.05}, "joint2 moved by"),
        ({"state": "ENGAGED"}, "the session was ENGAGED again before anybody engaged"),
        ({"after": 0.05}, "after it was back and before a new engagement"),
    ],
)
def test_rest_after_a_loss_is_judged(loss, told):
    kit, _ = make_kit()

    problems = "\n".join(
        judge_loss(kit, make_loss(**loss), 0.1, goes_on=False).problems
    )

    assert problems == "" if told is None else told in problems


def test_a_program_may_lead_again_by_itself():
    kit, _ = make_kit()

    loss = make_loss(state="ENGAGED", after=0.05)

    assert judge_loss(kit, loss, 0.1, goes_on=True).problems == []


@pytest.mark.parametrize(
    ("rate", "silence"), [(200.0, 0.1), (50.0, 0.1), (30.0, 0.153), (10.0, 0.2)]
)
def test_the_silence_of_a_leader_is_that_of_the_safety_page(rate, silence):
    info = LeaderInfo(limbs=("hand",), rate=rate)

    assert find_silence(info) == pytest.approx(silence, abs=1e-3)


def record(**changes):
    entry = {
        "error": None,
        "is_complete": True,
        "engaged_s": 9.0,
        "notes": [],
        "gate": {"violations": 0},
        "tick": {"rate_hz": 200.0, "on_time_percent": 100.0, "lost": 0},
        "latency_ms": {
            "capture_to_command": {"p50": 4.0, "p99": 9.0},
            "command_to_motion": {"p50": 8.0, "p99": 9.0},
        },
    }
    return SessionOutcome(
        code=changes.pop("code", 0), entry=entry | changes, shown=["ended: quit"]
    )


def make_latency(command, motion):
    kinds = {"capture_to_command": command, "command_to_motion": motion}
    return {"latency_ms": {kind: {"p50": v, "p99": v} for kind, v in kinds.items()}}


@pytest.mark.parametrize(
    ("check", "changes", "told"),
    [
        (check_latency, {}, None),
        (
            check_latency,
            make_latency(4.0, 300.0),
            "follows 300 ms late; the gate count",
        ),
        (check_latency, make_latency(150.0, 8.0), "samples that are 150 ms old"),
        (check_latency, make_latency(None, None), "moved too little"),
        (check_recording, {}, None),
        (check_recording, {"gate": {"violations": 2, "oracle": "M3"}}, "broken: M3"),
        (check_recording, {"is_complete": False}, "the file is not complete"),
        (check_recording, {"notes": ["not recorded: 1 s"]}, "not recorded: 1 s"),
        (check_end, {}, None),
        (check_end, {"code": 4}, "expected exit code 0, got 4: ended: quit"),
        (
            check_end,
            {"tick": {"rate_hz": 150.0, "on_time_percent": 80.0, "lost": 0}},
            "expected 200 ticks a second, got 150.0",
        ),
    ],
)
def test_a_recorded_session_is_judged(check, changes, told):
    kit, _ = make_kit(recorded=record(**changes), lag=0.0)

    problems = "\n".join(check(kit).problems)

    assert problems == "" if told is None else told in problems
