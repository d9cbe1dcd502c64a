"""``paprle accept`` as a user types it, beside emulators and at a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time

import pytest
from machine import undisturbed
from piper_rig import EmulatedPiper
from product import run_live

from paprle.cli import main
from paprle.ipc.process import WORKSPACE

TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "expected a terminal, at which a person agrees to each check"),
        (["--yes", "env=can"], "expected an emulated or simulated robot, got env=can"),
        (["--yes", "--only", "stap"], "expected some of doctor, start"),
        (["--yes", "--hook", "push=x"], "expected MOMENT=COMMAND with one of lead"),
        (["--yes", "--seconds", "0"], "expected 1 … 600, got 0"),
        (["--yes", "session.clock=virtual"], "expected session.clock=wall"),
    ],
)
def test_wrong_words_are_refused(capsys, words, told):
    assert main(["accept", *TRIPLE, *words]) == 2

    assert told in capsys.readouterr().err


def read(folder):
    """Return verdicts and problems by check."""
    (path,) = folder.glob("acceptance_*.json")
    tree = json.loads(path.read_text())
    results = {result["name"]: result for result in tree["results"]}
    return {name: result["verdict"] for name, result in results.items()}, tree


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.timed
@pytest.mark.timeout(480)  # four attempts, on a machine that stands still at times
def test_a_simulated_rig_is_accepted_with_its_leader(tmp_path):
    def accept():
        done = run_live(
            *TRIPLE, "leader.laps=9", "--yes", "--seconds", "12",
            "--out", str(tmp_path),
            "--only", "doctor,silence,unplug-robot,latency,recording,end",
            verb="accept",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr

    undisturbed(accept)

    verdicts, tree = read(tmp_path)
    assert verdicts["silence"] == verdicts["latency"] == verdicts["end"] == "passed"
    assert verdicts["unplug-robot"] == verdicts["contact"] == "skipped"
    assert tree["hardware"] == {"leader": "a program", "robot": "simulation"}


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.timed
@pytest.mark.timeout(480)  # four attempts, on a machine that stands still at times
def test_an_emulated_piper_stands_at_start_and_stops_when_its_cable_is_out(tmp_path):
    arm = EmulatedPiper(tmp_path, "q=0,1.5,-1,0,-0.75,0")
    order = json.dumps({"fault": "silence", "time": 3.5}) + "\n"
    orders = f"/proc/{arm.process.pid}/fd/0"  # the pipe that it takes faults from
    write = f"import sys; open({orders!r}, 'w').write(sys.argv[1])"
    hook = shlex.join([sys.executable, "-c", write, order])

    def accept():
        done = run_live(
            "leader=autopilot", "leader.laps=9", *arm.args, "--yes",
            "--only", "doctor,start,unplug-robot", "--hook", f"robot-out={hook}",
            "--out", str(tmp_path), verb="accept",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr

    try:
        undisturbed(accept)
    finally:
        arm.end()

    verdicts, tree = read(tmp_path)
    assert verdicts["start"] == verdicts["unplug-robot"] == "passed"
    assert tree["hardware"]["robot"] == "emulator"
    assert "state_" in json.dumps(tree["results"])


@pytest.mark.process
def test_ctrl_c_at_a_terminal_leaves_a_robot_at_rest_and_a_partial_report(tmp_path):
    master, slave = pty.openpty()
    command = "import sys; from paprle.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "accept", *TRIPLE, "--out", str(tmp_path)],
        stdin=slave, stdout=slave, stderr=slave, cwd=WORKSPACE, start_new_session=True,
    )  # fmt: skip
    shown = b""

    def wait_for(text, answer=b""):
        nonlocal shown
        end = time.monotonic() + 60.0
        while text not in shown:
            assert time.monotonic() < end, shown.decode()
            if select.select([master], [], [], 0.1)[0]:
                shown += os.read(master, 65536)
        shown = shown[shown.index(text) + len(text) :]
        os.write(master, answer)

    wait_for(b"(doctor)")
    wait_for(b"Begin? [y/skip/quit]", b"skip\n")
    wait_for(b"(start)")
    wait_for(b"Begin? [y/skip/quit]", b"skip\n")
    wait_for(b"(limits)")
    wait_for(b"Begin? [y/skip/quit]", b"y\n")
    wait_for(b"joint1: the tip of 'arm' moves left by")
    process.send_signal(signal.SIGINT)
    wait_for(b"ended; the robot is at rest")

    assert process.wait(20) == 128 + signal.SIGINT
    os.close(slave)
    os.close(master)
    verdicts, tree = read(tmp_path)
    assert verdicts == {"doctor": "skipped", "start": "skipped", "limits": "skipped"}
    assert tree["is_whole"] is tree["is_accepted"] is False
