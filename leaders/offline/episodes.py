"""Reader of own episodes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import DeviceError, RecordingError
from paprle.contracts.types import LeaderInfo, SessionState, Vec
from paprle.leaders.offline.readers.text import Limb
from paprle.leaders.offline.track import Rows
from paprle.recording.reader import Episode


def read_episode(path: Path) -> dict[str, Limb]:
    """Return the leader's limbs while engaged.

    Raises:
        DeviceError: If nothing can be read.
    """
    try:
        episode = Episode.open(path)
    except RecordingError as err:
        raise DeviceError(str(err)) from err
    info, counts = episode.layout.leader, Counter[str]()
    if episode.note:
        counts[f"damages ({episode.note})"] = 1
    is_used = episode.is_new_sample & (episode.ticks["state"] == SessionState.ENGAGED)
    samples = episode.ticks["sample"][is_used]
    samples = samples[samples["valid"]]
    t = (samples["stamp_ns"] - samples["stamp_ns"][:1]) * 1e-9
    limbs = {}
    for i, name in enumerate(info.limbs):
        opening = _hold(samples["opening"][:, i]) if info.has_gripper else None
        pose = samples["pose"][:, i]
        # an arm's joints have poses where these drove, and then they do so again
        if info.emits_joints(name) and not np.isfinite(pose).any():
            names = info.joint_names[name]
            q = samples["q"][:, i, : len(names)]
            rows = Rows(t=t, q=q, joint_names=names, opening=opening)
        elif info.emits_axes(name):
            rows = _read_axes(path, info, i, samples, t)
        else:
            rows = Rows(t=t, p=pose[:, :3], quat_xyzw=pose[:, 3:], opening=opening)
        limbs[name] = Limb(
            rows,
            counts,
            len(t),
            info.emits_places(name),
            str(episode.robot["name"]),
            has_pauses=True,
            axis_speeds=info.axis_speeds,
        )
    return limbs


def _read_axes(
    path: Path, info: LeaderInfo, i: int, samples: npt.NDArray[np.void], t: Vec
) -> Rows:
    if not np.isfinite(info.axis_speeds).all():
        raise DeviceError(
            f"{path}: expected one speed for all axes, got devices of several speeds; "
            "capture them one by one"
        )
    name = info.limbs[i]
    names = info.axes[name]
    return Rows(
        t=t,
        opening=_hold(samples["opening"][:, i]) if info.has_gripper else None,
        axes=samples["axes"][:, i, : len(names)],
        axis_names=names,
        mode=samples["mode"][:, i, 0].astype(np.int64),
    )


def _hold(opening: Vec) -> Vec | None:
    said = np.isfinite(opening)
    if not said.any():
        return None
    last = np.maximum.accumulate(np.where(said, np.arange(len(opening)), 0))
    first = int(said.argmax())
    return np.asarray(opening[np.maximum(last, first)])
