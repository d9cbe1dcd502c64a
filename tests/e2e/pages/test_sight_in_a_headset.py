"""A headset's page that `paprle lead` serves shows the camera of a robot it leads."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time

import pytest
from headset_eye import FRONT, draw_marks, enter, make_rotation, measure, turn_head
from iwer import load_runtime, open_phone
from phones import TLS_ADDRESS, wait_until
from ros_rig import wait_for
from sights import find_udp_port

from paprle.ipc.process import WORKSPACE

cv2 = pytest.importorskip("cv2")

START = "import sys; from paprle.cli import main; sys.exit(main())"
DOMAIN, PORT = 85, 8487  # chosen: ports that no other test uses
FPS = 10.0
POSES = [(0.05, -0.1, 0.0), (-0.08, 0.12, 0.2), (0.0, 0.0, 0.0)]

pytestmark = [
    pytest.mark.process,
    pytest.mark.nightly,
    pytest.mark.timed,
    pytest.mark.timeout(240),
]


def start(words, log):
    with log.open("w") as out:
        return subprocess.Popen(
            [sys.executable, "-c", START, *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=WORKSPACE,
        )


@pytest.fixture
def led(tmp_path):
    """`paprle lead` of a headset, and the session that it names, with a camera."""
    folder = tmp_path / "front"
    folder.mkdir()
    cv2.imwrite(str(folder / "0.png"), draw_marks())
    key, udp_port = tmp_path / "link.key", find_udp_port()
    key.write_text("0123456789abcdef" * 2)
    key.chmod(0o600)
    link = ["link.peer=127.0.0.1", f"link.key={key}", "link.type=udp"]
    link += [f"link.domain={DOMAIN}"]
    sight = {"host": "127.0.0.1", "key": key, "udp_port": udp_port}
    headset = ["leader=webxr", f"leader.listen={TLS_ADDRESS}", f"leader.port={PORT}"]
    headset += [f"leader.certificate={tmp_path}", "leader.hands=[right]"]
    headset += [f"leader.sight.{name}={value}" for name, value in sight.items()]
    fx, fy, cx, cy = (float(FRONT.K[at]) for at in ((0, 0), (1, 1), (0, 2), (1, 2)))
    camera = {"type": "pictures", "folder": folder, "fps": FPS}
    camera |= {"focal": f"[{fx},{fy}]", "centre": f"[{cx},{cy}]"}
    robot = ["follower=piper", "env=kinematic", f"record.dir={tmp_path / 'out'}"]
    robot += [f"cameras.front.{name}={value}" for name, value in camera.items()]
    robot += [f"observers.sight.key={key}", f"observers.sight.udp_port={udp_port}"]
    robot += ["observers.sight.video=false", "observers.sight.poses=0.5"]
    logs = [tmp_path / name for name in ("lead.txt", "run.txt")]
    both = [start(["lead", *headset, *link, "link.emulate=4g"], logs[0])]
    try:
        named = r"at the robot: (leader=remote.*)"
        assert wait_for(lambda: re.search(named, logs[0].read_text()), 60.0)
        words = re.search(named, logs[0].read_text()).group(1).replace("'", "").split()
        both.append(
            start(["run", *words, *robot, *link, "session.view=false"], logs[1])
        )
        yield both, logs
    finally:
        for process in both:
            if process.poll() is None:
                process.kill()
                process.wait(20)


def test_the_robots_camera_stays_where_it_is_while_the_head_turns(led, tmp_path):
    both, logs = led
    address = re.search(r"open (https://\S+)", logs[0].read_text()).group(1)
    with open_phone(load_runtime(tmp_path), address, kind="headset") as opened:
        known = wait_for(lambda: "link " in logs[0].read_text(), 60.0)
        assert known, logs[0].read_text() + logs[1].read_text()
        enter(opened)
        # a picture is sent finer as the link is found to be good
        straight = make_rotation((0.0, 0.0, 0.0))
        wait_until(lambda: measure(opened, straight).max() < 1.0, 40.0)
        for rpy in POSES:
            turn_head(opened, rpy)
            time.sleep(0.3 / FPS)  # the picture is one of before
            errors = measure(opened, make_rotation(rpy).T)
            assert errors.max() < 1.0, f"{rpy}: {errors}"
        assert opened.errors == []
    for process in both:
        process.send_signal(signal.SIGINT)
        process.wait(40)
    text = logs[0].read_text() + logs[1].read_text()
    assert re.search(r"pictures [1-9]", logs[0].read_text()), text
    assert re.search(r"front, colour: .*'pictures': [1-9]", logs[1].read_text()), text
