"""An arm that nobody here has described drives by config alone (acceptance 6)."""

from __future__ import annotations

import os
import shlex
import sysconfig
from pathlib import Path

import pytest
from product import measure, run_live, run_virtual

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
        source = PUBLIC / URDFS[name]
        if not source.is_file():
            pytest.skip(f"{source} is not here; pip install example-robot-data")
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
@pytest.mark.parametrize("name", ["ur5", "kinova"])
def test_a_new_arm_draws_in_mujoco_without_its_meshes(new_robot, tmp_path, name):
    command = new_robot(name)

    entry = run_virtual(tmp_path / "out", *command[2:], *LEADER, "env=mujoco")

    assert entry["gate"]["violations"] == 0
    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.3


@pytest.mark.sim
@pytest.mark.process
def test_a_new_arm_draws_in_a_live_session(new_robot, tmp_path):
    command = new_robot("z1")

    done = run_live(
        *command[2:], *LEADER, "env=mujoco", f"record.dir={tmp_path / 'out'}"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert measure(tmp_path / "out")["gate"]["violations"] == 0


def test_a_yaml_written_elsewhere_says_where_it_belongs(tmp_path, capsys):
    urdf = WORKSPACE / "urdf/ur5e/robot.urdf"

    main(["new-robot", str(urdf), "--name", "other", "--out", str(tmp_path)])

    assert f"move the YAML to {WORKSPACE / 'configs/follower'}" in (
        capsys.readouterr().out
    )
