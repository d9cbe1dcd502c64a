"""The newest image of each camera, for as long as it may be taken for that.

Whoever writes images may be stopped, so whoever reads them judges their age: one that
nothing has followed for two periods is nobody's newest. A camera's own process takes
its image back as soon (``camera_health``); it cannot while it stands still.
"""

from __future__ import annotations

from collections.abc import Mapping

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.contracts.images import CameraInfo, Frame
from paprle.hosts.factories import make_camera
from paprle.hosts.operator.silence_timer import Stillness
from paprle.hosts.roles import FRAMES
from paprle.hosts.views.camera_health import LATE
from paprle.ipc.mailbox import ImageSlots
from paprle.ipc.ports import Frames, name_port
from paprle.ipc.process import Role


class NewestImage:
    """The newest image of one camera; none before the first that is seen to come."""

    def __init__(self, info: CameraInfo, slots: ImageSlots, rate: float) -> None:
        """Begin to look ``rate`` times a second."""
        self._info, self._slots = info, slots
        self._count = slots.count
        self._still = Stillness(rate, self._count)
        self._late_ns = LATE * 1e9 / info.fps
        self._frame: Frame | None = None

    def read(self, now_ns: int) -> Frame | None:
        """Return it, the same object until another one comes; None: there is none."""
        count = self._slots.count
        if count != self._count:
            image = self._slots.read()
            if image is not None:
                self._count = count
                self._frame = self._info.split(*image)
            elif not self._slots.has_image:
                self._count, self._frame = count, None
        if self._still.look(count, now_ns) > self._late_ns:
            self._frame = None
        return self._frame


class NewestImages:
    """The newest image of each camera of a session.

    Attributes:
        cameras: What they are, by name; empty for who wants none.
    """

    def __init__(
        self, role: Role, resolved: Resolved, rate: float, *, is_wanted: bool = True
    ) -> None:
        """Open them in a process that was given their ports.

        Args:
            role: The process's.
            resolved: The config.
            rate: How often they will be read, [Hz].
            is_wanted: They are opened at all.
        """
        names = list_named(resolved.cameras) if is_wanted else ()
        self.cameras = {name: make_camera(resolved, name).info for name in names}
        self._newest = {
            name: NewestImage(
                info,
                Frames(info.max_bytes + info.depth_bytes).open(
                    role.fds[name_port(FRAMES, name)]
                ),
                rate,
            )
            for name, info in self.cameras.items()
        }
        self._shown: dict[str, Frame] = {}

    def read(self, now_ns: int) -> dict[str, Frame]:
        """Return them by camera; none of those that have none.

        Args:
            now_ns: Monotonic time, [ns].
        """
        newest = {name: one.read(now_ns) for name, one in self._newest.items()}
        return {name: frame for name, frame in newest.items() if frame is not None}

    def read_changes(self, now_ns: int) -> tuple[Mapping[str, Frame], frozenset[str]]:
        """Return the new ones since the last call, and whose are gone since then.

        Args:
            now_ns: Monotonic time, [ns].
        """
        before, self._shown = self._shown, self.read(now_ns)
        new = {n: f for n, f in self._shown.items() if f is not before.get(n)}
        return new, frozenset(before.keys() - self._shown.keys())
