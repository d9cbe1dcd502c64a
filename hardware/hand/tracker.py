"""Hands in images by MediaPipe, with depth.

MediaPipe up to 0.10.21 has models and mirrored labels; later ones need a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.hardware.hand.camera import Image
from paprle.hardware.hand.errors import HandError
from paprle.hardware.hand.frames import N_HANDS, Array, Hand, HandFrame, Label

_RADIUS = 3  # [px] spec: requirements.md A9
_SURE = 0.5  # spec: requirements.md A4: of finding, and of following
# measured: 0.10.21 and 0.10.35 on one video of a right hand
_MIRRORED: dict[str, Label] = {"Left": "right", "Right": "left"}
_OWN: dict[str, Label] = {"Left": "left", "Right": "right"}


def measure_depth(counts: npt.NDArray[np.uint16], uv: Array, unit: float) -> Array:
    """Return median depths around pixels, shape (n,), [m], or NaN.

    Args:
        counts: Shape (height, width); 0: unknown.
        uv: Pixels, shape (n, 2).
        unit: Of a count, [m].
    """
    height, width = counts.shape
    found = np.full(len(uv), np.nan)
    for k, (u, v) in enumerate(np.rint(uv).astype(int)):
        if not (0 <= u < width and 0 <= v < height):
            continue
        patch = counts[
            max(0, v - _RADIUS) : v + _RADIUS + 1, max(0, u - _RADIUS) : u + _RADIUS + 1
        ]
        seen = patch[patch > 0]
        if seen.size:
            found[k] = float(np.median(seen)) * unit
    return found


class Finder(ABC):
    """Finder of hands in images."""

    labels: dict[str, Label]

    @abstractmethod
    def find(self, image: Image) -> list[tuple[str, Any, Any]]:
        """Return each hand's label and landmarks in image and world."""

    def make_frame(self, image: Image, seq: int) -> HandFrame:
        """Return an image's hands."""
        size = image.rgb.shape[1], image.rgb.shape[0]
        hands: dict[Label, Hand] = {}
        for name, seen, world in self.find(image):
            label = self.labels.get(name)
            if label is None or label in hands:  # two of one side: the first is surer
                continue
            uv = np.array([(mark.x, mark.y) for mark in seen]) * size
            depth = (
                np.full(len(uv), np.nan)
                if image.depth is None
                else measure_depth(image.depth, uv, image.unit)
            )
            shape = np.array([(mark.x, mark.y, mark.z) for mark in world])
            hands[label] = Hand(label, uv, depth, shape)
        return HandFrame(
            image.stamp_ns, seq, image.focal, image.centre, tuple(hands.values())
        )


class Solutions(Finder):
    """MediaPipe with its own models."""

    labels = _MIRRORED

    def __init__(self, mp: Any) -> None:
        self._hands = mp.solutions.hands.Hands(
            max_num_hands=N_HANDS,
            model_complexity=0,
            min_detection_confidence=_SURE,
            min_tracking_confidence=_SURE,
        )

    def find(self, image: Image) -> list[tuple[str, Any, Any]]:
        """Return each hand's label and landmarks."""
        found = self._hands.process(image.rgb)
        return [
            (side.classification[0].label, seen.landmark, world.landmark)
            for side, seen, world in zip(
                found.multi_handedness or (),
                found.multi_hand_landmarks or (),
                found.multi_hand_world_landmarks or (),
                strict=True,
            )
        ]


class Tasks(Finder):
    """MediaPipe with a model from a file."""

    labels = _OWN

    def __init__(self, mp: Any, model: str) -> None:
        vision = mp.tasks.vision
        self._mp, self._begin_ns = mp, 0
        self._landmarker = vision.HandLandmarker.create_from_options(
            vision.HandLandmarkerOptions(
                base_options=mp.tasks.BaseOptions(model_asset_path=model),
                running_mode=vision.RunningMode.VIDEO,
                num_hands=N_HANDS,
                min_hand_detection_confidence=_SURE,
                min_tracking_confidence=_SURE,
            )
        )

    def find(self, image: Image) -> list[tuple[str, Any, Any]]:
        """Return each hand's label and landmarks."""
        self._begin_ns = self._begin_ns or image.stamp_ns - 1_000_000
        picture = self._mp.Image(
            image_format=self._mp.ImageFormat.SRGB, data=np.ascontiguousarray(image.rgb)
        )
        t_ms = (image.stamp_ns - self._begin_ns) // 1_000_000
        found = self._landmarker.detect_for_video(picture, t_ms)
        return [
            (side[0].category_name, seen, world)
            for side, seen, world in zip(
                found.handedness,
                found.hand_landmarks,
                found.hand_world_landmarks,
                strict=True,
            )
        ]


def make_finder(model: str) -> Finder:
    """Return a model file's finder; empty: MediaPipe's own.

    Raises:
        HandError: MediaPipe or its model is missing.
    """
    try:
        import mediapipe as mp  # noqa: PLC0415 - an SDK of the tracker's environment
    except ImportError as err:
        raise HandError(
            f"expected the package 'mediapipe', got '{err}'; make the tracker an "
            "environment of its own: pip install mediapipe==0.10.21 pyrealsense2, or "
            "'paprle[hand-tracker]' and a model (leaders/hand_imu/README.md), and name "
            "its Python as leader.camera.python"
        ) from err
    if not model and hasattr(mp, "solutions"):
        return Solutions(mp)
    if not model:
        raise HandError(
            f"expected a model for MediaPipe {mp.__version__}, got none; "
            "leader.camera.model=hand_landmarker.task (leaders/hand_imu/README.md), or "
            "MediaPipe 0.10.21, which brings its own"
        )
    try:
        return Tasks(mp, model)
    except (RuntimeError, ValueError, OSError) as err:
        raise HandError(f"{model}: {err}") from err
