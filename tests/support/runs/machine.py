"""Repeats what a machine that stood still has spoilt, and nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from benchmarks.processes.machine import Machine

T = TypeVar("T")


def undisturbed(attempt: Callable[[], T], n_attempts: int = 4) -> T:
    """Return what an attempt gives; repeat it if it fails while a processor stood.

    Args:
        attempt: Does all of it, and fails by itself.
        n_attempts: How often at most.

    Returns:
        What the first attempt gives that does not fail.

    Raises:
        AssertionError: If it fails while the machine ran all the time, or always.
    """
    for n_left in reversed(range(n_attempts)):
        with Machine() as machine:
            try:
                return attempt()
            except AssertionError as err:
                failure = err
        if not machine.gaps or not n_left:
            break
        worst = max(end - begin for begin, end in machine.gaps)
        warnings.warn(
            f"disturbed: the machine stood still for {worst:.3f} s: {failure}",
            stacklevel=2,
        )
    raise failure
