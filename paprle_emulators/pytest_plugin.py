"""pytest fixtures of emulated devices, which end with the test."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from paprle_emulators.devices import explain_missing, find_device
from paprle_emulators.process import Emulator, start

Start = Callable[..., Emulator]


@pytest.fixture
def emulator() -> Iterator[Start]:
    """Return ``start(device, **settings)`` of ``paprle_emulators``."""
    with contextlib.ExitStack() as stack:

        def begin(device: str, **settings: object) -> Emulator:
            try:
                found = find_device(device)
            except LookupError as err:
                pytest.skip(str(err))
            missing = found.list_missing()
            if missing:
                pytest.skip(f"emulator '{device}': {explain_missing(found, missing)}")
            return stack.enter_context(start(device, **settings))  # type: ignore[arg-type]

        yield begin


@pytest.fixture
def dynamixel_bus(emulator: Start) -> Emulator:
    """Return one arm of Dynamixel servos; ``port`` is its serial port."""
    return emulator("dynamixel")


@pytest.fixture
def piper_can(emulator: Start) -> Emulator:
    """Return a PiPER; ``port`` is the channel of python-can's ``emucan``."""
    return emulator("piper")


@pytest.fixture
def so101_bus(emulator: Start) -> Emulator:
    """Return an SO-101; ``port`` is its serial port."""
    return emulator("so101")


@pytest.fixture
def imu_port(emulator: Start, tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    """Return an inertial sensor; ``port`` is its serial port."""
    return emulator("imu", port=tmp_path_factory.mktemp("imu") / "port")
