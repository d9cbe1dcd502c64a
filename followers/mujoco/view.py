"""Gate's side of the live view, a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import Vec
from paprle.ipc.mailbox import Mailbox

_PERIOD = 1 / 60  # [s] chosen: the rate of a usual screen
_PATIENCE = 2.0  # [s] chosen: a window that has not closed by then is killed
_WORKSPACE = Path(__file__).absolute().parents[3]


def make_layout(nq: int) -> np.dtype[np.void]:
    """Return the layout of a shown state."""
    return np.dtype([("sim_time", "f8"), ("qpos", "f8", (nq,))])


class View:
    """A live view in its own process."""

    def __init__(self, mjcf: str, nq: int, command: tuple[str, ...] = ()) -> None:
        if not command:
            check_display()
            command = (sys.executable, "-m", "paprle.followers.mujoco.viewer")
        self._record = np.zeros((), make_layout(nq))
        self._mailbox = Mailbox(self._record.dtype)
        self._next = 0.0
        with tempfile.TemporaryFile() as model:
            model.write(mjcf.encode())
            model.seek(0)
            fds = (model.fileno(), self._mailbox.fd)
            self._process = subprocess.Popen(
                [*command, f"/dev/fd/{fds[0]}", "--state", str(fds[1])],
                stdin=subprocess.PIPE,
                cwd=_WORKSPACE,
                pass_fds=fds,
                start_new_session=True,
            )

    def show(self, sim_time: float, qpos: Vec) -> None:
        """Post a state, at 60 Hz of simulated time at most."""
        if sim_time < self._next:
            return
        self._next = sim_time + _PERIOD
        self._record["sim_time"], self._record["qpos"] = sim_time, qpos
        self._mailbox.write(self._record)

    def close(self) -> None:
        """End the process; may be called twice."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def check_display() -> None:
    """Check for a display.

    Raises:
        DeviceError: If there is no display.
    """
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not has_display:
        raise DeviceError(
            "env.viewer: expected a screen (DISPLAY or WAYLAND_DISPLAY), got none; "
            "leave env.viewer=false, or use ssh -X or xvfb-run"
        )
