"""Calibration boards: ChArUco, or a grid of AprilTags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import ConfigError
from paprle.contracts.images import CameraInfo
from paprle.contracts.types import Vec

Grey = npt.NDArray[np.uint8]
Kind = Literal["charuco", "apriltag"]

FAMILIES = {
    "aruco_4x4_50": cv2.aruco.DICT_4X4_50,
    "aruco_5x5_100": cv2.aruco.DICT_5X5_100,
    "aruco_6x6_250": cv2.aruco.DICT_6X6_250,
    "apriltag_25h9": cv2.aruco.DICT_APRILTAG_25h9,
    "apriltag_36h11": cv2.aruco.DICT_APRILTAG_36h11,
}
"""Printed markers by name, as OpenCV's ``PredefinedDictionaryType``."""

LEAST_CORNERS = 8
"""Corners of a usable view: fewer say little about its tilt."""

_PIXELS_A_METRE = 4000.0  # chosen: a printed board of 0.2 m has 800 dots a side


@dataclass(frozen=True, kw_only=True)
class Board:
    """A flat board of markers.

    Attributes:
        columns: Squares (ChArUco) or tags (AprilTag) per row.
        square: Edge of a square, or pitch of tags, [m].
        marker: Edge of a marker's black square, [m].
    """

    kind: Kind = "charuco"
    columns: int = 7
    rows: int = 5
    square: float = 0.03
    marker: float = 0.022
    family: str = "aruco_4x4_50"

    def __post_init__(self) -> None:
        problems = list(self._list_problems())
        if problems:
            raise ConfigError([f"board: {text}" for text in problems])

    def _list_problems(self) -> list[str]:
        problems = []
        if self.family not in FAMILIES:
            known = ", ".join(FAMILIES)
            return [f"expected a family of {known}, got '{self.family}'"]
        if min(self.columns, self.rows) < 2 or max(self.columns, self.rows) > 30:
            problems.append(
                f"expected 2 … 30 columns and rows, got {self.columns} × {self.rows}"
            )
        if not 0.0 < self.marker < self.square < 1.0:
            problems.append(
                "expected 0 < marker < square < 1 [m], got "
                f"{self.marker:g} and {self.square:g}; sizes are in metres"
            )
        n = self.columns * self.rows
        n = n // 2 if self.kind == "charuco" else n
        least = len(cv2.aruco.getPredefinedDictionary(FAMILIES[self.family]).bytesList)
        if n > least:
            problems.append(
                f"expected at most {least} markers of {self.family}, got {n}; choose a "
                "larger family or a smaller board"
            )
        return problems

    def make(self) -> cv2.aruco.Board:
        """Return OpenCV's board."""
        family = cv2.aruco.getPredefinedDictionary(FAMILIES[self.family])
        size = (self.columns, self.rows)
        if self.kind == "charuco":
            return cv2.aruco.CharucoBoard(size, self.square, self.marker, family)
        gap = self.square - self.marker
        return cv2.aruco.GridBoard(size, self.marker, gap, family)

    def draw(self) -> Grey:
        """Return a picture to print, 4 px/mm."""
        margin = round(self.square * _PIXELS_A_METRE)
        gap = 0.0 if self.kind == "charuco" else self.square - self.marker
        width, height = (
            round((n * self.square - gap) * _PIXELS_A_METRE) + 2 * margin
            for n in (self.columns, self.rows)
        )
        image: Grey = self.make().generateImage((width, height), marginSize=margin)
        return image


class FoundBoard(NamedTuple):
    """Corners found in a picture.

    Attributes:
        p_board: Shape (n, 3), [m].
        pixels: Shape (n, 2), [px].
    """

    p_board: Vec
    pixels: Vec


def average_boards(found: Sequence[FoundBoard | None]) -> FoundBoard | None:
    """Return the mean of corners that all images with a board show, as find() does."""
    boards = [one for one in found if one is not None]
    if not boards:
        return None
    tables = [
        dict(zip(map(tuple, one.p_board.tolist()), one.pixels, strict=True))
        for one in boards
    ]
    common = [p for p in tables[0] if all(p in table for table in tables)]
    if len(common) < LEAST_CORNERS:
        return None
    pixels = np.mean([[table[p] for p in common] for table in tables], axis=0)
    return FoundBoard(np.array(common), pixels)


class BoardFinder:
    """Finder of one board; not thread-safe."""

    def __init__(self, board: Board) -> None:
        self._board, self._kind = board.make(), board.kind
        parameters = cv2.aruco.DetectorParameters()
        if board.kind == "charuco":
            self._charuco = cv2.aruco.CharucoDetector(self._board)  # type: ignore[arg-type]
        else:
            parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
            family = cv2.aruco.getPredefinedDictionary(FAMILIES[board.family])
            self._tags = cv2.aruco.ArucoDetector(family, parameters)

    def find(self, picture: Grey) -> FoundBoard | None:
        """Return the corners; None with fewer than eight."""
        if self._kind == "charuco":
            corners, ids, _, _ = self._charuco.detectBoard(picture)
        else:
            corners, ids, _ = self._tags.detectMarkers(picture)
        if ids is None or not len(ids):
            return None
        p_board, pixels = self._board.matchImagePoints(corners, ids)
        if pixels is None or len(pixels) < LEAST_CORNERS:
            return None
        return FoundBoard(
            p_board.reshape(-1, 3).astype(np.float64),
            pixels.reshape(-1, 2).astype(np.float64),
        )


def to_grey(data: bytes, info: CameraInfo) -> Grey:
    """Return a camera's image in grey.

    Raises:
        ConfigError: If it is no picture.
    """
    row = np.frombuffer(data, dtype=np.uint8)
    n, shape = info.width * info.height, (info.height, info.width)
    picture = None
    if info.encoding == "mono8" and row.size == n:
        picture = row.reshape(shape)
    elif info.encoding == "rgb8" and row.size == 3 * n:
        picture = cv2.cvtColor(row.reshape(*shape, 3), cv2.COLOR_RGB2GRAY)
    elif info.encoding in {"jpeg", "png"} and row.size:
        picture = cv2.imdecode(row, cv2.IMREAD_GRAYSCALE)
    if picture is None:
        raise ConfigError(
            f"calibrate: expected a picture, got {row.size} bytes of {info.encoding}; "
            "choose a camera of colours"
        )
    grey: Grey = picture
    return grey
