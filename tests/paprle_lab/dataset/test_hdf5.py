"""ALOHA's HDF5."""

import numpy as np
import pytest
from filmed import move, write_episode

from paprle_emulators.camera.clock_picture import read_clock
from paprle_lab.dataset.create import create

pytest.importorskip("av")
h5py = pytest.importorskip("h5py")

FPS = 30


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hdf5")
    write_episode(folder / "recorded", 0.8, depth=True)
    write_episode(folder / "recorded", 0.6, scale=0.5, depth=True)
    create([folder / "recorded"], folder / "set", "hdf5")
    return folder / "set"


def test_an_episode_is_laid_out_as_act_reads_it(made):
    with h5py.File(made / "episode_0.hdf5") as file:
        n = len(file["action"])
        assert file.attrs["sim"]
        for name in ("qpos", "qvel", "effort"):
            assert file[f"observations/{name}"].shape == (n, 3)
        images = file["observations/images/front"]
        assert images.shape == (n, 80, 96, 3)
        assert images.dtype == np.uint8


def test_joints_are_radians_and_grippers_0_to_1(made):
    with h5py.File(made / "episode_0.hdf5") as file:
        # rows are a quarter of one behind the pictures
        t = 0.01 + (0.25 + np.arange(len(file["action"]))) / FPS
        q = move(t)
        qpos = file["observations/qpos"][:]
        np.testing.assert_allclose(qpos[:, 0], q[:, 0], atol=1e-6)
        np.testing.assert_allclose(qpos[:, 2], q[:, 2] / 0.04, atol=1e-5)
        assert list(file["observations/qpos"].attrs["units"]) == ["rad", "m", "0-1"]


def test_images_and_depth_are_those_of_the_rows(made):
    with h5py.File(made / "episode_0.hdf5") as file:
        images, depths = file["observations/images/front"], file["observations/depth"]
        for k, image in enumerate(images):
            assert read_clock(image) == 5_010 + (k * 1000) // FPS
            np.testing.assert_array_equal(depths["front"][k], 500 + k)
        assert depths["front"].attrs["unit_m"] == pytest.approx(0.001)


@pytest.mark.long
def test_later_recordings_get_the_next_numbers(made):
    write_episode(made.parent / "recorded", 0.7, scale=0.25, depth=True)

    report = create([made.parent / "recorded"], made, "hdf5")

    assert report.n_episodes == 3
    assert sorted(path.name for path in made.glob("*.hdf5")) == [
        f"episode_{k}.hdf5" for k in range(3)
    ]
    with h5py.File(made / "episode_2.hdf5") as file:
        assert file["observations/qvel"][0, 0] == pytest.approx(0.1)


def test_segmentation_ids_are_kept_to_the_last_bit(tmp_path):
    write_episode(tmp_path / "recorded", 0.6, ids=("what",))
    create([tmp_path / "recorded"], tmp_path / "set", "hdf5")

    with h5py.File(tmp_path / "set/episode_0.hdf5") as file:
        assert list(file["observations/images"]) == ["front"]
        shown = file["observations/segmentation/what"]
        for k, image in enumerate(shown):
            np.testing.assert_array_equal(image, 3 + k)
