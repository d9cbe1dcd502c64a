"""Recordings of strangers: whole, checksums right, and made to do harm."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import pytest
from mcap.writer import Writer

from paprle.cli.app import main
from paprle.cli.sessions import make_replay_settings
from paprle.contracts.errors import RecordingError
from paprle.recording.info import describe
from paprle.recording.manifest import write_manifest
from paprle.recording.mcap.scan import Attachment, Messages, Metadata, Scanner, Topic
from paprle.recording.reader import Episode

MEMORY = 300  # [MB] chosen: of any verb that reads, whatever the file
# the largest memory of this program alone: getrusage counts what forked it, too
TRACE = """
import re, sys
from pathlib import Path
from paprle.cli.app import main
main(sys.argv[1:])
most = re.search("VmHWM: *(.*) kB", Path("/proc/self/status").read_text().expandtabs())
print("peak", int(most[1]) // 1024)
"""


def forge(path, header, config=None, bombs=()):
    """Write a recording of nothing whose attachments are these."""
    header = dict(header)
    own, urdf = header.pop("config"), header.pop("urdf")
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=1 << 40, enable_data_crcs=True)
        writer.start(profile="ros2", library="paprle")
        parts = {
            "header.json": header,
            "config.json": own if config is None else config,
        }
        for name, values in parts.items():
            data = json.dumps(values).encode()
            writer.add_attachment(0, 0, name, "application/json", data)
        writer.add_attachment(0, 0, "robot.urdf", "application/xml", urdf.encode())
        schema = writer.register_schema(
            "std_msgs/msg/String", "ros2msg", b"string data"
        )
        bomb = writer.register_channel("/bomb", "cdr", schema)
        for i, data in enumerate(bombs):
            writer.add_message(bomb, 0, data, 0, i)
            writer.flush()
        writer.finish()


@pytest.fixture
def header(robot, tools):
    return tools.make_header(robot, tools.POSE_LEADER)


def put(values, path, value):
    *keys, last = path.split(".")
    for key in keys:
        values[key] = values[key].copy()
        values = values[key]
    values[last] = value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gate_period", "x"), ("gate_period", 1e300), ("gate_period", -1.0),
        ("wall_offset_ns", "x"), ("wall_offset_ns", 10**30),
        ("wall_offset_ns", 10**400), ("leader", 3), ("task", ["a"]),
        ("robot", 7), ("robot.q_min", "x"), ("robot.q_min", [9.0] * 7),
        ("robot.q_max", [1e300] * 7), ("robot.dq_max", [1.0]),
        ("robot.dddq_max", "x"), ("robot.dddq_max", [1e-9] * 7),
        ("robot.dddq_max", [5e-324] * 7), ("robot.dddq_max", [1e3]),
        ("robot.joint_names", ["joint"] * 5000), ("leader_info.look_ahead", "x"),
    ],
)  # fmt: skip
def test_a_header_of_other_types_is_our_error(tmp_path, header, name, value):
    path = tmp_path / "episode_000000.mcap"
    put(header, name, value)
    forge(path, header)

    for read in (Episode.open, describe):
        with pytest.raises(RecordingError, match=f"header .*{name.split('.')[0]}"):
            read(path)


def test_a_jerk_limit_beside_no_acceleration_limit_is_our_error(tmp_path, header):
    path = tmp_path / "episode_000000.mcap"
    put(header, "robot.dddq_max", [1e4] * 7)
    put(header, "robot.ddq_max", [None] * 7)
    forge(path, header)

    with pytest.raises(RecordingError, match="header robot.dddq_max"):
        Episode.open(path)


@pytest.mark.parametrize("name", ["retarget", "gate", "session"])
def test_a_config_whose_section_is_a_text_is_our_error(tmp_path, header, name):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header, config={name: "text"})

    with pytest.raises(RecordingError, match=f"config {name}"):
        Episode.open(path)


@pytest.mark.parametrize("manifest", [{"end_reason": 3}, {"dropped": 1}, {}])
def test_a_manifest_of_other_types_is_our_error(tmp_path, header, manifest):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header)
    write_manifest(path, manifest)

    with pytest.raises(RecordingError, match="remove it"):
        Episode.open(path)


def test_text_of_a_file_never_steers_the_terminal(tmp_path, header, capsys):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header | {"task": "\x1b]0;pwn\x07\x1b[31mred \u202e", "env": "a\x9bb"})

    main(["info", str(path)])
    main(["info", str(tmp_path / "no\x1b[31m.mcap")])

    said = "".join(capsys.readouterr())
    assert "red" in said
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", said)


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.parametrize("verb", ["info", "evaluate"])
def test_a_small_file_that_unpacks_to_much_takes_little_memory(tmp_path, header, verb):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header, bombs=[bytes(7 << 20)] * 60)  # 420 MB
    assert path.stat().st_size < 1 << 20

    done = subprocess.run(
        [sys.executable, "-c", TRACE, verb, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert "Traceback" not in done.stderr
    assert int(done.stdout.split("peak ")[1]) < MEMORY


def test_a_temporary_manifest_never_follows_a_link(tmp_path, monkeypatch):
    """Whoever may write into the folder may have put one there."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr("os.getpid", lambda: 4711)
    (tmp_path / ".episode_000000.json.4711").symlink_to(victim)
    (tmp_path / "episode_000000.json").symlink_to(victim)

    write_manifest(tmp_path / "episode_000000.mcap", {"a": 1})

    assert victim.read_text() == "mine"
    assert json.loads((tmp_path / "episode_000000.json").read_text()) == {"a": 1}


def test_messages_in_a_row_come_as_one_table(tmp_path, header, tools, robot):
    path = tmp_path / "episode_000000.mcap"
    layout = tools.make_layout(robot, tools.POSE_LEADER)
    tools.write_episode(path, layout, header, 12, flush_every=12)

    items = list(Scanner(path))

    tables = [m for item in items if isinstance(item, list) for m in item]
    tables = [m for m in tables if isinstance(m, Messages)]
    topics = [
        m for i in items if isinstance(i, list) for m in i if isinstance(m, Topic)
    ]
    assert len(tables) <= len(topics) + 1
    assert sum(len(m.data) for m in tables) == 12 * (len(topics) - 2) + 2
    assert [type(item) for item in items[:4]] == [*[Attachment] * 3, Metadata]


def test_a_file_does_not_choose_a_real_robot(tmp_path, header, capsys):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header | {"env": "can", "follower": "piper"})

    assert main(["replay", str(path)]) == 2
    assert "expected env=… to be given" in capsys.readouterr().err


