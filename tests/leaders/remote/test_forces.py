"""The operator of a puppeteer feels a robot on another host: servos, link and all."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from emulated_puppeteers import run_emulated, wait_for
from sessions_view import make_view

from paprle.cli.doctor import resolve_leader
from paprle.contracts.session_view import HeldHand
from paprle.contracts.settings.core import LinkSettings
from paprle.contracts.types import Feedback, SessionState
from paprle.hosts.operator.terminal import Operator
from paprle.hosts.two_hosts.lead import Lead
from paprle.ipc.records import pose_to_row
from paprle.leaders.remote.config import RemoteConfig
from paprle.leaders.remote.leader import RemoteLeader

ROOT = Path(__file__).resolve().parents[3]
RIG = "puppeteer_piper"
DOMAIN = 79  # chosen: ports that no other test uses
WAY = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "link.key"
    path.write_text("0123456789abcdef\n")
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def rig(key, tmp_path):
    """Servos that stand, the operator's host, and the robot's leader process."""
    tree = yaml.safe_load((ROOT / f"configs/leader/{RIG}.yaml").read_text())
    with run_emulated(tmp_path / "rig", tree) as emulated:
        words = [f"leader={RIG}", "link.peer=127.0.0.1", f"link.key={key}"]
        words += [
            f"leader.limbs.{name}.port={emulated.port(name)}" for name in tree["limbs"]
        ]
        words += ["link.type=udp", f"link.domain={DOMAIN}"]
        lead = Lead(resolve_leader(words), Operator())
        notes = lead.open()
        link = LinkSettings(peer="127.0.0.1", key=key, type="udp", domain=DOMAIN)
        config = RemoteConfig(limbs=("arm",), human=True, forces=True, link=link)
        robot = RemoteLeader(config, time.monotonic_ns)
        robot.open()
        told = Feedback(
            stamp_ns=1, state=SessionState.ENGAGED, episode=0, is_engaged=True
        )
        robot.apply(told)
        yield lead, robot, notes
        lead.close()
        robot.close()


RAMPS, STEADY = 5.0, 0.3  # [s] for torques to be steady; while which they are


@pytest.mark.nightly
@pytest.mark.timeout(60)
def test_the_puppeteer_feels_a_wall_and_carries_its_weight_when_the_link_falls_silent(
    rig,
):
    lead, robot, notes = rig
    assert any("leader.forces=true" in note for note in notes)
    assert any("contact is felt up to 100 ms" in note for note in notes)
    tau = {}
    apply = lead.leader.apply

    def spy(feedback):
        tau.update({name: value.copy() for name, value in feedback.tau.items()})
        apply(feedback)

    lead.leader.apply = spy

    def work(holds, *, speaks=True):
        time.sleep(0.002)
        lead.step(time.monotonic_ns())
        sample = robot.latest()
        if sample is not None and speaks:
            now_ns = time.monotonic_ns()
            robot.observe(
                make_view(
                    stamp_ns=now_ns, captured_ns=sample.stamp_ns, holds=holds(sample)
                )
            )
        return tau.get("arm")

    def settle(holds, duration, **how):
        end = time.monotonic() + duration
        last = end + RAMPS  # samples older than 50 ms: torques begin anew
        found, before = work(holds, **how), np.inf
        while time.monotonic() < last:
            if time.monotonic() > end:
                if np.abs(found - before).max() < 0.001:
                    break
                before, end = found, time.monotonic() + STEADY
            found = work(holds, **how)
        return found

    wait_for(lambda: work(lambda _: ()) is not None, "a torque")
    weight = settle(lambda _: (), 1.5)
    walled = settle(hold_below, 1.0)
    silent = settle(hold_below, 0.5, speaks=False)

    assert np.abs(walled - weight).max() > 0.02, "3 cm of 30 N/m, scaled"
    assert np.abs(silent - weight).max() < 0.005
    assert "contact felt 0%" in lead.describe()


def hold_below(sample):
    """A wall 3 cm below the hand."""
    T = sample.limbs["arm"].T_leader_base_leader_eef.copy()
    T.translation = T.translation + 0.03 * WAY[:3]
    return (HeldHand(0, 1.0, pose_to_row(T), WAY),)
