"""Version strings of control boxes, whole and as the register cuts them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from paprle.hardware.xarm.identity import Identity, read_identity


@pytest.mark.parametrize(
    ("version", "axis", "kind", "firmware"),
    [
        ("7,7,XF130206D01B01,AC130206D01B01,v2.5.0", 7, 7, (2, 5, 0)),
        ("6,9,LI100806D01B01,AC130206D01B01,v1.12.10", 6, 9, (1, 12, 10)),
        ("6,12,FX850006D01B01,AC130206D01B01,v2.5.", 6, 12, (2, 5, 0)),
        ("6,12,FX850006D01B01,AC130206D01B01,v2.5", 6, 12, (2, 5, 0)),
    ],
)
def test_axes_type_and_firmware_are_read_from_the_version(
    version, axis, kind, firmware
):
    api = SimpleNamespace(version=version, sn=None)
    serial = version.split(",")[2]
    assert read_identity(api) == Identity(axis, kind, serial, firmware)


def test_an_old_version_string_leaves_it_to_the_sdk():
    api = SimpleNamespace(
        version="1.0.2", version_number=(1, 0, 2), axis=7, device_type=7, sn="X"
    )
    assert read_identity(api) == Identity(7, 7, "X", (1, 0, 2))
