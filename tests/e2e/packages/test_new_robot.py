"""An arm that nobody here has described drives by config alone (acceptance 6)."""

from __future__ import annotations

import os
import shlex
import sysconfig
from pathlib import Path

import pytest
from cells import spread
from product import measure, run_live, run_virtual
from shared_data import require

from paprle.cli import main
from paprle.ipc.process import WORKSPACE

PUBLIC = Path(sysconfig.get_paths()["purelib"]) / (
    "cmeel.prefix/share/example-robot-data/robots"
)
URDFS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
}
LEADER = ("leader=autopilot", "leader.speed=0.1", "session.episodes=1")


@pytest.fixture
def new_robot(tmp_path, capsys):
    """Write the YAML for a bare URDF; return the words of the command it prints."""
    written = []

    def write(name: str) -> list[str]:
        source = require(PUBLIC / URDFS[name])
        urdf = tmp_path / source.name
        urdf.write_bytes(source.read_bytes())  # no mesh is beside it
        follower = f"e2e_{name}_{os.getpid()}"
        place = WORKSPACE / "configs/site/follower"
        written.append(place / f"{follower}.yaml")
        written[-1].unlink(missing_ok=True)
        code = main(["new-robot", str(urdf), "--name", follower, "--out", str(place)])
        told = capsys.readouterr().out.splitlines()
        assert code == 0
        return shlex.split(told[-1])

    yield write
    for path in written:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", URDFS)
def test_a_new_arm_draws_with_an_ideal_robot(new_robot, tmp_path, name):
    command = new_robot(name)

    assert command[:2] == ["paprle", "run"]
    entry = run_virtual(tmp_path / "out", *command[2:], *LEADER)
    assert entry["gate"]["violations"] == 0
    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.05


@pytest.mark.sim
@pytest.mark.parametrize("name", spread(["ur5", "kinova"], "ur5"))
def test_a_new_arm_draws_in_mujoco_without_its_meshes(new_robot, tmp_path, name):
    command = new_robot(name)

    entry = run_virtual(tmp_path / "out", *command[2:], *LEADER, "env=mujoco")

    assert entry["gate"]["violations"] == 0
    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.3


@pytest.mark.nightly
@pytest.mark.sim
@pytest.mark.process
def test_a_new_arm_draws_in_a_live_session(new_robot, tmp_path):
    command = new_robot("z1")

    done = run_live(
        *command[2:], *LEADER, "env=mujoco", f"record.dir={tmp_path / 'out'}"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert measure(tmp_path / "out")["gate"]["violations"] == 0


def test_a_yaml_written_elsewhere_is_used_where_it_is(tmp_path, capsys):
    urdf = WORKSPACE / "urdf/ur5e/robot.urdf"
    main(["new-robot", str(urdf), "--name", "other", "--out", str(tmp_path)])

    command = shlex.split(capsys.readouterr().out.splitlines()[-1])

    assert f"follower={tmp_path / 'other.yaml'}" in command
    assert main([*command[1:], "--dry-run"]) == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with a bare URDF in it, and a cache of its own."""
    urdf = (WORKSPACE / "urdf/ur5e/robot.urdf").read_text()
    (tmp_path / "here").mkdir()
    (tmp_path / "here/my arm.urdf").write_text(urdf)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_a_bare_urdf_is_a_follower(folder, tmp_path):
    out = tmp_path / "out"

    entry = run_virtual(out, *LEADER, "follower=./my arm.urdf", "env=kinematic")

    assert entry["gate"]["violations"] == 0
    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.05
    assert [path.name for path in folder.iterdir()] == ["my arm.urdf"]


@pytest.mark.usefixtures("folder")
def test_the_guesses_of_a_bare_urdf_are_told_and_made_once(capsys):
    words = ["run", *LEADER, "follower=my arm.urdf", "env=kinematic", "--dry-run"]

    assert main(words) == 0
    first = capsys.readouterr().err
    assert main(words) == 0
    second = capsys.readouterr().err

    assert "my arm.urdf: limb arm: base_link → tool0, 6 joints" in first
    assert "paprle new-robot 'my arm.urdf'" in first
    assert second in first
    assert "limb arm" not in second


def test_a_bare_urdf_that_changed_is_read_again(folder, capsys):
    words = ["run", *LEADER, "follower=my arm.urdf", "env=kinematic", "--dry-run"]
    main(words)
    urdf = folder / "my arm.urdf"
    urdf.write_text(urdf.read_text().replace("wrist_3_joint", "last_joint"))
    capsys.readouterr()

    assert main(words) == 0

    assert "limb arm" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_bare_urdf_is_never_taken_for_a_real_robot(capsys):
    words = ["run", *LEADER, "follower=my arm.urdf", "env=ros2", "--dry-run"]

    assert main(words) == 2

    assert "expected an env of follower 'my_arm', got 'ros2'" in capsys.readouterr().err
