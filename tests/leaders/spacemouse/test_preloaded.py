"""Runs the tests of the leader where hidapi meets the emulated mouse."""

from pathlib import Path

import pytest
from preloaded import run_preloaded


@pytest.mark.process
@pytest.mark.nightly
def test_the_leader_passes_with_the_real_hidapi(tmp_path):
    run_preloaded(Path(__file__).with_name("preloaded_leader.py"), tmp_path)
