"""The process of one camera: waits for images and posts them."""

from __future__ import annotations

from paprle.contracts.plugins import Camera
from paprle.hosts.factories import make_camera, read_payload
from paprle.hosts.roles import FRAMES
from paprle.ipc.ports import Frames, name_port, split_name
from paprle.ipc.process import Role, is_closed, run_role

_TIMEOUT = 0.2  # [s] chosen: how soon it sees that the session is gone


class CameraHost:
    """One camera and the slots that its images go to."""

    def __init__(self, role: Role) -> None:
        resolved, _ = read_payload(role.payload)
        _, name = split_name(role.payload["name"])
        self._role = role
        self._camera: Camera = make_camera(resolved, name)
        self._frames = Frames(self._camera.info.max_bytes).open(
            role.fds[name_port(FRAMES, name)]
        )
        self._has_complained = False

    def run(self) -> None:
        """Run until the session is gone, or the camera fails."""
        try:
            self._camera.open()
            self._role.report("ready", notes=list(self._camera.notes))
            while not is_closed(self._role.fds["session_alive"]):
                self.step()
        finally:
            self._camera.close()
            for text in self._camera.last_words:
                self._role.report("summary", message=text)

    def step(self) -> None:
        """Wait for one image, and post it."""
        frame = self._camera.grab(_TIMEOUT)
        if frame is not None and not self._frames.write(*frame):
            self._complain(len(frame.data))
        for text in self._camera.take_warnings():
            self._role.report("trouble", message=text)

    def _complain(self, n_bytes: int) -> None:
        """Say once that an image is larger than its camera said."""
        if not self._has_complained:
            most = self._camera.info.max_bytes
            self._has_complained = True
            text = f"camera: expected images of at most {most} bytes, got {n_bytes}"
            self._role.report("trouble", message=text)


def main(role: Role) -> None:
    """Host the camera."""
    CameraHost(role).run()


if __name__ == "__main__":
    run_role(main)
