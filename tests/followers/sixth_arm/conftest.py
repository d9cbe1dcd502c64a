"""A sixth maker's arm, installed beside the package as pip would."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path

import pytest
from piper_rig import RealClock

from paprle.testing import make_robot_info
from paprle_emulators import start
from paprle_emulators.vendor_arm.journal import read_record

OUTSIDE = Path(__file__).parent / "outside"
sys.path.append(str(OUTSIDE))
ENTRIES = """[paprle.followers]
sextant = paprle_sextant.plugin:PLUGIN
[paprle_emulators.devices]
sextant = sextant_emulator
"""


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory):
    """Install the entry points for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "paprle_sextant-1.0.dist-info"
    info.mkdir()
    metadata = "Metadata-Version: 2.1\nName: paprle-sextant\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata)
    (info / "entry_points.txt").write_text(ENTRIES)
    places = [str(folder), str(OUTSIDE), os.environ.get("PYTHONPATH", "")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
        importlib.invalidate_caches()
        yield


class EmulatedSextant:
    """One ``paprle-emulate sextant`` and its journal."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.log = folder / "arm.log"
        self._rig = start("sextant", address="own", log=self.log, **settings)
        self.host = self._rig.port
        self.args = [*self._rig.overrides, "env=sextant", "follower.envs.sextant={}"]

    def __enter__(self) -> EmulatedSextant:
        return self

    def __exit__(self, *_: object) -> None:
        self._rig.stop()

    def do(self, fault: str, **arguments: object) -> int:
        """Give an order; return when it was done, [ns]."""
        return self._rig.order({"fault": fault, **arguments})["stamp_ns"]

    def read(self):
        return read_record(self.log)


@pytest.fixture
def make_arm():
    return EmulatedSextant


@pytest.fixture
def arm(tmp_path):
    with EmulatedSextant(tmp_path) as arm:
        yield arm


@pytest.fixture
def robot():
    return make_robot_info(6)


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def config(arm):
    from paprle_sextant.config import SextantConfig  # noqa: PLC0415

    return SextantConfig(host=arm.host)


@pytest.fixture
def follower(config, robot, clock):
    from paprle_sextant.follower import SextantFollower  # noqa: PLC0415

    follower = SextantFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("hold")


@pytest.fixture
def cycle(clock):
    """Write q, or where the arm is, for a time or until a state is as asked."""

    def run(follower, q=None, *, until=None, time_s=1.0):
        end = time.monotonic() + time_s
        state = follower.read()
        while time.monotonic() < end:
            state = follower.read()
            if until is not None and until(state):
                break
            follower.write(state.q if q is None else q)
            clock.advance(1 / 200)
        return state

    return run
