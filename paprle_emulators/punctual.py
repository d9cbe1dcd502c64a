"""Real-time priority."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

_PRIORITY = 40  # chosen: above ordinary processes, below the control loops' 50
_NICE = -20  # spec: sched(7), before all ordinary processes
_MCL_CURRENT_FUTURE_ONFAULT = 7  # spec: sys/mman.h; what is touched, and no more


def request_punctuality(*, is_driven: bool = True) -> None:
    """Run before ordinary processes, in memory, where allowed.

    Later threads inherit the priority. A leader's rig is not real-time: with a session
    and an emulated arm, two cores would exceed Linux's real-time share and all stand
    for 50 ms a second.
    """
    with contextlib.suppress(OSError, AttributeError):  # without it a busy host shows
        if is_driven:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        else:
            os.setpriority(os.PRIO_PROCESS, 0, _NICE)
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).mlockall(_MCL_CURRENT_FUTURE_ONFAULT)
