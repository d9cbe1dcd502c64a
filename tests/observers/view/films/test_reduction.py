"""A reduced signal keeps its peaks, its ends and its order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paprle.observers.view.films.reduction import reduce


@given(st.integers(0, 3000), st.integers(4, 200), st.integers(0, 99))
def test_peaks_ends_and_order_are_kept(n, most, seed):
    rng = np.random.default_rng(seed)
    t, values = np.sort(rng.random(n)), rng.standard_normal(n)
    values[rng.random(n) < 0.1] = np.nan

    t_kept, kept = reduce(t, values, 0.0, 1.0, most)

    assert np.all(np.diff(t_kept) >= 0.0)
    assert len(kept) <= most + 4
    if n:
        assert (t_kept[0], t_kept[-1]) == (t[0], t[-1])
    if np.isfinite(values).any():
        assert np.nanmax(kept) == np.nanmax(values)
        assert np.nanmin(kept) == np.nanmin(values)


def test_a_zoom_reads_every_point_and_one_on_either_side():
    t = np.arange(100_000) * 1e-3

    t_kept, kept = reduce(t, np.sin(t), 50.0, 50.1, 1500)

    assert t_kept[0] < 50.0 < 50.1 < t_kept[-1]
    assert len(kept) == 103
