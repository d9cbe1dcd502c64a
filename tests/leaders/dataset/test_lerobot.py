"""Episodes of LeRobot as a leader."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from dataset_files import FPS, JOINTS, write_lerobot
from dataset_player import H, Player

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.ipc.process import WORKSPACE
from paprle.leaders.dataset.config import ColumnSettings, DatasetConfig
from paprle.leaders.dataset.leader import Dataset, choose_episodes
from paprle.leaders.dataset.lerobot import _name_columns
from paprle.testing import AutomaticLeaderContract, ManualClock, make_robot_info

ARM = {
    "arm": ColumnSettings(
        joints={joint: f"{joint}.pos" for joint in JOINTS},
        gripper="gripper.pos",
        open=100.0,
    )
}


def of_lerobot(path, **settings):
    return DatasetConfig(path=str(path), limbs=ARM, angle="deg", **settings)


@pytest.fixture
def lerobot(tmp_path):
    return write_lerobot(tmp_path / "so101", [40, 50, 60])


@pytest.fixture
def start():
    players = []

    def make(config, robot=None):
        players.append(Player(config, robot))
        return players[-1]

    yield make
    for player in players:
        player.leader.close()


class TestContractLerobot(AutomaticLeaderContract):
    @pytest.fixture(autouse=True)
    def _write(self, lerobot):
        self.path = lerobot

    def make_leader(self, clock):
        return Dataset(of_lerobot(self.path, episodes="1", repeat=2), clock)


def test_lerobot_rows_are_played_at_their_times_in_si_units(lerobot, start):
    player = start(of_lerobot(lerobot, episodes="1"))
    info = player.leader.info

    samples = player.play()

    assert info.joint_names == {"arm": JOINTS}
    assert len(samples) * H == pytest.approx(49 / FPS, abs=0.02)
    for row in (0, 10, 49):
        t = row / FPS
        sample = samples[min(round(t / H), len(samples) - 1)]
        expected = np.radians(10.0 + 20.0 * np.sin(t + np.arange(3)))
        # a reading is up to half a period from the row
        assert sample.limbs["arm"].q == pytest.approx(expected, abs=1.5e-3)
        assert sample.limbs["arm"].opening == pytest.approx(row / 49, abs=2e-3)


@pytest.mark.parametrize("reposture", ["ask", "auto"])
def test_the_config_says_whether_a_stuck_limb_changes_over_unasked(lerobot, reposture):
    leader = Dataset(of_lerobot(lerobot, reposture=reposture), ManualClock())

    assert leader.info.reposture == reposture


def test_between_rows_nothing_jumps(lerobot, start):
    samples = start(of_lerobot(lerobot, episodes="0")).play()

    q = np.array([sample.limbs["arm"].q for sample in samples])
    acceleration = np.abs(np.diff(q, 2, axis=0)) / H**2
    assert acceleration.max() < 2.0 * np.radians(20.0), "a sine of 20 degrees has 20"


def test_each_episode_of_the_session_plays_the_next_one(lerobot, start):
    player = start(of_lerobot(lerobot, episodes="2,0"))
    begins, ends = [], []
    sample = player.leader.latest()
    while not sample.is_exhausted:
        begins.append(np.degrees(sample.limbs["arm"].q[0]).round())
        ends.append(player.play()[-1].end)
        sample = player.reset()

    assert begins == [20.0, 0.0]
    assert ends == [True, True]


def test_an_episode_that_was_broken_off_is_played_again(lerobot, start):
    player = start(of_lerobot(lerobot))
    player.play(time=0.5)

    sample = player.reset()

    assert np.degrees(sample.limbs["arm"].q[0]) == pytest.approx(0.0, abs=1e-3)
    assert sample.start


def test_all_are_repeated_as_often_as_is_asked(lerobot, start):
    player = start(of_lerobot(lerobot, episodes="0:2", repeat=2))
    n = 0
    while not player.leader.latest().is_exhausted:
        player.play()
        player.reset()
        n += 1

    assert n == 4


def test_speed_is_a_factor_of_time(lerobot, start):
    samples = start(of_lerobot(lerobot, episodes="0", speed=2.0)).play()

    assert len(samples) * H == pytest.approx(39 / FPS / 2, abs=0.02)


def test_only_what_is_played_is_read(lerobot, start, monkeypatch):
    """Of files of gigabytes: neither pictures nor other episodes."""
    asked = []
    real = pq.read_table

    def read_table(*args, **kwargs):
        table = real(*args, **kwargs)
        asked.append((kwargs["columns"], table.num_rows))
        return table

    monkeypatch.setattr(pq, "read_table", read_table)
    start(of_lerobot(lerobot, episodes="1"))

    assert asked[-1] == (["timestamp", "action"], 50)
    assert "observation.image" not in str(asked)


def spoil(lerobot, **changes):
    file = lerobot / "meta" / "info.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"codebase_version": "v2.1"}, "of version 3, got 'v2.1'; convert it"),
        ({"features": {}}, "expected features of the dataset, got 'action'"),
        ({"features": None}, "expected a LeRobot dataset"),
        ({"data_path": "../../{chunk_index}{file_index}"}, "leaves the dataset"),
        ({"data_path": "{nothing}"}, "expected a LeRobot dataset"),
        ({"data_path": "data/none.parquet"}, "expected the rows of episode 0"),
    ],
)
def test_a_dataset_that_is_something_else_is_refused(lerobot, changes, said):
    spoil(lerobot, **changes)

    with pytest.raises((ConfigError, DeviceError), match=said):
        _ = Dataset(of_lerobot(lerobot), ManualClock()).info


def test_columns_that_are_not_there_are_told_with_those_that_are(lerobot):
    limbs = {"arm": ColumnSettings(joints={"a": "nothing.pos"})}
    leader = Dataset(replace(of_lerobot(lerobot), limbs=limbs), ManualClock())

    with pytest.raises(ConfigError, match=r"'nothing.pos', got none; columns: pan.pos"):
        _ = leader.info


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"joints": {"a": "pan.pos"}, "position": ("pan.pos",) * 3},
        {"position": ("pan.pos",), "rotation": ("pan.pos",) * 3},
        {"position": ("pan.pos",) * 3, "rotation": ("pan.pos",) * 4},
        {"joints": {"a": "pan.pos"}, "closed": 1.0, "open": 1.0},
    ],
)
def test_limbs_that_make_no_sense_are_refused(lerobot, columns):
    limbs = {"arm": ColumnSettings(**columns)}

    with pytest.raises(ConfigError, match=r"leader\.limbs\.arm"):
        _ = Dataset(replace(of_lerobot(lerobot), limbs=limbs), ManualClock()).info


def spoil_rows(kind):
    def change(number, t, action):
        if number == 1 and kind == "nan":
            action[7, 0] = np.nan
        if number == 1 and kind == "jump":
            action[20:, 2] -= 60.0  # [°]
        if number == 1 and kind == "time":
            t = np.where(np.arange(len(t)) == 7, 0.0, t)
        return t, action

    return change


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("nan", "numbers in all rows"),
        ("time", "stamps that rise"),
        ("jump", "1 jumps in joints of 'arm' (the first after row 19"),
    ],
)
def test_a_bad_episode_is_left_out_and_told(tmp_path, start, kind, said):
    path = write_lerobot(tmp_path / "d", [40, 40, 40], change=spoil_rows(kind))
    player = start(of_lerobot(path))
    begins = []
    sample = player.leader.latest()
    while not sample.is_exhausted:
        begins.append(np.degrees(sample.limbs["arm"].q[0]).round())
        player.play()
        sample = player.reset()

    assert begins == [0.0, 20.0]
    assert said in player.leader.take_warnings()[0]


def wrap(number, t, action):
    """Let a joint go on beyond half a turn, told within one turn."""
    if number == 1:
        action[:, 0] = (179.0 + 30.0 * t + 180.0) % 360.0 - 180.0
    return t, action


@pytest.mark.parametrize("episodes", ["1", "0:2"])
def test_a_joint_told_within_a_turn_goes_on_and_is_told(tmp_path, start, episodes):
    path = write_lerobot(tmp_path / "d", [40, 40], change=wrap)
    player = start(of_lerobot(path, episodes=episodes))
    if episodes != "1":
        player.play()
        player.reset()

    q = np.degrees([sample.limbs["arm"].q[0] for sample in player.play()])

    assert q[-1] == pytest.approx(179.0 + 30.0 * 39 / FPS, abs=0.5)
    assert np.abs(np.diff(q)).max() < 1.0
    told = [*player.leader.notes, *player.leader.take_warnings()]
    assert any("1 steps of a turn unwrapped in joint 'pan'" in text for text in told)


def go_beyond(*numbers):
    """Let a joint of these episodes go where no robot's joint of its name can."""

    def change(number, t, action):
        if number in numbers:
            action[:, 1] += 200.0  # [°]
        return t, action

    return change


