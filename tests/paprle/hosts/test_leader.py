"""The process of a leader: what it tells the operator, and that it always lets go."""

import json
import os
import time

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.types import Cues, Feedback, GateState
from paprle.hosts import leader as leader_host
from paprle.hosts.factories import make_payload
from paprle.hosts.leader import LeaderHost
from paprle.hosts.plan import make_plan
from paprle.ipc.feedback_record import FEEDBACK, pack_feedback
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.process import Role
from paprle.retargeting.anchor_record import make_anchors_dtype

PUPPETEER = ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic")


@pytest.fixture
def make_host(monkeypatch):
    """Make leader hosts in this process, whose loop ends by itself."""
    monkeypatch.setattr(leader_host, "request_realtime", lambda *_: "")
    monkeypatch.setattr(leader_host, "freeze_garbage", lambda: None)
    monkeypatch.setattr(leader_host.signal, "signal", lambda *_: None)
    reading, writing = os.pipe()
    lives, session = os.pipe()
    os.set_blocking(reading, False)

    def make(*words):
        plan = make_plan(resolve(words))
        layout = plan.layout
        boxes = {
            "sample": Mailbox(layout.sample),
            "feedback": Mailbox(FEEDBACK),
            "anchors": Mailbox(make_anchors_dtype(len(layout.limbs))),
            "status": Mailbox(layout.status),
        }
        fds = {name: box.fd for name, box in boxes.items()}
        fds |= {"report": writing, "session_alive": lives}
        host = LeaderHost(Role(make_payload(plan.resolved, plan.robot.info), fds))
        host.boxes = boxes  # they live as long as it does
        return host

    make.take_reports = lambda: [
        json.loads(line) for line in os.read(reading, 1 << 16).splitlines()
    ]
    yield make
    for end in (reading, writing, lives, session):
        os.close(end)


def test_a_feedback_thread_that_fails_to_end_does_not_keep_the_device(make_host):
    class Stuck:
        def start(self):
            pass

        def close(self):
            raise RuntimeError("deque mutated during iteration")

    host = make_host("leader=autopilot", "follower=piper", "env=kinematic")
    closed = []
    host._leader.close = lambda: closed.append(True)
    host._thread, host._must_end = Stuck(), True

    with pytest.raises(RuntimeError, match="deque"):
        host.run()

    assert closed


def test_warnings_and_last_words_of_a_leader_reach_the_operator(make_host):
    host = make_host("leader=autopilot", "follower=piper", "env=kinematic")

    def warn():
        host._must_end = True
        return ["a servo is hot"]

    host._leader.take_warnings = warn
    host._leader.last_words = ("3 damaged packets",)
    host.run()

    told = [(r["event"], r.get("message")) for r in make_host.take_reports()]
    assert ("trouble", "a servo is hot") in told
    assert told[-1] == ("summary", "3 damaged packets")


@pytest.mark.parametrize("link", [(), ("link.peer=10.0.0.1",)], ids=["near", "far"])
def test_a_leader_with_motors_says_whether_they_render(make_host, link):
    host = make_host(*PUPPETEER, *link)

    note = next(note for note in host._notes if note.startswith("feedback: "))
    assert note.startswith("feedback: off, and the leader is limp") == bool(link)


@pytest.mark.parametrize("is_engaged", [True, False])
def test_every_leader_is_given_what_the_follower_meets(make_host, is_engaged):
    host = make_host("leader=autopilot", "follower=piper", "env=kinematic")
    now_ns = time.monotonic_ns()
    told = Feedback(stamp_ns=now_ns, state="ENGAGED", episode=2, is_engaged=is_engaged)
    host.boxes["feedback"].write(pack_feedback(told))
    status = np.zeros((), dtype=host._layout.status)
    status["stamp_ns"], status["state"] = now_ns, GateState.ENGAGED
    host._cues._stale_ns = 10**10  # this machine may stand still
    host.boxes["status"].write(status)
    host._read_feedback()  # its lag begins where the follower is
    status["stamp_ns"] += 5_000_000
    status["q_meas"][0] = 1.0
    host.boxes["status"].write(status)

    felt = host._read_feedback()

    assert (felt.episode, felt.stamp_ns) == (2, now_ns)
    assert (felt.cues.contact > 0.5) == is_engaged
    assert (felt.rumble > 0.5) == is_engaged
    assert is_engaged or felt.cues == Cues()
