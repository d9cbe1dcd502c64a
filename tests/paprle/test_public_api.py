"""The public API, word for word, far from any config, with nothing but a URDF."""

from __future__ import annotations

import inspect
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from arms import load_robot
from random_robots import make_random_robot

import paprle
from paprle import (
    Gate,
    GateConfig,
    GateResult,
    IkConfig,
    IkSolution,
    IkSolver,
    LimbSettings,
    Reason,
    RobotModel,
    SceneBodySettings,
)
from paprle.contracts.errors import ConfigError

pytestmark = pytest.mark.long
URDFS = sorted((Path(__file__).resolve().parents[2] / "urdf").glob("*/robot.urdf"))


@pytest.fixture(autouse=True)
def far_from_the_repository(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.ERROR)
    monkeypatch.chdir(tmp_path)


def list_robots(folder):
    yield from (RobotModel.from_urdf(path) for path in URDFS)
    yield make_random_robot(folder, 3)


def test_a_robot_is_its_urdf_and_says_its_limits_over_all_joints(tmp_path):
    for robot in list_robots(tmp_path):
        n = len(robot.joint_names)
        for name in ("home", "q_min", "q_max", "dq_max"):
            assert getattr(robot, name).shape == (n,), (robot.name, name)
        assert (robot.q_min <= robot.home).all() and (robot.home <= robot.q_max).all()
        assert robot.limbs, robot.name
        for limb in robot.limbs.values():
            m = len(limb.joint_names)
            assert set(limb.joint_names) <= set(robot.joint_names)
            for name in ("home", "q_min", "q_max", "dq_max"):
                assert getattr(limb, name).shape == (m,), (robot.name, name)
            assert isinstance(limb.fk(limb.home), pin.SE3)
            assert limb.jacobian(limb.home).shape == (6, m)


def test_limbs_may_be_named(tmp_path):
    path = make_random_robot(tmp_path, 3).info.urdf_path
    found = RobotModel.from_urdf(path)
    limb = found.info.limbs[0]
    given = LimbSettings(base_link=limb.base_link, eef_link=limb.eef_link)

    robot = RobotModel.from_urdf(str(path), limbs={"mine": given})

    assert list(robot.limbs) == ["mine"]


def test_a_pose_is_solved_for(tmp_path):
    for robot in list_robots(tmp_path):
        for limb in robot.limbs.values():
            q_start = limb.home
            q = np.clip(q_start + 0.05, limb.q_min, limb.q_max)

            found = IkSolver(limb, IkConfig()).solve(limb.fk(q), q_start)

            assert isinstance(found, IkSolution)
            assert found._fields == (
                "q",
                "is_converged",
                "err_pos",
                "err_rot",
                "n_iterations",
            )
            assert (limb.q_min <= found.q).all() and (found.q <= limb.q_max).all()
            T = limb.fk(q).actInv(limb.fk(found.q))
            assert np.linalg.norm(T.translation) == pytest.approx(
                found.err_pos, abs=1e-9
            )
            if len(limb.joint_names) >= 6:
                assert found.is_converged, (robot.name, limb.name)


def test_a_gate_takes_steps_within_the_limits(tmp_path):
    for robot in list_robots(tmp_path):
        q_meas, dt = robot.home, 0.005
        gate = Gate(robot, GateConfig(), h=dt)
        gate.reset(q_meas)
        q_des = np.minimum(robot.home + 0.1, robot.q_max)

        first = gate.step(q_des, dt)
        result = gate.step(q_des, dt, age=0.0, q_meas=None)
        stale = gate.step(q_des, dt, age=1.0, q_meas=q_meas)

        assert isinstance(result, GateResult)
        assert set(GateResult._fields) == {
            "q_cmd",
            "events",
            "clearance",
        }
        assert gate.ddq_max.shape == result.q_cmd.shape == robot.home.shape
        assert Reason.COMMAND_STALE in stale.events
        steps = np.diff([q_meas, first.q_cmd, result.q_cmd], axis=0) / dt
        assert (np.abs(steps[0]) <= gate.ddq_max * dt * (1 + 1e-9)).all()
        assert (np.abs(steps) <= robot.dq_max * (1 + 1e-9)).all()
        assert result.clearance > -1.0