@pytest.mark.parametrize(
    ("beyond", "played"),
    [((1,), [0.0, 20.0]), ((0, 1), [0.0, 10.0, 20.0]), ((), [0.0, 10.0, 20.0])],
    ids=["one", "the first, which is mapped", "none"],
)
def test_each_episode_is_held_against_the_robots_limits(
    tmp_path, start, beyond, played
):
    path = write_lerobot(tmp_path / "d", [40, 40, 40], change=go_beyond(*beyond))
    robot = make_robot_info(len(JOINTS), q_min=-np.pi / 2, q_max=np.pi / 2)
    player = start(of_lerobot(path), replace(robot, joint_names=JOINTS))
    begins = []
    sample = player.leader.latest()
    while not sample.is_exhausted:
        begins.append(np.degrees(sample.limbs["arm"].q[0]).round())
        player.play()
        sample = player.reset()

    assert begins == played
    told = player.leader.take_warnings()
    assert len(told) == 3 - len(played)
    assert all("episode 1 is left out" in text for text in told)
    assert all("joint 'lift' from 3." in text for text in told)


def test_a_last_episode_that_cannot_be_read_ends_the_session(tmp_path, start):
    path = write_lerobot(tmp_path / "d", [40, 40], change=spoil_rows("nan"))
    player = start(of_lerobot(path))

    player.play()

    assert player.reset().is_exhausted


