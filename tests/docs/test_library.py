"""The page about PAPRLE as a library: its code runs, word for word."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from public_robots import ROBOTS
from shared_data import require

from paprle import RobotModel
from paprle.contracts.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/library.md"
URDF = ROOT / "urdf/piper/robot.urdf"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the page's URDFs; the second says nothing of velocities."""
    text = URDF.read_text()
    (tmp_path / "arm.urdf").write_text(text)
    (tmp_path / "bare.urdf").write_text(re.sub(r' velocity="[^"]*"', "", text))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read_codes():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.usefixtures("folder")
def test_code_of_the_page_does_what_it_says(capsys):
    names = {}
    *codes, _ = read_codes()
    for code in codes:
        exec(compile(code, str(PAGE), "exec"), names)

    assert names["J"].shape == (6, 6)
    assert (names["slow"].dq_max[:6] == [2.0, 2.0, 2.0, 3.0, 3.0, 3.0]).all()
    assert names["near"].is_converged
    assert names["gate"].is_at_rest
    arm, q_des, q_cmd = names["arm"], names["q_des"], names["result"].q_cmd
    np.testing.assert_allclose(q_cmd, q_des, atol=0.02)
    assert not np.allclose(arm.take(q_cmd), arm.home, atol=0.02)
    reached = names["task_solver"].links.pose(arm.eef_link).translation
    np.testing.assert_allclose(reached, names["hand"].target.translation, atol=2e-3)
    assert capsys.readouterr().out.startswith("True ")


def test_the_first_hour_begins_with_a_program_that_puts_a_hand_lower(capsys):
    page = ROOT / "docs/start/library.md"
    (code,) = re.findall(r"^ *```python\n(.*?)^ *```", page.read_text(), re.S | re.M)
    names = {}

    exec(compile(textwrap.dedent(code), str(page), "exec"), names)

    assert "joint1" in capsys.readouterr().out
    assert np.abs(names["off"]).max() < 1e-3
    robot, arm = names["robot"], names["arm"]
    lower = arm.fk(arm.take(robot.home)).translation - names["target"].translation
    assert lower == pytest.approx([0.0, 0.0, 0.05], abs=1e-9)


@pytest.mark.nightly
@pytest.mark.long
def test_an_arm_with_meshes_alone_is_led_in_twelve_lines(folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "ur5_robot.urdf").symlink_to(require(ROBOTS["ur5"]))
    *_, code = read_codes()
    assert len([line for line in code.splitlines() if line]) <= 12

    names = {}
    exec(compile(code, str(PAGE), "exec"), names)

    robot, arm, q = names["robot"], names["arm"], names["q"]
    assert not robot.bare_links
    assert robot.find_collision(q) is None
    reached = names["target"].actInv(arm.fk(arm.take(q)))
    assert np.linalg.norm(reached.translation) < 1e-3


def test_without_velocity_limits_it_is_said_what_to_do_in_python(folder):
    with pytest.raises(ConfigError, match=r"LimitSettings\(dq_max=\{'joint1': …\}\)"):
        RobotModel.from_urdf(folder / "bare.urdf")
