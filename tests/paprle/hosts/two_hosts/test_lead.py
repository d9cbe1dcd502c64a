"""The operator's host of a leader whose session is at the robot."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sessions_view import make_view

from paprle.cli import main
from paprle.cli.doctor import resolve_leader
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import LinkSettings
from paprle.contracts.types import (
    LeaderSample,
    LimbCommand,
    SessionState,
)
from paprle.hosts.factories import list_observers, make_leader
from paprle.hosts.operator.terminal import Operator
from paprle.hosts.two_hosts.lead import Lead
from paprle.leaders.remote.config import RemoteConfig
from paprle.leaders.remote.leader import RemoteLeader
from paprle.link.remote_leader.hand_poses import make_placing
from paprle.link.remote_leader.operator_side import describe_remote
from paprle.link.remote_leader.robot_side import make_far_info

DOMAIN = 78  # chosen: ports that no other test uses


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "link.key"
    path.write_text("0123456789abcdef\n")
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def pair(key):
    """The operator's host, and the robot's leader process."""
    link = ["link.peer=127.0.0.1", f"link.key={key}", "link.type=udp"]
    words = ["leader=autopilot", *link, f"link.domain={DOMAIN}"]
    operator = Operator()
    lead = Lead(resolve_leader(words), operator)
    lead.open()
    settings = LinkSettings(peer="127.0.0.1", key=key, type="udp", domain=DOMAIN)
    config = RemoteConfig(human=False, gripper=False, link=settings)
    robot = RemoteLeader(config, time.monotonic_ns)
    robot.open()
    yield lead, robot, operator
    lead.close()
    robot.close()


def meet(lead, robot, n=80):
    """Let both look for a while; return the robot's newest sample."""
    sample = None
    for _ in range(n):
        time.sleep(0.001)
        lead.step(time.monotonic_ns())
        sample = robot.latest() or sample
    return sample


@pytest.mark.long
def test_the_host_leads_and_reports_how_it_goes(pair):
    lead, robot, operator = pair
    assert lead.describe().startswith("WAITING-FOR-ROBOT link no answer")
    operator.add("engage")

    sample = meet(lead, robot)
    now_ns = time.monotonic_ns()
    view = make_view(SessionState.ENGAGED, now_ns, sample.stamp_ns, "clearance")
    robot.observe(view)
    meet(lead, robot, 5)

    assert sample.actions.engage == 1
    assert robot.is_alive
    told = lead.describe()
    assert told.startswith("ENGAGED link ")
    assert "robot held: clearance" in told
    assert lead.side.view.q == pytest.approx([0.25, -1.5])
    assert 0 < lead.side.view_ns - lead.side.view.captured_ns < 5e9


def test_the_host_needs_to_know_where_the_robot_is(key):
    words = ["leader=autopilot", f"link.key={key}"]

    with pytest.raises(ConfigError, match="link.peer: expected the robot's host"):
        Lead(resolve_leader(words), Operator())


def test_an_arm_gives_the_pose_of_its_hand_and_its_gripper():
    info = make_leader(resolve_leader(["leader=puppeteer_piper"])).info
    [limb] = info.limbs
    n = len(info.joint_names[limb])
    sample = LeaderSample(
        stamp_ns=1,
        seq=1,
        limbs={limb: LimbCommand(q=np.full(n, 0.1), opening=0.25)},
    )

    placed = make_placing(info)(sample).limbs[limb]

    far = make_far_info(info)
    assert far.emits == "pose"
    assert "leader.limbs='[arm]' leader.gripper=true" in describe_remote(far)
    assert placed.opening == 0.25
    assert 0.05 < np.linalg.norm(placed.T_leader_base_leader_eef.translation) < 1.0


class Pages:
    """Notes where a page would be."""

    def __init__(self, resolved, _leader):
        self.names = list(list_observers(resolved))

    def start(self, _must_stop):
        return [f"page of {name}" for name in self.names]

    def close(self):
        pass


def test_a_page_that_is_asked_for_is_served_without_a_terminal(key, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("paprle.hosts.two_hosts.lead_pages.LeadPages", Pages)
    words = ["leader=autopilot", "link.peer=127.0.0.1", f"link.key={key}"]
    words += ["link.type=udp", f"link.domain={DOMAIN + 1}", "follower=piper"]
    made = []

    def run(resolved, *, knows_robot):
        made.append(Lead(resolved, Operator(), knows_robot=knows_robot))
        return 0

    monkeypatch.setattr("paprle.hosts.two_hosts.lead.lead", run)
    assert main(["lead", *words]) == 0
    notes = made[0].open()
    made[0].close()

    assert "page of view" in notes


def test_a_host_without_a_page_says_how_to_have_one(pair):
    lead, _, _ = pair
    lead.close()

    assert any("add follower=NAME" in text for text in lead.open())
