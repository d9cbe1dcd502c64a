"""HDF5 and zarr files of others become data sets, row by row."""

from __future__ import annotations

import foreign_tables
import h5py
import numpy as np
import pytest
from foreign_bags import read_number
from foreign_tables import move, write_aloha, write_robomimic, write_umi

from paprle.cli.app import main

pytest.importorskip("pyarrow")
pytest.importorskip("av")

import av
import pyarrow.parquet as pq

FPS = foreign_tables.FPS


def draft(place, path, **change):
    """Draft a mapping, and change lines as whoever checks them does."""
    assert main(["dataset", "inspect", str(place), "--out", str(path)]) == 0
    text = path.read_text()
    for old, new in change.items():
        text = text.replace(f"{old}: 30", f"{old}: {new}")
    path.write_text(text)
    return path


def convert(place, mapping, out, *words):
    head = ["dataset", "convert", str(place), "--mapping", str(mapping)]
    return main([*head, "--out", str(out), *words])


def read_set(out):
    """Return rows by column and numbers of the pictures, each by episode."""
    table = pq.read_table(out / "data/chunk-000/file-000.parquet")
    rows = {name: np.array(table[name].to_pylist()) for name in table.column_names}
    numbers = []
    for path in sorted(out.glob("videos/*/*/*.mp4")):
        with av.open(str(path)) as file:
            frames = file.decode(video=0)
            numbers += [read_number(f.to_ndarray(format="rgb24")) for f in frames]
    assert len(numbers) in {0, len(rows["index"])}
    parts = [rows["episode_index"] == k for k in range(rows["episode_index"].max() + 1)]
    numbers = np.array(numbers)
    return [
        {name: values[part] for name, values in rows.items()}
        | {"numbers": numbers[part] if len(numbers) else numbers}
        for part in parts
    ]


@pytest.mark.parametrize("coded", [False, True], ids=["images", "jpeg"])
def test_episodes_of_aloha_become_rows(tmp_path, coded):
    folder = tmp_path / "files"
    folder.mkdir()
    for number, n in enumerate((30, 25)):
        write_aloha(folder / f"episode_{number}.hdf5", n, coded=coded)

    code = convert(folder, draft(folder, tmp_path / "m.yaml", fps=20), tmp_path / "set")

    episodes = read_set(tmp_path / "set")
    assert code == 0
    assert [len(one["index"]) for one in episodes] == [30, 25]
    for one in episodes:
        t = np.arange(len(one["index"])) / FPS
        np.testing.assert_allclose(one["observation.state"], move(t), atol=1e-6)
        np.testing.assert_allclose(one["action"], move(t + 0.05), atol=1e-6)
        np.testing.assert_allclose(one["timestamp"], t, atol=1e-6)
        np.testing.assert_array_equal(one["numbers"], np.arange(len(t)))


def test_demonstrations_of_robomimic_are_in_order_at_their_rate(tmp_path):
    file = write_robomimic(tmp_path / "low_dim.hdf5")

    mapping = draft(file, tmp_path / "m.yaml")
    code = convert(file, mapping, tmp_path / "set", "--task", "lift")

    episodes = read_set(tmp_path / "set")
    assert code == 0
    assert "fps: 20" in mapping.read_text()
    assert "next_obs" not in mapping.read_text().split("# not used")[0]
    assert [len(one["index"]) for one in episodes] == [30, 25]
    for one in episodes:
        q = move(np.arange(len(one["index"])) / FPS)
        state = np.concatenate([q, q[:, :2]], axis=1)  # joints, then gripper
        np.testing.assert_allclose(one["observation.state"], state, atol=1e-6)
        np.testing.assert_allclose(one["action"], 0.5 * q, atol=1e-6)
        np.testing.assert_array_equal(one["numbers"], np.arange(len(q)))


@pytest.mark.parametrize("name", ["umi.zarr", "umi.zarr.zip"])
def test_a_zarr_of_umi_is_cut_at_its_ends_and_the_next_pose_is_the_action(
    tmp_path, name
):
    path = write_umi(tmp_path / name)

    code = convert(path, draft(path, tmp_path / "m.yaml", fps=20), tmp_path / "set")

    episodes = read_set(tmp_path / "set")
    assert code == 0
    assert [len(one["index"]) for one in episodes] == [29, 24], "no next of the last"
    for one in episodes:
        q = move(np.arange(len(one["index"]) + 1) / FPS)
        np.testing.assert_allclose(one["observation.state"], q[:-1], atol=1e-6)
        np.testing.assert_allclose(one["action"], q[1:], atol=1e-6)
        np.testing.assert_array_equal(one["numbers"], np.arange(len(q) - 1))


def spoil_numbers(file):
    file["observations/qpos"][10:13] = np.nan


def spoil_first(file):
    file["observations/qpos"][:4] = np.nan


def test_rows_of_nan_hold_the_row_before_and_are_counted(tmp_path, capsys):
    file = write_aloha(tmp_path / "e.hdf5", change=spoil_numbers)

    convert(file, draft(file, tmp_path / "m.yaml", fps=20), tmp_path / "set")

    (one,) = read_set(tmp_path / "set")
    state, t = one["observation.state"], np.arange(30) / FPS
    np.testing.assert_allclose(state[10:13], np.tile(move(t[9:10]), (3, 1)), atol=1e-6)
    np.testing.assert_allclose(state[13:], move(t[13:]), atol=1e-6)
    assert "3 held" in capsys.readouterr().out


