"""The newest image of each camera, dropped after two periods."""

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
    """The newest image of one camera."""

    def __init__(self, info: CameraInfo, slots: ImageSlots, rate: float) -> None:
        """Start, for reads at ``rate``, [Hz]."""
        self._info, self._slots = info, slots
        self._count = slots.count
        self._still = Stillness(rate, self._count)
        self._late_ns = LATE * 1e9 / info.fps
        self._frame: Frame | None = None

    def read(self, now_ns: int) -> Frame | None:
        """Return the image, the same object until the next, or None."""
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
    """The newest images of a session by camera."""

    def __init__(
        self, role: Role, resolved: Resolved, rate: float, *, is_wanted: bool = True
    ) -> None:
        """Open the ports, for reads at ``rate``, [Hz]."""
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
        """Return the present images by camera."""
        newest = {name: one.read(now_ns) for name, one in self._newest.items()}
        return {name: frame for name, frame in newest.items() if frame is not None}

    def read_changes(self, now_ns: int) -> tuple[Mapping[str, Frame], frozenset[str]]:
        """Return new images, and cameras that lost theirs."""
        before, self._shown = self._shown, self.read(now_ns)
        new = {n: f for n, f in self._shown.items() if f is not before.get(n)}
        return new, frozenset(before.keys() - self._shown.keys())
