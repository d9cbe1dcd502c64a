from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paprle.cli import main
from paprle.hosts.operator import slow_work
from paprle.ipc.process import WORKSPACE

ROOT = WORKSPACE
TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")
START = "import sys; from paprle.cli import main; sys.exit(main())"


def _children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["leader=autopilo"], "did you mean 'autopilot'?"),
        (["follower=pipr"], "did you mean 'piper'?"),
        (["env=kinematik"], "did you mean 'kinematic'?"),
        (["env=leader"], "env: unknown name 'leader'"),
        (["leader.sped=1"], "leader.sped: unknown key (command line); did you mean"),
        (["sesion.rate=1"], "did you mean 'session'?"),
        (["leader.speed=fast"], "leader.speed: expected a number"),
        (["session.rate=5000"], "expected a number ≤ 1000 [Hz], got 5000"),
        (["session.rate=200Hz"], "[Hz], got '200Hz' (command line)"),
        (["follower.urdf=no.urdf"], "no.urdf: expected a URDF file, got nothing there"),
        (["follower.limbs.arm.eef_link=nolink"], "expected a link of robot.urdf"),
        (["retarget.limb_map={arm: nohand}"], "nohand"),
        (["leader.port=${oc.env:HOME}"], "resolvers such as oc.env are refused"),
        (["record.dir=/proc/nowhere"], "record.dir"),
        (["rate"], "expected key=value, got 'rate'"),
    ],
)
@pytest.mark.parametrize("verb", [["run"], ["run", "--dry-run"]], ids=["run", "dry"])
def test_mistake_is_one_clear_message_and_exit_2_with_nothing_started(
    capsys, tmp_path, verb, args, message, monkeypatch
):
    out = tmp_path / "OUT"
    before = _children()

    monkeypatch.setattr(slow_work, "_FIRST", 60.0)  # what is slow says so, too
    code = main([*verb, *TRIPLE, f"record.dir={out}", *args])

    shown = capsys.readouterr()
    assert code == 2
    assert message in shown.err
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert _children() == before
    assert not out.exists()


def test_all_mistakes_are_told_at_once(capsys):
    args = ("leader.speed=fast", "env.x=1", "ik.damping=0", "gat.x=1", "follower=pipr")

    assert main(["run", *TRIPLE, *args]) == 2
    assert capsys.readouterr().err.count("error: ") == 5


def test_dry_run_says_what_would_happen(capsys):
    assert main(["run", "leader=autopilot", "--dry-run", *TRIPLE]) == 0

    out = capsys.readouterr().out
    assert "autopilot → piper in kinematic" in out
    assert "nothing was opened" in out


@pytest.mark.long
def test_run_py_is_paprle_run():
    done = _start([str(ROOT / "run.py"), *TRIPLE, "--dry-run"])

    assert done.returncode == 0
    assert "autopilot → piper in kinematic" in done.stdout


def test_list_shows_leaders_robots_and_envs(capsys):
    assert main(["list"]) == 0

    out = capsys.readouterr().out
    for name in ("autopilot", "offline", "keyboard", "piper", "g1", "kinematic", "dds"):
        assert f"\n  {name} " in out
    assert "[simulator]" in out


def test_list_survives_a_broken_stranger(capsys, tmp_path, monkeypatch):
    (tmp_path / "broken_stranger.py").write_text("1 / 0")
    info = tmp_path / "broken_stranger-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: b\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[paprle.leaders]\nb = broken_stranger:P\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert main(["list"]) == 0
    assert "BROKEN: ZeroDivisionError: division by zero" in capsys.readouterr().out


def test_config_explains_each_key(capsys):
    assert main(["config", *TRIPLE, "session.rate=100"]) == 0

    lines = capsys.readouterr().out.splitlines()
    rate = next(line for line in lines if line.startswith("  rate: 100.0"))
    assert "[Hz] ≥ 1, ≤ 1000 Rate of the tick." in rate
    assert rate.endswith("command line")


def test_config_as_json_is_what_recordings_hold(capsys):
    assert main(["config", "--json", *TRIPLE]) == 0

    values = json.loads(capsys.readouterr().out)
    assert values["leader_name"] == "autopilot"
    assert values["session"]["rate"] == 200.0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rn"], "unknown verb 'rn'; did you mean 'run'?"),
        (["leader=autopilot"], "settings follow a verb"),
        (["replay", "nothing.mcap"], "nothing.mcap: expected an MCAP file, got none"),
        (["evaluate", "nowhere/x.mcap"], "expected an episode"),
        (["new-robot", "nothing.urdf"], "expected a URDF file"),
    ],
)
def test_wrong_words_are_refused(capsys, args, message):
    assert main(args) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("--dry", "see paprle run --help"),
        ("--robot.type=piper", "settings have no dashes: follower=piper"),
        ("--session.rate=100", "settings have no dashes: session.rate=100"),
        ("--robot.type=", "settings have no dashes: follower=…"),
    ],
)
def test_an_unknown_option_is_refused_with_its_setting(capsys, word, told):
    assert main(["run", word, "env=kinematic"]) == 2

    said = capsys.readouterr().err
    assert f"unknown option '{word}'; {told}" in said


@pytest.mark.parametrize("args", [["info"], ["evaluate", "--jso"]])
def test_wrong_options_are_refused(capsys, args):
    with pytest.raises(SystemExit) as ended:
        main(args)

    assert ended.value.code == 2
    assert "usage: paprle" in capsys.readouterr().err


