"""The viewer shows data sets that LeRobot itself wrote, of each release and kind."""

import io
from pathlib import Path

import numpy as np
import pytest
from lerobot_env import RELEASES, ROOT, find_lerobot, run
from lerobot_writer import FPS, JOINTS, N_FRAMES, count_green
from PIL import Image

from paprle_lab.viewing.listing import list_recordings

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]


def draw(frame, info):
    if info.encoding == "rgb8":
        image = np.frombuffer(frame.data, np.uint8)
        return image.reshape(info.height, info.width, 3)
    return np.asarray(Image.open(io.BytesIO(frame.data)))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", ["video", "image"])
def test_a_set_of_lerobot_is_listed_plotted_and_seen(tmp_path, release, kind):
    root = tmp_path / "set"
    writer = ROOT / "tests/support/recordings/lerobot_writer.py"
    done = run(find_lerobot(release), str(writer), str(root), kind)
    assert done.returncode == 0, done.stderr[-2000:]

    listed = list_recordings(Path(root))
    assert [entry.task for entry in listed.entries] == ["task 0", "task 1"]
    film = listed.open(1)
    assert film.notes == ()
    k = next(k for k, one in enumerate(film.signals) if one.chart == JOINTS[1])
    _, values = film.read_signal(k)
    assert values.tolist() == list(range(N_FRAMES))
    for t in (0.0, 1.9, 0.5, 0.53, 0.1):
        image = draw(film.see("front", t), film.cameras["front"])
        assert count_green(image) == pytest.approx(t * FPS, abs=1.1)
    film.close()
