"""JSON lines of the gate's commands."""

from __future__ import annotations

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Observer
from paprle.contracts.session_view import SessionView
from paprle.hardware.lines.lines import Lines
from paprle.observers.socket.config import SocketConfig


class SocketObserver(Observer):
    """Sends each view's action without waiting."""

    config: SocketConfig
    _lines: Lines | None = None

    def open(self) -> None:
        """Connect."""
        # kernels, none of which is loaded where plug-ins are only listed
        from paprle.observation.live import PolicyActions  # noqa: PLC0415

        self.close()
        self._actions = PolicyActions(self.robot, "joints")
        try:
            self._lines = Lines(self.config.path)
        except ConnectionError as err:
            raise DeviceError(f"observers.socket: {err}") from err

    def observe(self, view: SessionView) -> None:
        """Send command and engagement."""
        if self._lines is None:
            return
        values = self._actions.encode(view.q_cmd).tolist()
        message = {
            "action": dict(zip(self._actions.names, values, strict=True)),
            "is_driven": view.is_engaged,
        }
        try:
            self._lines.send(message)
        except ConnectionError:
            self.close()  # nobody listens any more, which is nobody's harm

    def close(self) -> None:
        """Disconnect."""
        if self._lines is not None:
            self._lines.close()
        self._lines = None
