"""The command ``paprle-emulate``: its words, and what it answers to wrong ones."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from paprle_emulators.__main__ import describe, main, read_fault, translate
from paprle_emulators.devices import Device, find_device, list_devices

DEVICE = Device(module="paprle_emulators.piper", about="", ideal=("firmware=S-V1.8-6",))


def test_options_become_the_words_of_a_device():
    words = [
        "q=0,0,0,0,0,0",
        "--port",
        "/tmp/can",
        "--faults=lost,share=0.01",
        "--ideal",
    ]

    found = translate("piper", DEVICE, words)

    fault = json.dumps({"fault": "lost", "share": 0.01})
    assert found == [
        "q=0,0,0,0,0,0", "port=/tmp/can", f"fault={fault}", "firmware=S-V1.8-6",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("silent", {"fault": "silent"}),
        ("silent,joint=joint3,id=4", {"fault": "silent", "joint": "joint3", "id": 4}),
        ('{"fault": "late", "p": 0.5}', {"fault": "late", "p": 0.5}),
        ("lost,ids=[1]", {"fault": "lost", "ids": [1]}),
    ],
)
def test_a_fault_is_written_in_short_or_in_json(text, fault):
    assert json.loads(read_fault(text)) == fault


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--port"], "--port: expected a value"),
        (["--colour"], "expected --port, --faults, --ideal or --help, got '--colour'"),
        (["--faults", "lost,often"], "expected NAME,key=value, got 'lost,often'"),
    ],
)
def test_a_wrong_option_is_refused_with_those_that_exist(words, why):
    with pytest.raises(ValueError, match=why):
        translate("piper", DEVICE, words)


def test_an_unknown_device_is_answered_with_those_that_exist(capsys):
    assert main(["toaster"]) == 2

    err = capsys.readouterr().err
    assert "got 'toaster'" in err
    assert all(name in err for name in ("dynamixel", "piper", "ros2-robot", "imu"))


def test_a_device_without_vices_has_no_ideal(capsys):
    assert main(["camera", "--ideal"]) == 2

    assert "'camera' has no vices to end" in capsys.readouterr().err


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    capsys, monkeypatch
):
    monkeypatch.setattr(Device, "list_missing", lambda device: list(device.needs))

    assert main(["dynamixel"]) == 2

    err = capsys.readouterr().err
    assert "no dynamixel_easy_sdk; pip install 'paprle-emulators[dynamixel]'" in err


def test_the_help_lists_every_device():
    text = describe()

    assert all(f"    {name} " in text for name in list_devices())


@pytest.mark.parametrize("name", list_devices())
def test_every_device_explains_itself(name, capsys):
    device = find_device(name)

    assert main([name, "--help"]) == 0

    text = capsys.readouterr().out
    assert f"python -m {device.module}" in text
    assert "JSON line" in text
    assert callable(import_module(f"{device.module}.__main__").main)


@pytest.mark.parametrize("name", list_devices())
def test_every_device_refuses_a_key_that_it_does_not_know(name, capsys):
    assert main([name, "colour=red"]) == 2

    assert "colour" in capsys.readouterr().err


def test_packages_are_found_by_their_names_too():
    assert find_device("ros") is find_device("ros2-robot")
