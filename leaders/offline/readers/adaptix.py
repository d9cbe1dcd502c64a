"""Reader of AdaptiX's recordings."""

from __future__ import annotations

import math

import numpy as np

from paprle.contracts.errors import DeviceError, RecordingError
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.readers.text import Limb
from paprle.leaders.offline.track import Rows
from paprle.recording.others.adaptix import CLOSED, parse_adaptix


def read_adaptix(where: object, text: str, config: OfflineConfig) -> Limb:
    """Return the gripper's motion, in its world's axes.

    Raises:
        DeviceError: If there is no frame.
    """
    try:
        recording = parse_adaptix(where, text)
    except RecordingError as err:
        raise DeviceError(str(err)) from err
    frames = recording.frames
    poses = np.array([frame.joints[-1] for frame in frames])
    # each finger is followed by its tip, where there are tips
    fingers = np.array([frame.fingers[::2] for frame in frames])
    unit = math.radians(1.0) if config.units.angle == "deg" else 1.0
    return Limb(
        Rows(
            t=np.array([frame.t for frame in frames]),
            p=poses[:, :3],
            quat_xyzw=poses[:, 3:],
            opening=1.0 - fingers.mean(axis=1) * unit / CLOSED,
        ),
        recording.dropped,
        len(frames) + recording.dropped.total(),
        told=f"a recording of AdaptiX, version {recording.version}",
        frames=frames,
    )
