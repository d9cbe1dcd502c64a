"""The process of a leader: what it tells the operator, and that it always lets go."""

import json
import os
import time

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.types import Cues, Feedback, GateState, SessionState
from paprle.hosts.factories import make_payload
from paprle.hosts.plan import make_plan
from paprle.hosts.processes import leader as leader_host
from paprle.hosts.processes.leader import LeaderHost
from paprle.hosts.roles import list_ports
from paprle.ipc.feedback_record import pack_feedback
from paprle.ipc.ports import make_ports
from paprle.ipc.process import Role
from paprle.ipc.records import pack_sample

PUPPETEER = ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic")


@pytest.fixture
def make_host(monkeypatch):
    """Make leader hosts in this process, whose loop ends by itself."""
    monkeypatch.setattr(leader_host, "request_realtime", lambda *_: "")
    monkeypatch.setattr(leader_host, "freeze_garbage", lambda: None)
    reading, writing = os.pipe()
    lives, session = os.pipe()
    os.set_blocking(reading, False)

    def make(*words, name="leader"):
        plan = make_plan(resolve(words))
        boxes = make_ports(list_ports(plan.layout, tuple(plan.leaders)))
        fds = {name: box.fd for name, box in boxes.items()}
        fds |= {"report": writing, "session_alive": lives}
        payload = make_payload(plan.resolved, plan.robot.info) | {"name": name}
        host = LeaderHost(Role(payload, fds))
        host.boxes = boxes  # they live as long as it does
        return host

    def end():
        nonlocal session
        if session >= 0:
            os.close(session)
            session = -1

    make.take_reports = lambda: [
        json.loads(line) for line in os.read(reading, 1 << 16).splitlines()
    ]
    make.end = end
    yield make
    end()
    for fd in (reading, writing, lives):
        os.close(fd)


def test_a_feedback_thread_that_fails_to_end_does_not_keep_the_device(make_host):
    class Stuck:
        def start(self):
            pass

        def is_alive(self):
            return True

        def close(self):
            raise RuntimeError("deque mutated during iteration")

    host = make_host("leader=autopilot", "follower=piper", "env=kinematic")
    closed = []
    host._leader.close = lambda: closed.append(True)
    host._thread = Stuck()
    make_host.end()

    with pytest.raises(RuntimeError, match="deque"):
        host.run()

    assert closed


def test_warnings_and_closing_notes_of_a_leader_reach_the_operator(make_host):
    host = make_host("leader=autopilot", "follower=piper", "env=kinematic")

    def warn():
        make_host.end()
        return ["a servo is hot"]

    class Told(type(host._leader)):
        closing_notes = ("3 damaged packets",)

    host._leader.__class__ = Told
    host._leader.take_warnings = warn
    host.run()

    told = [(r["event"], r.get("message")) for r in make_host.take_reports()]
    assert ("trouble", "a servo is hot") in told
    assert told[-1] == ("summary", "3 damaged packets")


@pytest.mark.long
@pytest.mark.parametrize("link", [(), ("link.peer=10.0.0.1",)], ids=["near", "far"])
def test_a_leader_with_motors_says_whether_they_render(make_host, link):
    host = make_host(*PUPPETEER, *link)

    note = next(note for note in host._notes if note.startswith("feedback: "))
    assert note.startswith("feedback: off, and the leader is limp") == bool(link)


def test_a_leader_of_several_posts_its_own_sample_into_its_own_port(make_host):
    words = ("leaders.left.type=autopilot", "leaders.right.type=autopilot")
    triple = ("leader=mix", "follower=piper_2arm", "env=kinematic")
    triple += ("retarget.limb_map={left: left.hand, right: right.hand}",)
    host = make_host(*triple, *words, name="leader:right")
    make_host.end()
    host._leader.open()
    host._loop()  # its session is gone
    sample = host._leader.latest()
    host._samples.write(pack_sample(host._layout, sample))

    assert host.boxes["sample:left"].read() is None
    assert host.boxes["sample:right"].read()["seq"] == sample.seq


@pytest.mark.parametrize("is_engaged", [True, False])
def test_every_leader_is_given_what_the_follower_meets(make_host, is_engaged):
    host = make_host("leader=autopilot", "follower=piper", "env=kinematic")
    now_ns = time.monotonic_ns()
    told = Feedback(
        stamp_ns=now_ns, state=SessionState.ENGAGED, episode=2, is_engaged=is_engaged
    )
    host.boxes["feedback"].write(pack_feedback(told, np.zeros(1, dtype=np.int64)))
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
