"""A newcomer types the blocks of a first hour, in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pages
import pytest

from paprle.ipc.process import WORKSPACE

pytestmark = [pytest.mark.process, pytest.mark.sim, pytest.mark.timeout(400)]
MAIN = "import sys; from paprle.cli import main; sys.exit(main())"
FOUND = {"learner": {"dataset check": 1}}  # it finds what the page says
COMMANDS = re.compile(r"^ {7,}(paprle|python) ([^\n]+)$", re.MULTILINE)
PROGRAM = re.compile(r"^ *```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def read_hour(name):
    return (WORKSPACE / f"docs/start/{name}.md").read_text(encoding="utf-8")


def read_programs(page):
    """Return the Python of a page, out of its list."""
    return [re.sub(r"^ {3}", "", one, flags=re.M) for one in PROGRAM.findall(page)]


def type_in(folder, *words):
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=os.environ | {"PYTHONPATH": f"{folder}:{WORKSPACE}"},
        capture_output=True, text=True, timeout=170, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    own = tmp_path / "empty"
    own.mkdir()
    return own


def follow(name, folder):
    """Type all blocks of a page; return what they printed."""
    told = ""
    for program, line in COMMANDS.findall(read_hour(name)):
        words = shlex.split(line, comments=True)
        start = ["-c", MAIN] if program == "paprle" else []
        done = type_in(folder, *start, *words)
        expected = FOUND.get(name, {}).get(" ".join(words[:2]), 0)
        assert done.returncode == expected, f"{words}\n{done.stdout}\n{done.stderr}"
        told += done.stdout
    return told


@pytest.mark.nightly
def test_a_learner_gets_a_data_set_and_drives_a_policy(folder):
    looks, policy = read_programs(read_hour("learner"))
    (folder / "mine.py").write_text(policy)

    told = follow("learner", folder)

    assert "episode_000001.mcap: copy" in told
    assert (folder / "DATA/meta/info.json").is_file()
    assert len(list((folder / "DATA_ALOHA").glob("**/*.hdf5"))) == 3
    assert (folder / "TRIED/episode_000000.mcap").is_file()
    done = type_in(folder, "-c", looks)
    assert "joint1" in done.stdout, done.stderr


@pytest.mark.nightly
def test_a_robot_of_ones_own_moves_and_is_measured(folder):
    urdf = (WORKSPACE / "urdf/ur5e/robot.urdf").read_text(encoding="utf-8")
    (folder / "arm.urdf").write_text(urdf)

    told = follow("robot", folder)

    assert "CHECK" in (folder / "my_arm.yaml").read_text()
    assert len(list((folder / "OUT").glob("*.mcap"))) == 2
    assert "written" not in told.splitlines()[-1]


@pytest.mark.nightly
def test_a_developer_writes_a_leader_that_is_listed_driven_and_tried(folder):
    pages.install("adding_a_leader", folder)

    told = follow("developer", folder)

    assert "wave" in told
    assert re.search(r"\d+ passed", told)


def test_the_package_of_the_page_is_that_of_the_example():
    toml = re.search(r"```toml\n(.*?)```", read_hour("developer"), re.DOTALL)
    example = pages.read_page("adding_a_leader")

    assert toml is not None
    assert f'[project.entry-points."{example.group}"]' in toml[1]
    assert f'{example.name} = "{example.module}:{example.attribute}"' in toml[1]
    assert f'py-modules = ["{example.module}"]' in toml[1]
