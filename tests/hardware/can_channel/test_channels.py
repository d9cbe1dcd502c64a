"""Adapters by the USB port that they are plugged into."""

import pytest

from paprle.hardware.can_channel.channels import (
    BusError,
    find_channel,
    find_stable_name,
)

PORTS = {"can0": "1-2:1.0", "can1": "1-4.1:1.0"}


@pytest.fixture
def net(tmp_path):
    """The kernel's list of interfaces: two on USB, a virtual one, an Ethernet one."""
    for name, port in PORTS.items():
        device = tmp_path / "devices" / port
        device.mkdir(parents=True)
        (tmp_path / "net" / name).mkdir(parents=True)
        (tmp_path / "net" / name / "type").write_text("280\n")
        (tmp_path / "net" / name / "device").symlink_to(device)
    for name, kind in {"vcan0": "280", "eth0": "1"}.items():
        (tmp_path / "net" / name).mkdir()
        (tmp_path / "net" / name / "type").write_text(f"{kind}\n")
    (tmp_path / "net" / "eth0" / "device").symlink_to(tmp_path / "devices" / "1-2:1.0")
    return tmp_path / "net"


def test_a_usb_port_is_whoever_is_plugged_in_there(net):
    assert find_channel("usb:1-4.1:1.0", net) == "can1"

    (net / "can0").rename(net / "can2")
    (net / "can1").rename(net / "can0")  # as after another order of plugging

    assert find_channel("usb:1-4.1:1.0", net) == "can0"


@pytest.mark.parametrize("name", ["can0", "/dev/ttyACM0", "/tmp/arm"])
def test_other_names_stay_as_they_are(net, name):
    assert find_channel(name, net) == name


def test_an_empty_port_lists_those_that_are_not(net):
    with pytest.raises(BusError, match=r"got none; there are: usb:1-2:1\.0 \(can0\), "):
        find_channel("usb:3-1:1.0", net)


def test_no_adapter_at_all_is_said_so(tmp_path):
    with pytest.raises(BusError, match="there are: none"):
        find_channel("usb:3-1:1.0", tmp_path / "none")


def test_the_name_that_stays_with_a_port(net, tmp_path):
    serial = tmp_path / "by-path"
    serial.mkdir()
    (tmp_path / "ttyACM0").touch()
    (serial / "pci-usb-0:2").symlink_to(tmp_path / "ttyACM0")

    assert find_stable_name("socketcan", "can1", net) == "usb:1-4.1:1.0"
    assert find_stable_name("socketcan", "vcan0", net) == ""
    slcan = str(tmp_path / "ttyACM0")
    assert find_stable_name("slcan", slcan, net, serial) == str(serial / "pci-usb-0:2")
    stable = str(serial / "pci-usb-0:2")
    assert find_stable_name("slcan", stable, net, serial) == ""
