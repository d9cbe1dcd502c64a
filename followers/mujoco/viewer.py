"""Viewer of a MuJoCo model, in a window or as a picture.

::

    python -m paprle.followers.mujoco.viewer MODEL.xml                  a window
    python -m paprle.followers.mujoco.viewer MODEL.xml --png OUT.png    no screen

With ``--state``, it is the live view of a session's follower.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import Vec
from paprle.followers.mujoco.picture import render_png
from paprle.followers.mujoco.view import check_display, make_layout
from paprle.ipc.mailbox import Mailbox

_PERIOD = 1 / 60  # [s] chosen: the rate of a usual screen


def receive_states(nq: int, state_fd: int, alive_fd: int) -> Iterator[Vec | None]:
    """Yield the newest qpos at 60 Hz until the sender ends.

    ``state_fd`` is the mailbox, ``alive_fd`` a pipe that the sender holds open.
    """
    mailbox = Mailbox(make_layout(nq), state_fd)
    while True:
        readable, _, _ = select.select([alive_fd], [], [], _PERIOD)
        if readable and not os.read(alive_fd, 1):
            return
        record = mailbox.read()
        yield None if record is None else np.array(record["qpos"])


def show(model: mujoco.MjModel, states: Iterator[Vec | None]) -> None:
    """Show states in a window until either ends."""
    import mujoco.viewer  # noqa: PLC0415 - needs a screen

    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with mujoco.viewer.launch_passive(
        model, data, show_left_ui=False, show_right_ui=False
    ) as window:
        for qpos in states:
            if not window.is_running():
                return
            if qpos is not None:
                with window.lock():
                    data.qpos[:] = qpos
                    mujoco.mj_forward(model, data)
            window.sync()


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Show a MuJoCo model.")
    parser.add_argument("model", type=Path, help="MJCF file")
    parser.add_argument("--png", type=Path, help="write a picture and end")
    parser.add_argument("--state", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    mjcf = args.model.read_text(encoding="utf-8")
    if args.png is not None:
        args.png.write_bytes(render_png(mjcf))
        return 0
    try:
        check_display()
    except DeviceError as err:
        sys.stderr.write(f"{err}\n")
        return 1
    model = mujoco.MjModel.from_xml_string(mjcf)
    if args.state is None:
        show(model, _stand_still())
    else:
        show(model, receive_states(model.nq, args.state, sys.stdin.fileno()))
    return 0


def _stand_still() -> Iterator[Vec | None]:
    while True:
        select.select([], [], [], _PERIOD)
        yield None


if __name__ == "__main__":
    sys.exit(main())
