"""LeRobot itself reads our data sets and trains on them, in an environment of its own.

The environment is made beside the project's once; a machine on which it cannot be made
says why.
"""

from pathlib import Path

import numpy as np
import pytest
from filmed import START_NS, write_episode
from lerobot_env import ROOT, find_newest_lerobot, run

from paprle.recording.video.pictures import Footage
from paprle_emulators.camera.clock_picture import read_clock
from paprle_lab.dataset.create import create

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]

JUDGE = ROOT / "tests/support/recordings/lerobot_judge.py"
FPS = 30
CAMERAS = ("front", "side")


@pytest.fixture(scope="module")
def lerobot():
    """Return the Python of an environment that has LeRobot."""
    return find_newest_lerobot()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    write_episode(folder, 2.0, task="pick", cameras=CAMERAS)
    write_episode(folder, 1.4, task="place", cameras=CAMERAS, scale=0.5)
    return folder


@pytest.fixture(scope="module")
def made(recorded, tmp_path_factory):
    root = tmp_path_factory.mktemp("made") / "set"
    create([recorded], root, "lerobot")
    return root


@pytest.fixture(scope="module")
def read(lerobot, made, tmp_path_factory):
    """Return all that LeRobot reads, row by row."""
    out = tmp_path_factory.mktemp("read") / "rows.npz"
    done = run(lerobot, str(JUDGE), str(made), str(out))
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(np.load(out))


def test_every_frame_is_at_its_index(read):
    n = len(read["index"])

    assert read["index"].ravel().tolist() == list(range(n))
    assert n > 95
    assert set(read["tasks"]) == {"pick", "place"}


@pytest.mark.parametrize("camera", CAMERAS)
def test_images_show_the_time_of_the_joints_beside_them(read, camera):
    images = read[f"observation.images.{camera}"]
    scale = np.where(read["episode_index"].ravel() == 0, 1.0, 0.5)
    turned = np.radians(read["observation.state"][:, 0]) / (0.4 * scale)

    shown = [read_clock(image) for image in images]

    assert None not in shown
    off_ms = np.array(shown) - START_NS / 1e6 - 1e3 * turned
    assert np.abs(off_ms).max() < 1e3 / FPS


def test_images_are_those_of_the_recording_but_for_the_codec(read, recorded):
    images = read["observation.images.front"]
    own = images[read["episode_index"].ravel() == 0]

    pictures = Footage(recorded / "episode_000000.mcap").read("front")

    for image, picture in zip(own, pictures, strict=False):
        assert np.abs(image.astype(int) - picture.image).mean() < 3.0


def test_act_trains_on_it(lerobot, made, tmp_path):
    words = {
        "dataset.repo_id": "local/made",
        "dataset.root": made,
        "dataset.video_backend": "pyav",
        "policy.type": "act",
        "policy.device": "cpu",
        "policy.push_to_hub": "false",
        "policy.pretrained_backbone_weights": "null",
        "policy.dim_model": 64,
        "policy.n_heads": 2,
        "policy.chunk_size": 10,
        "policy.n_action_steps": 10,
        "steps": 3,
        "batch_size": 2,
        "num_workers": 0,
        "save_checkpoint": "false",
        "log_freq": 1,
        "wandb.enable": "false",
        "output_dir": tmp_path / "out",
    }

    train = Path(lerobot).with_name("lerobot-train")
    done = run(train, *(f"--{key}={value}" for key, value in words.items()))

    assert done.returncode == 0, done.stderr[-3000:]
    assert "End of training" in done.stderr + done.stdout
    assert "loss:nan" not in done.stderr + done.stdout