class Terminal(io.StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("typed", ["", "\n", "n\n", "yours\n"])
def test_a_person_who_does_not_say_yes_moves_no_real_robot(
    tmp_path, header, capsys, monkeypatch, typed
):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header | {"env": "can", "follower": "piper"})
    monkeypatch.setattr("sys.stdin", Terminal(typed))

    assert main(["replay", str(path)]) == 2

    said = capsys.readouterr()
    name = header["robot"]["name"]
    assert f"recorded with robot '{name}' in env=can" in said.out
    assert "Move the real robot follower=piper env=can? [y/N]" in said.out
    assert "type env=can to move it" in said.err


def test_a_person_who_says_yes_gets_the_env_of_the_file(tmp_path, header):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header | {"env": "can", "follower": "piper"})
    asked: list[str] = []

    words = make_replay_settings(
        Episode.open(path), 1.0, ["follower=ur5e"], lambda text: not asked.append(text)
    )

    assert "env=can" in words
    assert "follower=ur5e env=can?" in asked[0]


@pytest.mark.parametrize("word", ["--dry-run", "env=kinematic"])
def test_no_confirmation_is_asked_in_a_simulation(
    tmp_path, header, capsys, monkeypatch, word
):
    path = tmp_path / "episode_000000.mcap"
    forge(path, header | {"env": "can", "follower": "piper"})
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))

    main(["replay", str(path), word])

    assert "[y/N]" not in capsys.readouterr().out
