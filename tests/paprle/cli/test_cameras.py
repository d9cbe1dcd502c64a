"""``paprle find-cameras``."""

import numpy as np
import pytest

from paprle.cli import cameras as module
from paprle.cli import main
from paprle.contracts.images import FoundCamera

cv2 = pytest.importorskip("cv2")
pytest.importorskip("av")

WIDTH, HEIGHT = 64, 48


@pytest.fixture
def folder(tmp_path):
    """Write pictures that a camera plays."""
    taken = tmp_path / "taken"
    taken.mkdir()
    for k in range(3):
        image = np.full((HEIGHT, WIDTH, 3), 60 * k + 20, np.uint8)
        assert cv2.imwrite(str(taken / f"{k}.png"), image)
    return taken


@pytest.fixture
def find(tmp_path, capsys):
    def find_cameras(*words):
        code = main(["find-cameras", *words, "--out", str(tmp_path / "found")])
        return code, capsys.readouterr().out

    return find_cameras


@pytest.fixture(autouse=True)
def nothing_connected(monkeypatch):
    monkeypatch.setattr(module, "_list_found", lambda: iter(()))


def test_a_named_camera_is_shown_with_a_picture(find, folder, tmp_path):
    code, told = find(
        "cameras.desk.type=pictures",
        f"cameras.desk.folder={folder}",
        "cameras.desk.fps=200",
    )

    image = cv2.imread(str(tmp_path / "found/desk.jpg"))
    assert code == 0
    assert "64 × 48 rgb8" in told
    assert "stamps by arrival" in told
    assert image.shape == (HEIGHT, WIDTH, 3)


def test_a_camera_that_gives_nothing_is_a_fault(find, tmp_path):
    code, told = find("cameras.desk.type=pictures", f"cameras.desk.folder={tmp_path}")

    assert code == 1
    assert "FAULT camera 'pictures': expected *.png" in told


def test_no_camera_at_all_is_said(find):
    code, told = find()

    assert code == 1
    assert "no camera was found" in told


@pytest.mark.long
def test_connected_cameras_are_listed_with_the_words_that_choose_them(
    find, folder, monkeypatch
):
    from paprle.cameras.pictures.camera import Pictures  # noqa: PLC0415

    monkeypatch.undo()
    one = FoundCamera("a folder", {"folder": str(folder), "fps": "200"})
    monkeypatch.setattr(Pictures, "find", classmethod(lambda _: [one]))

    code, told = find()

    assert code == 0
    assert f"cameras.pictures_0.folder={folder}" in told
    assert "pictures: a folder" in told
