"""A newcomer types what the page says, in an empty folder, and a robot moves."""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys

import pytest

from paprle.ipc.process import WORKSPACE

pytestmark = [pytest.mark.process, pytest.mark.sim]
PAGE = (WORKSPACE / "docs/getting_started.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
MAIN = "import sys; from paprle.cli import main; sys.exit(main())"
OF_DEVELOPERS = {"test", "bench", "docs", "nightly", "dev"}
QUICK = {"run": ["session.clock=virtual"]}


def list_commands(text):
    """Return the words of each command that begins with ``paprle``."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(x, comments=True)[1:] for x in lines if x.startswith("paprle ")]


README = list_commands((WORKSPACE / "README.md").read_text())
COMMANDS = [
    words for kind, text in BLOCKS if kind == "" for words in list_commands(text)
]


@pytest.fixture
def folder(tmp_path):
    urdf = (WORKSPACE / "urdf/ur5e/robot.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(urdf)
    header, *_ = next(t for _, t in BLOCKS if t.startswith("Zeit;")).splitlines()
    rows = [header]
    for i in range(150):
        s = i / 149
        turn = 2 * math.pi * s
        xyz = 80 * math.sin(turn), 60 * (1 - math.cos(turn)), 300 + 40 * math.sin(turn)
        numbers = (20 * i, *xyz, 15 * math.sin(turn), 0, 5)
        rows.append(";".join(f"{n:.2f}" for n in numbers).replace(".", ","))
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    yaml = next(text for kind, text in BLOCKS if kind == "yaml")
    (tmp_path / "my_log.yaml").write_text(yaml)
    return tmp_path


def test_the_page_has_the_commands_that_are_tried():
    verbs = [words[0] for words in COMMANDS]

    assert verbs == ["demo", "run", "evaluate", "new-robot", "run", "run", "evaluate",
                     "run"]  # fmt: skip


def test_the_page_lists_each_extra_of_a_user():
    project = (WORKSPACE / "pyproject.toml").read_text()
    table = project.split("[project.optional-dependencies]")[1].split("\n[")[0]
    extras = set(re.findall(r"^([\w-]+) = \[", table, re.MULTILINE))
    rows = PAGE.split("| extras | for |")[1].split("\n\n")[0]

    listed = re.findall(r"`([\w-]+)`", rows)

    assert sorted(listed) == sorted(extras - OF_DEVELOPERS)


@pytest.mark.nightly
def test_a_newcomer_moves_a_robot_by_the_page_alone(folder):
    for words in COMMANDS[1:]:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *words, *QUICK.get(words[0], [])],
            cwd=folder, capture_output=True, text=True, timeout=110, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"

    made = {path.name for path in (folder / "OUT").glob("*.mcap")}
    assert made == {"episode_000000.mcap", "episode_000001.mcap"}


@pytest.mark.nightly
def test_commands_of_the_readme_after_a_session_work(tmp_path):
    (session,) = [
        words for words in README if words[0] == "run" and "leader=web" in words
    ]
    session = ["leader=autopilot" if word == "leader=web" else word for word in session]
    after = [words for words in README if words[0] in ("evaluate", "dataset")]
    assert [words[0] for words in after] == ["evaluate", "dataset"]

    for words in ([*session, "session.clock=virtual"], *after):
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *words], cwd=tmp_path,
            capture_output=True, text=True, timeout=300, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"

    assert len(list((tmp_path / "OUT").glob("*.mcap"))) == 5
    assert (tmp_path / "DATA/meta/info.json").is_file()
