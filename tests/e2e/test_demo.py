"""The first command of a newcomer."""

from __future__ import annotations

import sys

import pytest

from paprle.cli import main

QUICK = ("session.clock=virtual", "leader.size=0.04", "leader.speed=0.1")


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def list_names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.sim
def test_the_demo_draws_records_and_reports(empty, capsys):
    assert main(["demo", *QUICK]) == 0

    assert {"episode_000000.mcap", "episode_000000.json"} < list_names(empty / "demo")
    assert any(name.endswith(".html") for name in list_names(empty / "demo"))
    assert "report.html" in capsys.readouterr().out


def test_the_demo_goes_without_what_is_not_installed_and_says_so(
    empty, capsys, monkeypatch
):
    monkeypatch.delitem(
        sys.modules, "paprle_lab.evaluation.reporting.plots", raising=False
    )
    for package in ("mujoco", "matplotlib"):
        monkeypatch.setitem(sys.modules, package, None)

    assert main(["demo", *QUICK]) == 0

    out = capsys.readouterr().out
    assert "pip install 'paprle[sim,report]'" in out
    assert "episode_000000.mcap" in list_names(empty / "demo")


@pytest.mark.nightly
def test_settings_of_a_demo_override_its_own(empty):
    assert main(["demo", *QUICK, "env=kinematic", "record.dir=OUT"]) == 0
    assert main(["demo", *QUICK, "env=kinematic", "record.dir=OUT"]) == 0

    assert "episode_000001.mcap" in list_names(empty / "OUT")