MESHES = """<robot name="meshes"><link name="base"/><link name="arm"><collision>
  <geometry><mesh filename="arm.stl"/></geometry></collision></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
    <limit lower="-1" upper="1" velocity="1"/></joint></robot>"""
BASE = """<link name="base"><collision><geometry><sphere radius="0.1"/></geometry>
  </collision></link>"""


def write_bar(path):
    """Write a bar 0.3 to 0.5 m beside its link as a mesh."""
    corners = np.array(np.meshgrid((0.3, 0.5), (-0.02, 0.02), (-0.02, 0.02)))
    corners = corners.reshape(3, -1).T
    facets = [
        "\n".join(f"vertex {x} {y} {z}" for x, y, z in (a, corners[0], corners[-1]))
        for a in corners
    ]
    text = "".join(
        f"facet normal 0 0 1\nouter loop\n{facet}\nendloop\nendfacet\n"
        for facet in facets
    )
    path.write_text(f"solid bar\n{text}endsolid bar")


def test_a_gate_without_bodies_has_to_be_asked_for_by_name(tmp_path):
    """It answered that everything is clear, since there was nothing to measure."""
    urdf = tmp_path / "meshes.urdf"
    urdf.write_text(MESHES)
    robot = RobotModel.from_urdf(urdf)

    with pytest.raises(ConfigError, match="of meshes.urdf, got.*allow_no_bodies"):
        Gate(robot, h=0.005)
    gate = Gate(robot, h=0.005, allow_no_bodies=True)

    assert gate.step(robot.home, 0.005).clearance == np.inf


def test_links_that_are_meshes_alone_are_named(tmp_path):
    urdf = tmp_path / "meshes.urdf"
    urdf.write_text(MESHES.replace('<link name="base"/>', BASE))

    with pytest.raises(ConfigError, match="or none, for arm; use robot.enclose_meshes"):
        Gate(RobotModel.from_urdf(urdf), h=0.005)


