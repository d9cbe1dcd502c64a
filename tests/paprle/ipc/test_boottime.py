"""Time that goes on while a computer is suspended."""

from __future__ import annotations

import time

import pytest

from paprle.ipc.boottime import read_boottime


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="Linux alone has it")
def test_a_suspension_counts(monkeypatch):
    clocks = {time.CLOCK_BOOTTIME: 7_000_000_000, time.CLOCK_MONOTONIC: 2_000_000_000}
    monkeypatch.setattr(time, "clock_gettime_ns", clocks.__getitem__)

    assert read_boottime() == 7_000_000_000