@pytest.mark.parametrize(
    "verb",
    ["demo", "run", "list", "config", "info", "evaluate", "replay", "recover", "export",
     "new-robot"],
)  # fmt: skip
def test_every_verb_has_help_that_teaches(capsys, verb):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])

    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert f"usage: paprle {verb}" in out
    assert len(out.splitlines()) > 8


def test_help_names_the_triple_and_the_exit_codes(capsys):
    assert main(["--help"]) == 0

    out = capsys.readouterr().out
    for text in ("leader=NAME", "follower=NAME", "env=NAME", "key=value", "exit codes"):
        assert text in out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("paprle ")


def test_help_imports_nothing_heavy_and_is_quick():
    code = (
        "import sys; from paprle.cli import main; main(['--help']); "
        "heavy = {'numpy', 'pinocchio', 'pydantic', 'omegaconf', 'yaml'}; "
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    began = time.perf_counter()

    done = _start(["-c", code])

    assert done.returncode == 0
    assert time.perf_counter() - began < 1.0  # 0.05 s on an idle machine


def test_closed_pipe_ends_quietly():
    process = subprocess.Popen(
        [sys.executable, "-c", START, "--help"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()

    error = process.stderr.read()
    process.stderr.close()

    assert process.wait(timeout=10) == 141
    assert error == ""


@pytest.mark.long
def test_episode_goes_through_all_verbs(capsys, tmp_path):
    out, again = tmp_path / "OUT", tmp_path / "AGAIN"
    settings = (
        *TRIPLE,
        "session.clock=virtual",
        "leader.size=0.02",
        "leader.speed=0.1",
    )
    episode = out / "episode_000000.mcap"

    assert main(["run", *settings, f"record.dir={out}"]) == 0
    assert main(["info", str(out)]) == 0
    assert "leader=autopilot follower=piper" in capsys.readouterr().out
    assert main(["evaluate", "--json", str(episode)]) == 0
    assert json.loads(capsys.readouterr().out)[0]["gate"]["violations"] == 0
    assert (out / "episode_000000.report.html").is_file()
    assert main(["export", str(episode), str(tmp_path / "a.csv")]) == 0
    assert (tmp_path / "a.csv").read_text().startswith("capture_timestamp,")
    assert main(["recover", str(episode), "--out", str(tmp_path / "b.mcap")]) == 0
    replay = ["replay", str(episode), "session.clock=virtual", f"record.dir={again}"]
    assert main(replay) == 0
    assert (again / "episode_000000.mcap").is_file()
    capsys.readouterr()
    assert main(["replay", str(episode), "follower=ur5e", "--dry-run"]) == 2
    assert "expected the robot 'piper' with joints" in capsys.readouterr().err


def test_new_robot_writes_a_yaml_that_drives(capsys, tmp_path):
    urdf = ROOT / "urdf/ur5e/robot.urdf"

    code = main(["new-robot", str(urdf), "--name", "other", "--out", str(tmp_path)])

    assert code == 0
    assert (tmp_path / "other.yaml").is_file()
    assert "next:" in capsys.readouterr().out


def _start(args: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.long
def test_list_reads_the_yamls_of_the_site_and_of_the_users_folders(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr("paprle.config.folders.DATA", tmp_path / "root")
    for folder, name in (("root/configs/site", "labarm"), ("mine", "deskarm")):
        path = tmp_path / folder / f"follower/{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(f"# The {name} by the window.\nurdf: {name}.urdf\nenvs: {{}}\n")
    monkeypatch.setenv("PAPRLE_CONFIG_PATH", str(tmp_path / "mine"))

    assert main(["list"]) == 0

    out = capsys.readouterr().out
    assert "  labarm               The labarm by the window" in out
    assert "  deskarm              The deskarm by the window" in out
    assert "BROKEN" not in out


def test_list_says_which_yaml_cannot_be_read(capsys, tmp_path, monkeypatch):
    for part in ("follower", "leader"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "torn.yaml").write_text("urdf: [")
    monkeypatch.setenv("PAPRLE_CONFIG_PATH", str(tmp_path))

    assert main(["list"]) == 0

    out = capsys.readouterr().out
    for part in ("follower", "leader"):
        assert f"BROKEN: {tmp_path}/{part}/torn.yaml line 1" in out


def test_a_solver_that_is_not_installed_is_refused_with_its_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "osqp", None)

    assert main(["run", *TRIPLE, "gate.solver=osqp", "--dry-run"]) == 2

    assert "pip install 'paprle[osqp]'" in capsys.readouterr().err


@pytest.mark.long
def test_changes_to_the_rows_of_a_file_are_in_its_recording(capsys, tmp_path):
    rows = [f"{k / 30:.4f},{0.001 * k:.4f},0,0,0,0,0,1" for k in range(60)]
    rows[20:20] = [rows[19]] * 3  # stamps that come again
    path = tmp_path / "hand.csv"
    path.write_text("t,x,y,z,qx,qy,qz,qw\n" + "\n".join(rows) + "\n")
    settings = ["leader=offline", f"leader.path={path}", "follower=piper"]
    settings += ["env=kinematic", "session.clock=virtual", "session.episodes=1"]

    assert main(["run", *settings, f"record.dir={tmp_path / 'out'}"]) == 0
    said = capsys.readouterr().out
    assert main(["info", str(tmp_path / "out")]) == 0

    told = [line.split("leader", 1)[1].strip()
            for line in capsys.readouterr().out.splitlines()
            if line.startswith("  leader  ")]  # fmt: skip
    assert any("3" in note for note in told)
    assert all(note in said for note in told)
