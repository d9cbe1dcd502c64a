"""Photon to photon: the delay between regions of a film.

It is the windowed lag of the regions' first principal components, by film stamps.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.types import Vec
from paprle.recording.video.codec import load_av
from paprle_lab.evaluation.latency import LAG_MAX, find_lag, list_windows

_ACROSS = 32  # [px] chosen: a thing that moves is seen, noise of pixels averages out
_FEWEST = 30  # chosen: images; less is no motion to and fro
_LONGEST = 20_000  # chosen: images; 10 min at 30 Hz
_CLEAR = 3.0  # chosen: what moves is that much above what is left of the picture
_WIDEST = 0.04  # [s] chosen: a period of a slow camera; wider, and it is no delay
_LEAST = 1e-3  # [of 255, squared] chosen: no lens and no codec leave less
_AGREE = 0.8  # chosen: correlation below which two places do not move alike


class Region(NamedTuple):
    """A region of an image, [px]."""

    left: int
    top: int
    width: int
    height: int


class Photons(NamedTuple):
    """The delay of the second region behind the first.

    Attributes:
        delay: Median over windows, [s].
        spread: Median absolute deviation, [s].
        n_windows: Windows with a lag.
        rate: [Hz].
    """

    delay: float
    spread: float
    n_windows: int
    rate: float


def parse_region(text: str) -> Region:
    """Return a region from ``x,y,width,height``, [px].

    Raises:
        ConfigError: If invalid.
    """
    try:
        region = Region(*map(int, text.split(",")))
    except (TypeError, ValueError) as err:
        raise ConfigError(f"expected x,y,width,height in px, got '{text}'") from err
    if min(region) < 0 or min(region[2:]) < 2:
        raise ConfigError(f"expected a region of 2 px and more, got '{text}'")
    return region


def measure_film(path: Path, first: Region, second: Region) -> Photons:
    """Return the delay of a film's second region.

    Raises:
        RecordingError: If it is no film, or the regions do not move alike.
        ConfigError: If a region exceeds the images.
        MissingDependency: Without PyAV.
    """
    t, small = _read(path, (first, second))
    if len(t) < _FEWEST:
        raise RecordingError(f"{path}: expected {_FEWEST} images, got {len(t)}")
    signals = []
    for name, region, pictures in zip(
        ("first", "second"), (first, second), small, strict=True
    ):
        signal = find_motion(pictures)
        if signal is None:
            told = ",".join(map(str, region))
            raise RecordingError(f"{path}: nothing moves in the {name} region {told}")
        signals.append(signal)
    found = list_lags(t, *signals)
    delay, spread = _summarise(found)
    if spread > _WIDEST:
        hint = ""
        if len(found):
            low, high = 1e3 * found.min(), 1e3 * found.max()
            hint = f": windows give delays from {low:.0f} to {high:.0f} ms"
        if _summarise(list_lags(t, *signals[::-1]))[1] <= _WIDEST:
            hint = "; the first is the later one: swap them"
        raise RecordingError(f"{path}: the two regions do not move alike{hint}")
    return Photons(
        delay=delay,
        spread=spread,
        n_windows=len(found),
        rate=float((len(t) - 1) / (t[-1] - t[0])),
    )


def _summarise(lags: Vec) -> tuple[float, float]:
    if not len(lags):
        return np.nan, np.inf
    delay = float(np.median(lags))
    return delay, float(np.median(np.abs(lags - delay)))


def _read(path: Path, regions: tuple[Region, Region]) -> tuple[Vec, list[Vec]]:
    """Return stamps (N,), [s], and each region's pictures (N, pixels)."""
    av = load_av()
    stamps: list[float] = []
    pictures: list[list[Vec]] = [[], []]
    try:
        with av.open(str(path)) as film:
            for image in film.decode(video=0):
                if image.time is None or (stamps and image.time <= stamps[-1]):
                    continue
                grey = image.to_ndarray(format="gray")
                stamps.append(float(image.time))
                for own, region in zip(pictures, regions, strict=True):
                    own.append(_shrink(grey, region, path))
                if len(stamps) >= _LONGEST:
                    break
    except (OSError, av.error.FFmpegError, IndexError) as err:
        raise RecordingError(f"{path}: expected a video, got {err}") from err
    return np.array(stamps), [np.array(own, dtype=np.float64) for own in pictures]


def _shrink(grey: Vec, region: Region, path: Path) -> Vec:
    """Return block means, at most ``_ACROSS`` a side."""
    height, width = grey.shape
    if region.left + region.width > width or region.top + region.height > height:
        raise ConfigError(
            f"{path}: expected regions within {width} × {height} px, got "
            f"{','.join(map(str, region))}"
        )
    rows = np.linspace(0, region.height, min(_ACROSS, region.height) + 1).astype(int)
    columns = np.linspace(0, region.width, min(_ACROSS, region.width) + 1).astype(int)
    down = slice(region.top, region.top + region.height)
    cut = grey[down, region.left : region.left + region.width]
    sums = np.add.reduceat(np.add.reduceat(cut.astype(np.float64), rows[:-1], 0),
                           columns[:-1], 1)  # fmt: skip
    means: Vec = sums / np.outer(np.diff(rows), np.diff(columns))
    return means.ravel()


def find_motion(pictures: Vec) -> Vec | None:
    """Return the first principal component (N,) of grey pictures (N, pixels).

    Its sign is arbitrary; None within the noise.
    """
    changes = pictures - pictures.mean(axis=0)
    n, n_pixels = changes.shape
    is_short = n < n_pixels  # then images are the smaller matrix, of the same powers
    product = changes @ changes.T if is_short else changes.T @ changes
    powers, components = np.linalg.eigh(product / n)
    noise = float(np.median(powers[-min(n - 1, len(powers)) :]))
    if powers[-1] < max(_LEAST, _CLEAR**2 * noise):
        return None
    if is_short:
        return np.asarray(components[:, -1] * np.sqrt(n * powers[-1]))
    signal: Vec = changes @ components[:, -1]
    return signal


def list_lags(t: Vec, first: Vec, second: Vec) -> Vec:
    """Return the second signal's lag by window, [s].

    Signs are arbitrary. Empty if fewer than half of the windows correlate.
    """
    scale = (
        1e-3 / max(float(first.std()), 1e-12),
        1e-3 / max(float(second.std()), 1e-12),
    )
    x, y = first[:, None] * scale[0], second[:, None] * scale[1]
    found = []
    windows = list_windows(np.array([[t[0], t[-1]]]))
    for window in windows:
        told = []
        for sign in (1.0, -1.0):
            lag = find_lag((t, x), (t, sign * y), window[None])
            if lag is None:
                continue
            near = (t >= window[0]) & (t <= window[1] - LAG_MAX)
            late = np.interp(t[near] + lag, t, sign * y[:, 0])
            told.append((float(np.corrcoef(x[near, 0], late)[0, 1]), lag))
        if told and max(told)[0] >= _AGREE:
            found.append(max(told)[1])
    return np.array(found if 2 * len(found) >= len(windows) else [])
