"""Statistics of columns."""

import numpy as np
import pytest

from paprle_lab.dataset.statistics import ImageStats, NumberStats, merge


def test_statistics_of_parts_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    parts = [rng.normal(3.0, 2.0, size=(n, 4)) for n in (7, 400, 31)]
    found = []
    for part in parts:
        one = NumberStats()
        for some in np.array_split(part, 3):
            one.add(some)
        found.append({"x": one.finish()})

    together = merge(found)["x"]

    whole = np.concatenate(parts)
    np.testing.assert_allclose(together["mean"], whole.mean(axis=0))
    np.testing.assert_allclose(together["std"], whole.std(axis=0))
    np.testing.assert_allclose(together["max"], whole.max(axis=0))
    assert together["count"] == [438]


def test_quantiles_of_a_long_column_are_near_and_memory_is_bounded():
    one = NumberStats()
    for k in range(100):
        one.add(np.arange(k * 1000, (k + 1) * 1000)[:, None])

    assert len(one._kept) <= 20_000
    assert one.finish()["q50"][0] == pytest.approx(50_000, rel=0.01)


def test_image_statistics_are_those_of_the_pixels():
    image = np.zeros((40, 40, 3), np.uint8)
    image[:20] = (255, 51, 0)
    one = ImageStats()
    one.add(image)

    stats = one.finish()

    np.testing.assert_allclose(np.ravel(stats["mean"]), [0.5, 0.1, 0.0], atol=1e-6)
    np.testing.assert_allclose(np.ravel(stats["std"]), [0.5, 0.1, 0.0], atol=1e-6)
    np.testing.assert_allclose(np.ravel(stats["q90"]), [1.0, 0.2, 0.0])