def test_meshes_are_enclosed_so_that_a_gate_takes_the_robot(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_bar(tmp_path / "arm.stl")
    urdf = tmp_path / "meshes.urdf"
    urdf.write_text(MESHES.replace('<link name="base"/>', BASE))
    limbs = {"arm": LimbSettings(base_link="base", eef_link="arm", home=(0.5,))}
    bare = RobotModel.from_urdf(urdf, limbs)

    robot = bare.enclose_meshes()

    assert bare.bare_links == ("arm",)
    assert not robot.bare_links
    assert robot.enclose_meshes() is robot
    assert robot.name == bare.name
    assert (robot.home == bare.home).all()
    assert (robot.dq_max == bare.dq_max).all()
    gate = Gate(robot, h=0.005)
    assert gate.step(robot.home, 0.005).q_cmd == pytest.approx(robot.home)


def test_a_robots_yaml_is_read_as_a_session_reads_it():
    robot = RobotModel.from_yaml(URDFS[0].parents[2] / "configs/follower/piper.yaml")

    expected = load_robot("piper")
    assert robot.joint_names == expected.joint_names
    assert (robot.home == expected.home).all()


def test_a_scene_is_kept_clear_of():
    robot = RobotModel.from_urdf(next(p for p in URDFS if p.parent.name == "piper"))
    wall = SceneBodySettings(shape="box", size=(0.1, 2.0, 2.0), xyz=(0.35, 0.0, 0.0))
    gate = Gate(robot, GateConfig(scene={"wall": wall}), h=0.01)
    ahead = np.clip(np.full(len(robot.home), 1.5), robot.q_min, robot.q_max)
    ahead[0] = 0.0

    results = [gate.step(ahead, 0.01) for _ in range(300)]

    assert any("wall" in pair for pair in gate.pair_names)
    assert any(Reason.CLEARANCE in result.events for result in results)
    assert min(result.clearance for result in results) > 0.0


def test_arguments_are_called_as_they_are_documented():
    def names(call):
        return list(inspect.signature(call).parameters)

    assert names(RobotModel.from_urdf) == ["path", "limbs"]
    assert names(RobotModel.from_yaml) == ["path"]
    assert names(Gate) == ["robot", "settings", "h", "allow_no_bodies"]
    assert names(IkSolver.solve)[:3] == ["self", "T_base_eef", "q_start"]
    assert names(Gate.step)[:5] == ["self", "q_des", "dt", "age", "q_meas"]
    assert all(hasattr(paprle, name) for name in paprle.__all__)


def test_public_names_are_listed_before_they_are_loaded():
    code = "import paprle; print(*dir(paprle))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert set(paprle.__all__) <= set(done.stdout.split())
    assert "Episode" in paprle.__all__


def test_hints_are_for_users_too():
    assert (Path(paprle.__file__).parent / "py.typed").is_file()


def test_import_leaves_the_callers_process_alone():
    code = """
import os, signal, threading
import numba

def look():
    handlers = [signal.getsignal(one) for one in signal.valid_signals()]
    settings = {k: v for k, v in vars(numba.config).items() if k.isupper()}
    return dict(os.environ), threading.enumerate(), handlers, settings

before = look()
import paprle
paprle.RobotModel, paprle.Gate, paprle.IkSolver
for one, other in zip(before, look(), strict=True):
    assert one == other, (one, other)
"""
    env = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    env.pop("NUMBA_CACHE_DIR", None)

    subprocess.run([sys.executable, "-c", code], check=True, env=env)


def test_import_alone_loads_nothing_else():
    code = """
import sys
before = set(sys.modules)
import paprle
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*(new - sys.stdlib_module_names))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["paprle"]


SESSIONS = ("mcap", "rosbags", "omegaconf", "zstandard", "mujoco")
HEAVY = (
    *SESSIONS,
    "pydantic",
    "paprle_lab",
    "paprle.config",
    "paprle.config.resolve",
    "paprle.ipc.process",
    "paprle.plugins",
)
WITHOUT_YAML = "import sys; sys.modules['yaml'] = None"  # numba imports it if it can


def list_loaded(code, names):
    """Return the modules of names that a program has loaded at its end."""
    code += f"\nprint(*(name for name in {names} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    return done.stdout.split()


def test_an_ik_loads_no_library_of_sessions_and_files():
    code = f"""
{WITHOUT_YAML}
from paprle import Gate, IkSolver, RobotModel
robot = RobotModel.from_urdf({str(URDFS[0])!r}).enclose_meshes()
arm = next(iter(robot.limbs.values()))
assert IkSolver(arm).solve(arm.fk(arm.home), arm.home).is_converged
"""

    assert not list_loaded(code, HEAVY)


def test_a_gate_loads_no_library_of_sessions_and_files():
    code = f"""
{WITHOUT_YAML}
from paprle import Gate, RobotModel
robot = RobotModel.from_urdf({str(URDFS[0])!r})
Gate(robot, h=0.005, allow_no_bodies=True)
"""

    assert not list_loaded(code, set(HEAVY) - {"pydantic"})


def test_enclosed_meshes_load_no_library_of_sessions(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_bar(tmp_path / "arm.stl")
    urdf = tmp_path / "meshes.urdf"
    urdf.write_text(MESHES.replace('<link name="base"/>', BASE))
    code = f"""
import sys
from paprle import RobotModel
assert not RobotModel.from_urdf({str(urdf)!r}).enclose_meshes().bare_links
"""

    assert not list_loaded(code, SESSIONS)


@pytest.mark.nightly
@pytest.mark.parametrize("text", ["x = 1\n", "raise ValueError('no arm')\n"])
def test_a_file_called_hardware_beside_a_script_does_no_harm(tmp_path, text):
    (tmp_path / "hardware.py").write_text(text)
    script = tmp_path / "mine.py"
    script.write_text(
        "from paprle.cli import main\n"
        "main(['run', 'leader=autopilot', 'follower=piper', 'env=kinematic',"
        " '--dry-run'])\n"
    )

    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )

    assert "hardware" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "dry run" in done.stdout
