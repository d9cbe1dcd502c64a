"""The rigs that come with the package, and servos as delivered."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml

from paprle_emulators import start
from paprle_emulators.dynamixel.config import (
    RIGS,
    LimbSpec,
    RigSpec,
    ServoSpec,
    list_rigs,
    read_rig,
)
from paprle_emulators.dynamixel.rig import Rig

ROOT = Path(__file__).resolve().parents[3]
PUPPETEERS = sorted(ROOT.glob("configs/leader/puppeteer_*.yaml"))


@pytest.mark.parametrize("path", PUPPETEERS, ids=lambda path: path.stem)
def test_every_puppeteer_comes_with_the_package(path):
    spec, there = read_rig(path.stem), read_rig(str(path))
    limbs = yaml.safe_load(path.read_text())["limbs"]

    assert path.stem in list_rigs()
    for limb, same in zip(spec.limbs, there.limbs, strict=True):
        assert limb.urdf is not None
        assert limb.urdf.is_relative_to(RIGS)
        assert limb.urdf.samefile(ROOT / limbs[limb.name]["urdf"])
        assert limb.urdf.samefile(same.urdf)
        assert (limb.servos, limb.port, limb.reset_q) == (
            same.servos, same.port, same.reset_q,
        )  # fmt: skip


def test_a_urdf_stands_beside_its_yaml(tmp_path):
    values = yaml.safe_load(PUPPETEERS[0].read_text())
    limb = next(iter(values["limbs"].values()))
    source = ROOT / limb["urdf"]
    limb["urdf"] = "arm.urdf"
    (tmp_path / "arm.urdf").write_text(source.read_text())
    (tmp_path / "rig.yaml").write_text(json.dumps(values))

    spec = read_rig(str(tmp_path / "rig.yaml"))

    assert spec.limbs[0].urdf == tmp_path / "arm.urdf"


def test_servos_as_delivered_are_in_position_control_at_57600_baud():
    servo = ServoSpec(joint="j", number=5)
    limbs = (LimbSpec(name="arm", servos=(servo,)),)

    ours, new = Rig(RigSpec(limbs=limbs)), Rig(RigSpec(limbs=limbs, is_factory=True))

    def read(rig, name):
        return rig.limbs["arm"].servos[0].table.get(name)

    names = ("ID", "Baud Rate", "Return Delay Time", "Operating Mode")
    assert [read(new, name) for name in names] == [5, 1, 250, 3]  # spec: e-manual
    assert [read(ours, name) for name in names] == [5, 6, 0, 0]
    assert not new.limbs["arm"].arm.hand_stiffness.any()


@pytest.mark.process
@pytest.mark.parametrize(
    ("leader", "names"),
    [("bench", ["bus"]), ("puppeteer_piper_2arm", ["bus_left", "bus_right"])],
)
def test_ports_have_the_name_that_was_asked_for(tmp_path, leader, names):
    with start("dynamixel", leader=leader, port=tmp_path / "bus") as rig:
        assert sorted(rig.ports.values()) == [str(tmp_path / name) for name in names]
        assert all(Path(port).is_char_device() for port in rig.ports.values())
        rig.order({"cmd": "unplug"})
        assert list(tmp_path.iterdir()) == []
        rig.order({"cmd": "replug"})
        assert sorted(path.name for path in tmp_path.iterdir()) == names

    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_the_vendors_sdk_moves_servos_as_delivered():
    sdk = pytest.importorskip("dynamixel_sdk")
    with start("dynamixel", leader="bench", setup="factory") as rig:
        port, packets = sdk.PortHandler(rig.port), sdk.PacketHandler(2.0)
        assert port.openPort()
        assert port.setBaudRate(57600)
        found, _ = packets.broadcastPing(port)
        packets.write1ByteTxRx(port, 1, 64, 1)  # Torque Enable
        packets.write4ByteTxRx(port, 1, 116, 1000)  # Goal Position
        end = time.monotonic() + 5.0
        while time.monotonic() < end:
            position, result, error = packets.read4ByteTxRx(port, 1, 132)
            if abs(position - 1000) < 20:
                break
        port.closePort()

    assert sorted(found) == [1, 2]
    assert (result, error) == (0, 0)
    assert abs(position - 1000) < 20
