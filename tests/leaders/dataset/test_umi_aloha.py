"""Episodes of UMI and ALOHA as a leader."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from dataset_files import write_aloha, write_umi
from dataset_player import H, Player, load_config

from paprle.config import resolve
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.hosts.virtual import VirtualSession
from paprle.leaders.dataset.leader import Dataset
from paprle.testing import AutomaticLeaderContract, ManualClock


@pytest.fixture(params=["hand.zarr", "hand.zarr.zip"])
def umi(tmp_path, request):
    return write_umi(tmp_path / request.param, [60, 30])


@pytest.fixture
def aloha(tmp_path):
    return write_aloha(tmp_path / "aloha", [50] * 11)


@pytest.fixture
def start():
    players = []

    def make(config):
        players.append(Player(config))
        return players[-1]

    yield make
    for player in players:
        player.leader.close()


class TestContractUmi(AutomaticLeaderContract):
    @pytest.fixture(autouse=True)
    def _write(self, tmp_path):
        self.path = write_umi(tmp_path / "hand.zarr", [60])

    def make_leader(self, clock):
        return Dataset(load_config("dataset_umi", path=str(self.path)), clock)


# --- UMI -----------------------------------------------------------------------------


def test_umi_hands_are_turned_to_rep103_axes(umi, start):
    """Its gripper looks along z of its hand; forward is x of ours."""
    player = start(load_config("dataset_umi", path=str(umi), episodes="0"))

    samples = player.play()

    first = samples[0].limbs["hand"].T_leader_base_leader_eef
    last = samples[-1].limbs["hand"].T_leader_base_leader_eef
    # the hand is turned by 90 degrees about y: its z is x of the map
    assert first.rotation[:, 0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    tool_y_of_map = pin.exp3(np.array([0.0, np.pi / 2, 0.0]))[:, 1]
    assert first.rotation[:, 2] == pytest.approx(-tool_y_of_map, abs=1e-6)
    way = 0.1 * 59 / 89
    assert (last.translation - first.translation) == pytest.approx(
        [way, 0.0, 0.0], abs=1e-6
    )
    assert samples[-1].limbs["hand"].opening == pytest.approx(59 / 89, abs=1e-6)
    assert len(samples) * H == pytest.approx(59 / 59.94, abs=0.02)


def test_umi_episodes_end_where_their_dataset_says(umi, start):
    player = start(load_config("dataset_umi", path=str(umi), episodes="1"))

    samples = player.play()

    assert len(samples) * H == pytest.approx(29 / 59.94, abs=0.02)
    p = samples[0].limbs["hand"].T_leader_base_leader_eef.translation
    assert p[0] == pytest.approx(0.1 * 60 / 89, abs=1e-5)


def test_umi_with_two_hands(tmp_path, start):
    path = write_umi(tmp_path / "two.zarr", [30], n_robots=2)
    one = load_config("dataset_umi").limbs["hand"]

    def hand(k):
        def rename(names):
            return tuple(name.replace("robot0", f"robot{k}") for name in names)

        return replace(
            one,
            position=rename(one.position),
            rotation=rename(one.rotation),
            gripper=f"robot{k}.width",
        )

    limbs = {"left": hand(0), "right": hand(1)}
    sample = start(
        load_config("dataset_umi", path=str(path), limbs=limbs)
    ).leader.latest()

    y = {
        k: own.T_leader_base_leader_eef.translation[1]
        for k, own in sample.limbs.items()
    }
    assert y == pytest.approx({"left": 0.0, "right": 1.0})


def test_a_lone_episode_of_poses_tells_its_path(umi):
    config = load_config("dataset_umi", path=str(umi))
    alone = Dataset(replace(config, episodes="0"), ManualClock()).info
    several = Dataset(config, ManualClock()).info

    assert alone.path["hand"].shape == (60, 8)
    assert several.path == {}


def test_a_folder_without_hands_is_refused(tmp_path):
    (tmp_path / "x.zarr").mkdir()

    with pytest.raises(DeviceError, match="expected a zarr of UMI"):
        _ = Dataset(
            load_config("dataset_umi", path=str(tmp_path / "x.zarr")), ManualClock()
        ).info


@pytest.mark.parametrize("text", ["", "{", "[]", '{"zarr_format": "x"}', "\x00"])
@pytest.mark.parametrize("place", [".", "data", "data/robot0_eef_pos", "meta"])
def test_damaged_metadata_is_refused_with_the_path(tmp_path, place, text):
    path = write_umi(tmp_path / "hand.zarr", [60])
    names = (".zattrs", ".zgroup", ".zarray", "zarr.json", ".zmetadata")
    files = [file for name in names if (file := path / place / name).is_file()]
    for file in files or [path / place / ".zattrs"]:
        file.write_text(text)
    config = load_config("dataset_umi", path=str(path))

    try:
        leader = Dataset(config, ManualClock())
        leader.open()
        leader.close()
    except DeviceError as err:
        assert str(path) in str(err)


# --- ALOHA ---------------------------------------------------------------------------


def test_aloha_drives_two_arms_with_grippers(aloha, start):
    player = start(load_config("dataset_aloha", path=str(aloha), episodes="0"))

    samples = player.play()

    left, right = (samples[0].limbs[limb] for limb in ("left", "right"))
    assert left.q == pytest.approx(0.1 * np.sin(np.arange(6)), abs=1e-6)
    assert right.q == pytest.approx(0.1 * np.sin(np.arange(7, 13)), abs=1e-6)
    assert (left.opening, right.opening) == (0.5, 0.5)
    assert len(samples) * H == pytest.approx(0.98, abs=0.02)


def test_aloha_episodes_are_in_the_order_of_their_numbers(aloha, start):
    player = start(load_config("dataset_aloha", path=str(aloha), episodes="10"))

    assert player.leader.latest().limbs["left"].q[0] == pytest.approx(10.0, abs=1e-6)


def test_aloha_measurements_are_a_source_too(aloha, start):
    config = load_config(
        "dataset_aloha", path=str(aloha), sources=("observations/qpos",), episodes="0"
    )

    assert start(config).leader.latest().limbs["left"].q[0] == pytest.approx(0.01)


def test_a_file_with_other_columns_tells_them(tmp_path):
    path = write_aloha(tmp_path / "one", [50], n_columns=7)

    with pytest.raises(ConfigError, match=r"columns: action\.0, action\.1"):
        _ = Dataset(load_config("dataset_aloha", path=str(path)), ManualClock()).info


def test_a_torn_file_is_refused(aloha):
    file = aloha / "episode_0.hdf5"
    file.write_bytes(file.read_bytes()[:1000])

    with pytest.raises(DeviceError, match=r"episode_0\.hdf5: expected an episode"):
        _ = Dataset(load_config("dataset_aloha", path=str(aloha)), ManualClock()).info


@pytest.mark.long
def test_a_dataset_drives_a_robot_episode_by_episode(tmp_path):
    """Two episodes of a hand through the whole pipeline, on the virtual clock."""
    path = write_umi(tmp_path / "hand.zarr", [60, 60])
    words = f"leader.path={path}", "follower=piper", "env=kinematic"
    session = VirtualSession(
        resolve(("leader=dataset_umi", *words, "session.clock=virtual"))
    )
    limb = next(iter(session.plan.robot.limbs.values()))
    step, rows = session.core.step, []

    def look(now_ns, samples, status, actions, advice):
        output = step(now_ns, samples, status, actions, advice)
        if output.feedback.is_engaged:
            T = limb.fk(limb.take(np.array(status["q_cmd"])))
            rows.append((output.feedback.episode, *T.translation))
        return output

    session.core.step = look
    session.run()

    found = np.array(rows)
    assert session.core.end_reason == "done"
    for episode in (0, 1):
        p = found[found[:, 0] == episode][:, 1:]
        way = 0.1 * 59 / 119
        assert p[-1] - p[0] == pytest.approx([way, 0.0, 0.0], abs=0.005)