# --- any of them ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "n", "chosen"),
    [
        ("", 3, (0, 1, 2)),
        ("2", 3, (2,)),
        ("1:3", 3, (1, 2)),
        ("2, 0:2", 3, (2, 0, 1)),
        *((bad, 3, None) for bad in ("3", "0:4", "-1", "a", "2:1", "0:1:2", ",")),
        ("0:99999999999999", 3, None),
        ("", 0, None),
    ],
)
def test_episodes_are_chosen_by_numbers_and_ranges(text, n, chosen):
    if chosen is None:
        with pytest.raises(ConfigError, match=r"leader\.episodes"):
            choose_episodes(text, n)
    else:
        assert choose_episodes(text, n) == chosen


def test_nothing_at_the_path_is_told():
    with pytest.raises(ConfigError, match="got nothing at 'nowhere'"):
        _ = Dataset(of_lerobot("nowhere"), ManualClock()).info


def test_each_format_loads_its_own_package_alone(lerobot):
    """And none of them torch."""
    code = (
        "import sys\n"
        "from paprle.leaders.dataset.config import ColumnSettings, DatasetConfig\n"
        "from paprle.leaders.dataset.leader import Dataset\n"
        f"limbs = {{'arm': ColumnSettings(joints={{'pan': 'pan.pos'}})}}\n"
        f"config = DatasetConfig(path={str(lerobot)!r}, limbs=limbs, angle='deg')\n"
        "Dataset(config, lambda: 0).info\n"
        "assert 'pyarrow' in sys.modules\n"
        "assert not {'torch', 'zarr', 'h5py'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True, cwd=WORKSPACE)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"b": 1, "a": 0}, ["a", "b"]),
        ({"motors": ["a", "b"]}, ["a", "b"]),
        ({"x": ["a"], "y": ["b"]}, ["a", "b"]),
        ({"a": 0, "b": 0}, ["action.0", "action.1"]),
        ({"a": 3, "b": 4}, ["action.0", "action.1"]),
        ({"a": None, "b": "c"}, ["action.0", "action.1"]),
        (["a", "b"], ["a", "b"]),
        (None, ["action.0", "action.1"]),
    ],
)
def test_names_of_columns_may_be_a_dictionary(tmp_path, names, expected):
    info = {"features": {"action": {"names": names, "shape": [2], "dtype": "float32"}}}

    assert _name_columns(tmp_path, info, "action") == expected


def test_an_index_with_fewer_episodes_than_declared_is_told(tmp_path, start):
    path = write_lerobot(tmp_path / "set", [40, 40, 40])
    info = json.loads((path / "meta/info.json").read_text())
    whole = start(of_lerobot(path))
    (path / "meta/info.json").write_text(json.dumps(info | {"total_episodes": 5}))

    short = start(of_lerobot(path))

    assert not any("missing" in note for note in whole.leader.notes)
    assert any("2 are missing" in note for note in short.leader.notes)
