"""Our edits beside LeRobot's own, of sets that it wrote, as it reads both."""

import numpy as np
import pytest
from lerobot_editor import CAMERA
from lerobot_env import RELEASES, ROOT, find_lerobot, run

from paprle_lab.editing.edit_set import edit_sets
from paprle_lab.editing.edits import Edits

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]

SUPPORT = ROOT / "tests/support/recordings"
EDITS = {
    "delete": Edits(deleted=frozenset({0, 2})),
    "split": Edits(shares={"train": 0.5, "val": 0.5}),
    "remove": Edits(removed=(CAMERA,)),
    "trim": Edits(trims={1: (0.1, 1.5), 3: (0.5, 2.0)}, task="sort"),
}
STATS = ("mean", "std", "min", "max", "count")


@pytest.fixture(scope="module", params=RELEASES)
def release(request):
    return request.param


@pytest.fixture(scope="module", params=["video", "image"])
def folder(release, request, tmp_path_factory):
    """Sets by LeRobot, our edits and its edits of them, and its reading of all."""
    python, root = find_lerobot(release), tmp_path_factory.mktemp("lerobot")
    one, two = root / "one", root / "two"
    for made, n in ((one, "4"), (two, "2")):
        done = run(
            python, str(SUPPORT / "lerobot_writer.py"), str(made), request.param, n
        )
        assert done.returncode == 0, done.stderr[-2000:]
    for name, edits in EDITS.items():
        edit_sets([one], edits, root / "ours" / name)
    edit_sets([one, two], Edits(), root / "ours/merge")
    done = run(python, str(SUPPORT / "lerobot_editor.py"), str(root))
    assert done.returncode == 0, done.stderr[-2000:]
    return root


def load(path):
    with np.load(path) as values:
        return dict(values)


@pytest.mark.parametrize(
    "name", ["delete", "split/train", "split/val", "merge", "remove"]
)
def test_an_edit_equals_lerobots(folder, name):
    ours, theirs = (
        load(folder / f"ours/{name}.npz"),
        load(folder / f"theirs/{name}.npz"),
    )
    assert ours.keys() == theirs.keys()
    del theirs["task_index"]  # tasks have any order there; ``task`` is compared
    for column, values in theirs.items():
        kind, key = column.partition("/")[0], column.rpartition("/")[2]
        if column == CAMERA:  # LeRobot encodes again what we copy
            assert np.abs(ours[column].astype(int) - values).max() <= 2
        elif kind != "stats":
            assert (ours[column] == values).all(), column
        elif key in STATS and "index" not in column:
            np.testing.assert_allclose(
                ours[column], values, rtol=1e-4, atol=1e-5, err_msg=column
            )


def check_images(read):
    shown = (read[CAMERA] - 10) / 2
    np.testing.assert_allclose(shown, read["observation.state"][:, 1], atol=1.6)


def test_a_trimmed_set_is_read_frame_by_frame(folder):
    read = load(folder / "ours/trim.npz")
    check_images(read)
    assert np.bincount(read["episode_index"]).tolist() == [60, 42, 60, 45]
    assert set(read["task"].tolist()) == {"sort"}


def test_an_edited_set_is_edited_by_lerobot_again(folder):
    read = load(folder / "theirs/again.npz")
    check_images(read)
    assert np.bincount(read["episode_index"]).tolist() == [60] * 4
