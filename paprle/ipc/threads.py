"""Limit of numerical libraries to one thread."""

from __future__ import annotations

import os


def limit_threads() -> None:
    """Limit libraries that load later, unless set."""
    for library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
