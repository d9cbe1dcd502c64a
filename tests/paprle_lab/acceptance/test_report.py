"""The report: complete, and without a person's data."""

from __future__ import annotations

import getpass
import json
import socket
from dataclasses import replace

import pytest
from planted_rigs import TRIPLE, make_kit

from paprle.config import resolve
from paprle.contracts.errors import DeviceError
from paprle_lab.acceptance import privacy
from paprle_lab.acceptance.check import Check, Outcome, Skipped
from paprle_lab.acceptance.kit import Run
from paprle_lab.acceptance.person import Quit
from paprle_lab.acceptance.privacy import clean, clean_setting
from paprle_lab.acceptance.report import (
    AcceptanceReport,
    find_emulated,
    find_names,
    find_settings,
    find_versions,
)

SERIAL = "FT89FEJ5"
HOME = "/".join(["", "home", "jane"])


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (f"port '{HOME}/dev/arm': lost", "port '<path>': lost"),
        ("cannot read ~/rig.yaml", "cannot read <path>"),
        (f"/dev/serial/by-id/usb-FTDI_{SERIAL}-if00-port0 is gone", "<port> is gone"),
        (f"camera {SERIAL} and 818312070212", "camera <number> and <number>"),
        ("peer 192.168.10.7:5000 is silent", "peer <address> is silent"),
        ("peer fe80::1ff:fe23:4567:890a is silent", "peer <address> is silent"),
        ("from 00:1a:2B:3c:4d:5e", "from <address>"),
        ("open http://robot.lab:8080/#abc", "open <address>"),
        (
            f"expected a folder, got '{HOME} doe/my rig'",
            "expected a folder, got '<path>'",
        ),
        ("jane@lab.example.org", "<address>"),
    ],
)
def test_personal_data_is_replaced_by_its_kind(text, cleaned):
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "joint1: asked +0.100, measured +0.100 rad",
        "firmware S-V1.5-2, 199.0 of 200 ticks a second, 99.85 % on time",
        "port '/dev/ttyUSB0': no answer",
        "port /dev/ttyUSB0 and can0, XL330-M288, STS3215, 0.5/1.0 m/s",
        "CLUTCHED · leader lost · ep 1 · 00:03 · REC",
    ],
)
def test_figures_and_names_of_devices_stay(text):
    assert clean(text) == text


def test_names_of_host_and_user_are_hidden(monkeypatch):
    monkeypatch.setattr(privacy.getpass, "getuser", lambda: "jane")
    monkeypatch.setattr(privacy.socket, "gethostname", lambda: "jane-laptop.lab")
    privacy._list_names.cache_clear()

    assert clean("jane at jane-laptop: janet stays") == "<name> at <name>: janet stays"
    monkeypatch.undo()
    privacy._list_names.cache_clear()


def test_a_setting_whose_key_names_a_secret_is_hidden():
    assert clean_setting("link.key", "x") == "<hidden>"
    assert clean_setting("cameras.wrist.serial", "123") == "<hidden>"
    assert clean_setting("leader.speed", 0.5) == "0.5"


def make_check(name, run):
    return Check(
        name=name,
        title=f"Title of {name}",
        asks="Hold it.",
        measures="its motion",
        criterion="none | at all",
        remedy="hold it better",
        run=run,
    )


def fail(_):
    raise DeviceError(f"port '{HOME}/arm': no answer; check its power")


def skip(_):
    raise Skipped("the robot reports no effort")


TABLE = (
    make_check("good", lambda _: Outcome(figures=["moved by 0.001 rad"])),
    make_check("bad", lambda _: Outcome(figures=["1 rad"], problems=["it fell"])),
    make_check("broken", fail),
    make_check("absent", skip),
)


def make_report(run, **others):
    resolved = resolve([*TRIPLE, "leader.speed=0.1", f"record.dir={HOME}/rec"])
    values = {
        "names": find_names(resolved),
        "versions": find_versions(),
        "hardware": {"leader": "a program"} | find_emulated(resolved),
        "settings": find_settings(resolved),
        "results": run.results,
        "n_unconfirmed": 3,
        "is_whole": run.is_whole,
    }
    return AcceptanceReport(**values | others)


def test_a_report_states_every_figure_criterion_verdict_and_reason(tmp_path):
    kit, _ = make_kit()
    run = Run()
    run.go(kit, TABLE, ())

    path = make_report(run).write(tmp_path)

    text = path.read_text()
    assert "| Title of good | passed | moved by 0.001 rad | none \\| at all |" in text
    assert "| Title of bad | failed | 1 rad |" in text
    assert "* it fell" in text
    assert "Remedy: hold it better." in text
    assert "* Title of absent: the robot reports no effort" in text
    assert "1 passed, 2 failed, 1 skipped" in text
    assert "| robot | simulation |" in text
    assert "| `leader.speed` | 0.1 |" in text
    assert "| paprle |" in text
    assert "Nobody answered 3 question(s)" in text
    tree = json.loads(path.with_suffix(".json").read_text())
    assert [r["verdict"] for r in tree["results"]] == [
        "passed", "failed", "failed", "skipped",
    ]  # fmt: skip
    assert tree["is_accepted"] is False
    whole = text + path.with_suffix(".json").read_text()
    for word in (HOME, "jane", str(tmp_path), socket.gethostname()):
        assert word not in whole
    user = getpass.getuser()
    assert user == "root" or user not in whole


@pytest.mark.parametrize(
    ("answers", "verdicts"),
    [
        (["y", "y", "y", "y"], ["passed", "failed", "failed", "skipped"]),
        (["skip", "s", "S", "skip"], ["skipped"] * 4),
        (["what", "", "y", "quit"], ["passed", "skipped"]),
    ],
)
def test_each_check_is_asked_for_before_it_begins(answers, verdicts):
    left = iter(answers)
    kit, _ = make_kit(answer=lambda _: next(left))
    run = Run()

    try:
        run.go(kit, TABLE, ())
    except Quit:
        assert not run.is_whole

    assert [result.verdict for result in run.results] == verdicts
    assert next(left, None) is None


def test_nothing_faster_begins_after_a_needed_check_has_failed():
    kit, _ = make_kit()
    run = Run()

    run.go(kit, [TABLE[0], replace(TABLE[1], is_needed=True), TABLE[0]], ())

    assert [r.verdict for r in run.results] == ["passed", "failed", "skipped"]
    assert run.results[-1].reason == "not before bad passes"


def test_chosen_checks_alone_are_run():
    kit, _ = make_kit()
    run = Run()

    run.go(kit, TABLE, ("good",))

    assert [result.reason for result in run.results] == ["", *["not among --only"] * 3]
    assert make_report(run).is_accepted


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["env=can", "env.interface=emucan"], "robot"),
        (["leader=puppeteer_piper", "leader.limbs.arm.port=/dev/pts/7"], "leader"),
    ],
)
def test_emulated_ports_are_stated(words, part):
    assert find_emulated(resolve([*TRIPLE, *words]))[part] == "emulator"


def test_hardware_is_not_called_emulated():
    assert find_emulated(resolve([*TRIPLE, "env=can"])) == {}
