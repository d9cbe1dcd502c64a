"""A robot that is led over a bad network: what the page and the report say of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from browser import find_browser, open_browser
from ros_rig import wait_for

from paprle.ipc.process import WORKSPACE
from paprle_lab.evaluation.reporting.report import evaluate

START = "import sys; from paprle.cli import main; sys.exit(main())"
DOMAIN, PORT = 83, 8461  # chosen: ports that no other test uses

pytestmark = [pytest.mark.process, pytest.mark.nightly, pytest.mark.timeout(300)]


def start(words, log):
    with log.open("w") as out:
        return subprocess.Popen(
            [sys.executable, "-c", START, *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=WORKSPACE,
            env=os.environ,
        )


@pytest.fixture
def led(tmp_path):
    """A session at the robot, its operator with a page, and where both write."""
    key = tmp_path / "link.key"
    key.write_text("0123456789abcdef" * 2)
    key.chmod(0o600)
    link = ["link.peer=127.0.0.1", f"link.key={key}", "link.type=udp"]
    link += [f"link.domain={DOMAIN}"]
    robot = ["leader=remote", "leader.human=false", "leader.gripper=false"]
    robot += ["follower=piper", "env=kinematic", f"record.dir={tmp_path / 'out'}"]
    leader = ["leader=autopilot", "leader.laps=1000", "leader.size=0.1"]
    page = ["follower=piper", f"observers.view.port={PORT}", "link.emulate=4g"]
    logs = [tmp_path / name for name in ("run.txt", "lead.txt")]
    both = [
        start(["run", *robot, *link, "session.view=false"], logs[0]),
        start(["lead", *leader, *page, *link], logs[1]),
    ]
    try:
        yield both, logs, tmp_path / "out"
    finally:
        for process in both:
            if process.poll() is None:
                process.kill()
                process.wait(20)


def read_pairs(page):
    """Return what the page says of the link, by what it is."""
    names = page.locator("#far dt").all_inner_texts()
    return dict(zip(names, page.locator("#far dd").all_inner_texts(), strict=True))


def test_page_and_report_say_how_far_hand_picture_and_robot_are_apart(led):
    find_browser()
    both, logs, out = led
    engaged = wait_for(lambda: "ENGAGED" in logs[1].read_text(), 100.0)
    assert engaged, logs[0].read_text() + logs[1].read_text()
    address = re.search(r"http://127\S+", logs[1].read_text()).group(0)

    with open_browser(1280, 800) as browser:
        browser.open(address)
        browser.page.get_by_text("Driving").first.wait_for(timeout=60_000)
        browser.page.locator("#far dd").first.wait_for(timeout=60_000)
        time.sleep(15.0)
        said = read_pairs(browser.page)
        does = browser.page.locator("#does").inner_text()
        browser.page.keyboard.press("Space")
        stopped = wait_for(lambda: "STOPPED" in logs[0].read_text(), 20.0)
        assert not browser.errors
    both[1].send_signal(signal.SIGINT)
    both[1].wait(30)
    both[0].send_signal(signal.SIGINT)
    both[0].wait(60)

    assert {"hand to robot", "picture to robot, as predicted", "motion to motion"} <= (
        set(said)
    )
    assert re.fullmatch(r"\d+ of \d+, .* %", said["captures lost"])
    assert "Green: as predicted" in does
    assert stopped, "STOP at the operator's page does nothing"
    [path] = sorted(out.glob("*.mcap"))
    [entry] = evaluate([path])
    far = entry["far"]
    errors = {name: one["p50"] for name, one in far["errors_mm"].items()}
    assert far["n"] > 300, json.dumps(far)
    assert errors["predicted_picture_to_robot"] < errors["confirmed_picture_to_robot"]
    assert errors["picture_by_velocity_to_robot"] is not None
    assert far["predicted_is_nearer_percent"]["hold"] > 50.0
    assert 100 < far["motion_to_motion_ms"]["p50"] < 400
    assert far["streams"]["captures"]["sent"] > 1000
