"""Coding of a camera's images during an episode."""

from __future__ import annotations

import contextlib
import json
import queue
import time
from collections.abc import Callable
from typing import Any

from paprle.contracts.images import CameraInfo
from paprle.contracts.plugins import Frame
from paprle.contracts.settings.camera import Video
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.pictures import CodedPicture, PictureKind, pack_coded
from paprle.recording.video.codec import make_depth_encoder, make_encoder

EVENT = "camera"
"""Name of the events that tell how a camera does."""

_WAITING = 2  # [images] chosen: one hides a pause of the machine, more would be old
_TIMEOUT = 0.1  # [s] chosen: how soon the thread sees that it is to end


class CameraFilm:
    """Coded images of one camera for the recorder.

    Attributes:
        n_dropped: Not coded for lack of time or room.
    """

    def __init__(
        self,
        info: CameraInfo,
        video: Video,
        ring: Ring,
        level: Mailbox,
        describe: Callable[[], dict[str, Any]],
    ) -> None:
        """Prepare.

        Raises:
            ConfigError: If the images cannot be coded so.
            MissingDependency: Without PyAV.
        """
        self.n_dropped = 0
        self.failure: Exception | None = None
        self._encoder = make_encoder(info, video)
        self._depth = make_depth_encoder(info) if info.depth_bytes else None
        self._ring, self._level, self._describe = ring, level, describe
        self._waiting: queue.Queue[tuple[int, Frame]] = queue.Queue(_WAITING)
        self._episode = 0
        self._needs_key = True
        self._must_end = False
        self._state = ("starting", "")
        self._told: tuple[int, str] | None = None

    def offer(self, frame: Frame) -> None:
        """Queue an image during an episode without waiting."""
        episode = self._find_episode()
        if episode is None:
            return
        try:
            self._waiting.put_nowait((episode, frame))
        except queue.Full:
            self.n_dropped += 1

    def note(self, state: str, text: str) -> None:
        """Record the camera's state; thread-safe."""
        self._state = (state, text)

    def run(self) -> None:
        """Code queued images until the end."""
        try:
            while not self._must_end:
                with contextlib.suppress(queue.Empty):
                    self.step(*self._waiting.get(timeout=_TIMEOUT))
                self._tell()
        except Exception as err:  # noqa: BLE001 - the main thread fails of it
            self.failure = err

    def end(self) -> None:
        """End the thread."""
        self._must_end = True

    def step(self, episode: int, frame: Frame) -> None:
        """Code one image of the recorder's episode."""
        if episode != self._episode:
            self._episode, self._needs_key = episode, True
        coded = self._encoder.encode(
            frame.stamp_ns, frame.data, needs_key=self._needs_key
        )
        is_kept = coded is not None and self._push(PictureKind.PICTURE, coded)
        self._needs_key = not is_kept
        if self._state[0] == "starting":
            self.note("ok", "")
        self.n_dropped += not is_kept
        if self._depth is not None and frame.depth:
            depth = self._depth.encode(frame.stamp_ns, frame.depth)
            if depth is not None:
                self._push(PictureKind.DEPTH, depth)

    def _find_episode(self) -> int | None:
        record = self._level.read()
        is_on = record is not None and bool(record["is_on"])
        return int(record["episode"]) if is_on and record is not None else None

    def _push(self, kind: PictureKind, coded: CodedPicture) -> bool:
        return self._ring.push(
            kind, pack_coded(coded._replace(n_dropped=self.n_dropped))
        )

    def _tell(self) -> None:
        episode, (state, text) = self._find_episode(), self._state
        if episode is None or (episode, state) == self._told:
            return
        self._told = (episode, state)
        event = {"event": EVENT, **self._describe(), "state": state}
        event |= {"text": text} if text else {}
        event["t_ns"] = time.monotonic_ns()
        self._ring.push(PictureKind.EVENT, json.dumps(event).encode())
