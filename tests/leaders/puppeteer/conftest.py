"""Emulated puppeteers, and the config that drives them."""

import pytest
from emulated_puppeteers import make_config, make_limb, run_emulated


@pytest.fixture
def rig(tmp_path):
    """Start rigs; yields the emulator and a config for it."""
    running = []

    def start(limbs, **rest):
        manager = run_emulated(tmp_path / str(len(running)), {"limbs": limbs})
        emulated = manager.__enter__()
        running.append(manager)
        return emulated, make_config({"limbs": limbs}, emulated.port, **rest)

    yield start
    for manager in running:
        manager.__exit__(None, None, None)


@pytest.fixture
def one_arm(rig):
    return rig({"left": make_limb("a")})
