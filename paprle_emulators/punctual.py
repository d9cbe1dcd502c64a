"""Gives an emulated device the punctuality of a computer of its own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

_PRIORITY = 40  # chosen: above ordinary processes, below the control loops' 50
_MCL_CURRENT_FUTURE_ONFAULT = 7  # spec: sys/mman.h; what is touched, and no more


def request_punctuality() -> None:
    """Run before ordinary processes, in memory, where the computer allows it.

    Threads that are started later inherit the priority.
    """
    with contextlib.suppress(OSError, AttributeError):  # without it a busy host shows
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).mlockall(_MCL_CURRENT_FUTURE_ONFAULT)
