"""LeRobot itself reads a set made of a bag of others, from a folder and from a Hub."""

import sys

import hub_server
import numpy as np
import pytest
from foreign_bags import Motion, move, read_number, write_rosbag
from lerobot_env import ROOT, find_lerobot, run

from paprle.cli.app import main

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]

JUDGE = ROOT / "tests/support/recordings/lerobot_judge.py"


@pytest.fixture(scope="module", params=["0.4", "0.6"])
def lerobot(request):
    return find_lerobot(request.param)


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags")
    bag = write_rosbag(folder / "bag")
    mapping, out = folder / "mapping.yaml", folder / "set"
    assert main(["dataset", "inspect", str(bag), "--out", str(mapping)]) == 0
    words = ["--mapping", str(mapping), "--out", str(out), "--task", "wave"]
    assert main(["dataset", "convert", str(bag), *words]) == 0
    return out


def check(rows):
    state = rows["observation.state"]
    t = 10.0 * state[:, 2]
    numbers = [read_number(image) for image in rows["observation.images.camera"]]

    assert len(state) > 70
    assert set(rows["tasks"]) == {"wave"}
    np.testing.assert_allclose(state, [move(one) for one in t], atol=2e-3)
    np.testing.assert_array_equal(numbers, np.floor(t * Motion().fps + 1e-3))


def test_lerobot_reads_every_row_of_a_converted_bag(lerobot, converted, tmp_path):
    out = tmp_path / "rows.npz"

    done = run(lerobot, str(JUDGE), str(converted), str(out))

    assert done.returncode == 0, done.stderr[-3000:]
    check(dict(np.load(out)))


def test_lerobot_loads_a_pushed_set_by_its_name(lerobot, converted, tmp_path):
    code = (
        "import sys\n"
        "from lerobot.datasets.lerobot_dataset import LeRobotDataset\n"
        "own = LeRobotDataset('me/waves', video_backend='pyav')\n"
        "assert own[0]['task'] == 'wave'\n"
        "print(len(own))"
    )
    with hub_server.Hub() as hub:
        more = {
            "HF_ENDPOINT": hub.url, "HF_TOKEN": hub_server.TOKEN,
            "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1",
        }  # fmt: skip
        words = ["-m", "paprle", "dataset", "push", str(converted), "me/waves"]
        pushed = run(sys.executable, *words, **more, HF_HUB_OFFLINE="0")
        assert pushed.returncode == 0, pushed.stderr

        done = run(lerobot, "-c", code, **more, HF_HUB_OFFLINE="0")

    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 70