def test_rows_before_the_first_whole_one_are_left_out_and_counted(tmp_path, capsys):
    file = write_aloha(tmp_path / "e.hdf5", change=spoil_first)

    convert(file, draft(file, tmp_path / "m.yaml", fps=20), tmp_path / "set")

    (one,) = read_set(tmp_path / "set")
    np.testing.assert_array_equal(one["numbers"], np.arange(4, 30))
    assert "4 rows left out" in capsys.readouterr().out


def lengthen(file):
    del file["action"]
    file["action"] = np.zeros((60, 7))


def narrow(file):
    del file["action"]
    file["action"] = np.zeros((30, 6))


def drop(file):
    del file["action"]


def shrink(file):
    del file["observations/images/cam_high"]
    file["observations/images/cam_high"] = np.zeros((30, 24, 32, 3), np.uint8)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lengthen, "expected 30 rows of 'action', got 60"),
        (narrow, "expected 7 numbers a row in 'action', got 6"),
        (drop, "expected the array 'action', got none"),
        (shrink, "expected images of (48, 64), got (24, 32, 3)"),
    ],
)
def test_a_file_that_differs_is_left_out_with_the_reason(
    tmp_path, capsys, change, reason
):
    good = write_aloha(tmp_path / "good.hdf5")
    bad = write_aloha(tmp_path / "bad.hdf5", change=change)
    mapping = draft(good, tmp_path / "m.yaml", fps=20)

    code = main(
        ["dataset", "convert", str(good), str(bad), "--mapping", str(mapping)]
        + ["--out", str(tmp_path / "set")]
    )

    assert code == 1
    assert reason in capsys.readouterr().out
    assert len(read_set(tmp_path / "set")) == 1


@pytest.mark.parametrize("kind", ["cut off", "empty", "noise"])
def test_a_damaged_file_is_left_out_and_named(tmp_path, capsys, kind):
    good = write_aloha(tmp_path / "good.hdf5")
    bad, data = tmp_path / "bad.hdf5", good.read_bytes()
    cut = {"cut off": data[: len(data) // 2], "empty": b"", "noise": b"\x89x" * 999}
    bad.write_bytes(cut[kind])
    mapping = draft(good, tmp_path / "m.yaml", fps=20)

    code = convert(bad, mapping, tmp_path / "set")

    assert code == 1
    assert "expected a whole HDF5 or zarr file" in capsys.readouterr().out


@pytest.mark.parametrize("ends", [(30, 30), (30, 20), (30, 90), (-5, 55)])
def test_ends_that_do_not_rise_are_refused(tmp_path, capsys, ends):
    path = write_umi(tmp_path / "umi.zarr", ends=ends)

    code = main(["dataset", "inspect", str(path)])

    assert code != 0
    assert "episode_ends" in capsys.readouterr().err


def test_bags_and_tables_are_not_mixed(tmp_path, capsys):
    file = write_aloha(tmp_path / "e.hdf5")
    mapping = draft(file, tmp_path / "m.yaml")
    (tmp_path / "b.mcap").write_bytes(b"")

    code = main(
        ["dataset", "convert", str(file), str(tmp_path / "b.mcap")]
        + ["--mapping", str(mapping), "--out", str(tmp_path / "set")]
    )

    assert code == 2
    assert "got both" in capsys.readouterr().err


def link_array(file, other):
    file["observations/secret"] = h5py.ExternalLink(str(other), "action")


def link_group(file, other):
    file["observations/secret"] = h5py.ExternalLink(str(other), "observations")


def link_demonstrations(file, other):
    file["data"] = h5py.ExternalLink(str(other), "data")


def link_a_demonstration(file, other):
    file["data/secret"] = h5py.ExternalLink(str(other), "data/demo_2")


def store_elsewhere(file, other):
    places = [(str(other), 0, 30 * 8)]
    file.create_dataset("observations/secret", (30,), "f8", external=places)


def show_elsewhere(file, other):
    layout = h5py.VirtualLayout((30, 7), "f8")
    layout[:] = h5py.VirtualSource(str(other), "data/demo_2/actions", (30, 7))
    file.create_virtual_dataset("observations/secret", layout)


@pytest.mark.parametrize(
    "link",
    [
        link_array,
        link_group,
        link_demonstrations,
        link_a_demonstration,
        store_elsewhere,
        show_elsewhere,
    ],
)
def test_an_array_of_another_file_is_left_out(tmp_path, capsys, link):
    other = write_robomimic(tmp_path / "other.hdf5")
    file = write_aloha(tmp_path / "e.hdf5", change=lambda one: link(one, other))

    mapping = draft(file, tmp_path / "m.yaml").read_text()

    assert "secret" not in mapping + capsys.readouterr().out.split("mapping:")[0]
    assert "robot0" not in mapping
    assert "observations/qpos" in mapping


def test_a_mapping_of_topics_is_refused_for_arrays(tmp_path, capsys):
    file = write_aloha(tmp_path / "e.hdf5")
    mapping = tmp_path / "m.yaml"
    mapping.write_text(
        "fps: 20\ncolumns:\n  action: {topic: /a, field: data, names: [a]}\n"
    )

    code = convert(file, mapping, tmp_path / "set")

    assert code == 2
    assert "array" in capsys.readouterr().err
