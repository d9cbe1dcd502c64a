"""Keeps numerical libraries to one thread in the processes of a session.

Vectors are short here. A second thread of a library takes memory, makes forks unsafe
and takes turns with the control loops.
"""

from __future__ import annotations

import os


def limit_threads() -> None:
    """Ask libraries that load later, here and in child processes, for one thread.

    A value that the user has set stays. A program that imports ``paprle`` as a library
    keeps its own setting.
    """
    for library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
