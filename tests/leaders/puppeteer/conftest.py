"""Emulated puppeteers, and the config that drives them."""

import pytest
from puppets import make_config, make_limb, puppets


@pytest.fixture
def rig(tmp_path):
    """Start rigs; yields the emulator and a config for it."""
    running = []

    def start(limbs, **rest):
        manager = puppets(tmp_path / str(len(running)), {"limbs": limbs})
        emulated = manager.__enter__()
        running.append(manager)
        return emulated, make_config({"limbs": limbs}, emulated.port, **rest)

    yield start
    for manager in running:
        manager.__exit__(None, None, None)


@pytest.fixture
def one_arm(rig):
    return rig({"left": make_limb("a")})
