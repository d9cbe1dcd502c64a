"""A recorded episode as a film."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.film import Curve, Film
from paprle.contracts.images import EXACT, CameraInfo, Frame
from paprle.contracts.plugins import SessionView
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.types import RobotInfo, Vec
from paprle.hosts.views.proximity import NearBodies
from paprle.hosts.views.scene_bodies import list_scene_bodies
from paprle.hosts.views.view import make_view
from paprle.ipc.pictures import Kind
from paprle.recording.messages.channels import Rows
from paprle.recording.reader import Episode
from paprle.recording.scene import make_collision_model, read_scene
from paprle.recording.video.frame_cache import Reel
from paprle.recording.video.pictures import Footage

_N_POINTS = 1000  # chosen: more cannot be told apart across a screen
_UNKNOWN = 0.0  # [m] of recordings from before clearances were kept


class EpisodeFilm(Film):
    """The views and images of a recorded episode."""

    def __init__(self, path: Path) -> None:
        """Read an MCAP file, by its manifest, or from a folder with one episode.

        Raises:
            RecordingError: If it cannot be read, or is empty.
            MissingDependency: If it has pictures and PyAV is not there.
        """
        self.episode = episode = Episode.open(path)
        if not (len(episode.ticks) and len(episode.gate)):
            raise RecordingError(
                f"{episode.path}: expected what session and gate did, got "
                f"{len(episode.ticks)} ticks and {len(episode.gate)} of the gate's"
            )
        self.name = episode.path.stem
        self._ticks_ns = episode.ticks["stamp_ns"].copy()
        self._gate_ns = episode.gate["stamp_ns"].copy()
        self._begin_ns = int(max(self._ticks_ns[0], self._gate_ns[0]))
        end_ns = int(max(self._ticks_ns[-1], self._gate_ns[-1]))
        self.length = max(end_ns - self._begin_ns, 0) * 1e-9
        self._folder = tempfile.TemporaryDirectory()
        self.robot = _find_urdf(episode, Path(self._folder.name))
        self._reels = _read_reels(episode.path)
        self.cameras = {name: _tell(reel) for name, reel in self._reels.items()}
        self.curves = [
            self._draw(k, name) for k, name in enumerate(self.robot.joint_names)
        ]

    def look(self, t: float) -> SessionView:
        """Return the session's last state at a time, [s]."""
        episode, t_ns = self.episode, self._begin_ns + round(t * 1e9)
        tick = episode.ticks[_find_row(self._ticks_ns, t_ns)]
        status = episode.gate[_find_row(self._gate_ns, t_ns)]
        return make_view(episode.layout, tick, status, t_ns)

    def see(self, t: float) -> dict[str, Frame | None]:
        """Return the newest image of each camera at a time, [s]."""
        t_ns = self._begin_ns + round(t * 1e9)
        return {name: reel.find(t_ns) for name, reel in self._reels.items()}

    def make_near_bodies(self) -> NearBodies:
        """Return the finder of near bodies, as recorded."""
        episode = self.episode
        gate = episode.config.get("gate") or {}
        kept = (
            float(gate.get("clearance_self", _UNKNOWN)),
            float(gate.get("clearance_scene", _UNKNOWN)),
        )
        return NearBodies(lambda: make_collision_model(episode), kept, self.robot.home)

    def list_bodies(self) -> tuple[SceneBody, ...]:
        """Return the recorded scene; of a simulated world its objects."""
        return list_scene_bodies(read_scene(self.episode))

    def close(self) -> None:
        """Close its files."""
        for reel in self._reels.values():
            reel.close()
        self._folder.cleanup()

    def _draw(self, k: int, name: str) -> Curve:
        t_asked, asked = self._thin(self._ticks_ns, self.episode.ticks, "q_des", k)
        t_measured, measured = self._thin(self._gate_ns, self.episode.gate, "q_meas", k)
        return Curve(name, t_asked, asked, t_measured, measured)

    def _thin(self, stamps_ns: Vec, rows: Rows, field: str, k: int) -> tuple[Vec, Vec]:
        chosen = np.linspace(0, len(rows) - 1, min(_N_POINTS, len(rows))).astype(int)
        t = (stamps_ns[chosen] - self._begin_ns) * 1e-9
        return t, rows[field][chosen, k].astype(np.float64)


def _find_row(stamps_ns: Vec, t_ns: int) -> int:
    return max(int(np.searchsorted(stamps_ns, t_ns, side="right")) - 1, 0)


def _find_urdf(episode: Episode, folder: Path) -> RobotInfo:
    """Return the robot with its URDF, if that is still the recorded one."""
    robot = episode.robot_info
    try:
        if robot.urdf_path.read_text(encoding="utf-8") == episode.urdf:
            return robot
    except (OSError, UnicodeDecodeError):
        pass
    path = folder / "recorded.urdf"
    path.write_text(episode.urdf, encoding="utf-8")
    return replace(robot, urdf_path=path)


def _read_reels(path: Path) -> dict[str, Reel]:
    footage = Footage(path)
    tracks = [one for one in footage.list_tracks() if one.kind is Kind.PICTURE]
    reels = {one.camera: Reel(footage, one.camera) for one in tracks}
    return {name: reel for name, reel in reels.items() if len(reel.stamps_ns)}


def _tell(reel: Reel) -> CameraInfo:
    if reel.info.encoding in EXACT:
        return reel.info
    return replace(reel.info, encoding="rgb8", depth_unit=0.0)
