"""Static transforms between frames, and the common frame of a source.

Optical frames (x right, y down, z forward) are refused: up would become sideways.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_NORM = (0.9, 1.1)  # spec: docs/SAFETY.md, A6: quaternions of another norm are refused
_DEEPEST = 100  # chosen: links from a frame to its root; more is a loop


class FrameError(ValueError):
    """A pose's frame cannot be joined to its source's."""


class StaticFrames:
    """Frames fixed to their parents, as in ``/tf_static``."""

    def __init__(self) -> None:
        self._parents: dict[str, tuple[str, pin.SE3]] = {}

    def add(self, parent: str, child: str, xyzquat: Vec) -> bool:
        """Set T_parent_child, xyz + quat_xyzw, (7,), [m]; return if it is a pose."""
        norm = float(np.linalg.norm(xyzquat[3:]))
        if not np.isfinite(xyzquat).all() or not _NORM[0] <= norm <= _NORM[1]:
            return False
        pose = np.concatenate([xyzquat[:3], xyzquat[3:] / norm])
        self._parents[plain(child)] = plain(parent), pin.XYZQUATToSE3(pose)
        return True

    def find(self, a: str, b: str) -> pin.SE3 | None:
        """Return T_a_b, if static transforms join the frames."""
        root_a, T_root_a = self._climb(a)
        root_b, T_root_b = self._climb(b)
        return T_root_a.actInv(T_root_b) if root_a == root_b else None

    def find_root(self, frame: str) -> str:
        """Return the root of a frame."""
        return self._climb(frame)[0]

    def _climb(self, frame: str) -> tuple[str, pin.SE3]:
        root, T_root_frame = frame, pin.SE3.Identity()
        for _ in range(_DEEPEST):
            if root not in self._parents:
                break
            root, T_parent_child = self._parents[root]
            T_root_frame = T_parent_child * T_root_frame
        return root, T_root_frame


class SourceFrame:
    """Common frame of the poses of a source."""

    def __init__(
        self, statics: StaticFrames, asked: str = "", setting: str = "base_frame"
    ) -> None:
        self._statics, self._asked, self._setting = statics, plain(asked), setting
        self.name: str | None = None
        self.counts: Counter[str] = Counter()

    def find(self, frame_id: str, n: int = 1) -> pin.SE3:
        """Return T_source_frame for ``n`` poses of ``frame_id``.

        Raises:
            FrameError: If no transform joins the frames, or it is optical.
        """
        frame = plain(frame_id)
        name = self._choose(frame) if self.name is None else self.name
        T = self._statics.find(name, frame)
        if T is None:
            raise FrameError(
                f"expected poses in frame '{name}', got poses in "
                f"{_quote(frame)}, and no static transform joins the two; publish it "
                f"on /tf_static, or publish all poses in one frame{self._hint(name)}"
            )
        self.name = name
        self.counts[frame] += n
        return T

    def describe(self) -> str:
        """Return a text on the frame and transformed poses."""
        if not self.name:
            return "poses without a frame_id" if self.counts else ""
        others = [
            f"{n} from {_quote(frame)}"
            for frame, n in self.counts.items()
            if frame != self.name
        ]
        moved = f", {', '.join(others)} by /tf_static" if others else ""
        return f"poses in frame '{self.name}'{moved}"

    def _choose(self, frame: str) -> str:
        if self._asked or not is_optical(frame):
            return self._asked or frame
        root = self._statics.find_root(frame)
        if not is_optical(root):
            return root
        raise FrameError(
            f"expected poses in a frame whose z axis points up, got '{frame}', an "
            "optical frame (x right, y down, z forward), and no /tf_static that fixes "
            f"it to another; publish its transform, or set {self._setting}={frame} to "
            "take its axes for those of the robot's base"
        )

    def _hint(self, name: str) -> str:
        if not self._asked:
            return ""
        return f"; {self._setting}={name} is the configured frame"


def plain(frame_id: str) -> str:
    """Return a frame's name without ROS 1's slash."""
    return frame_id.strip().lstrip("/")


def is_optical(frame: str) -> bool:
    """Return whether a frame is optical by name (ROS REP 103)."""
    words = frame.lower().rpartition("/")[2].split("_")
    last = words[:-1] if words[-1] in {"frame", "link"} else words
    return last[-1:] == ["optical"]


def _quote(frame: str) -> str:
    return f"'{frame}'" if frame else "no frame (frame_id is empty)"
