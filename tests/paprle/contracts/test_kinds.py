"""The table of plug-in kinds says what the project is made of."""

import inspect

import pytest

import paprle.testing
from paprle.config.layers import SECTIONS
from paprle.contracts.kinds import KINDS, PLUGIN_FOLDERS
from paprle.ipc.process import WORKSPACE
from paprle.plugins import list_names, list_plugins

tomllib = pytest.importorskip("tomllib")  # of Python 3.11

PROJECT = tomllib.loads((WORKSPACE / "pyproject.toml").read_text())
TOOLS = PROJECT["tool"]
CONTRACTS = {c["name"]: c for c in TOOLS["importlinter"]["contracts"]}
PACKAGES = {"paprle", "hardware", *PLUGIN_FOLDERS}
SUITES = {
    name.removesuffix("Contract") for name in dir(paprle.testing) if "Contract" in name
}


def test_the_wheel_mypy_and_the_import_contracts_know_every_package():
    wheel = TOOLS["hatch"]["build"]["targets"]["wheel"]["packages"]

    assert set(wheel) == PACKAGES
    assert set(TOOLS["mypy"]["packages"]) == PACKAGES
    assert set(TOOLS["importlinter"]["root_packages"]) == PACKAGES


def test_the_core_and_the_drivers_know_no_plug_in():
    core = CONTRACTS["the core knows no plug-in, no driver, no vendor's package"]
    drivers = CONTRACTS["drivers know nobody"]

    assert set(PLUGIN_FOLDERS) <= set(core["forbidden_modules"])
    assert {"paprle", *PLUGIN_FOLDERS} == set(drivers["forbidden_modules"])


def test_plug_ins_of_every_kind_know_the_contracts_alone_and_never_each_other():
    apart = CONTRACTS["plug-ins never know each other"]
    allowed = CONTRACTS["plug-ins import the contracts, and what is listed here"]
    arrows = {f"{folder}.** -> paprle.contracts.*" for folder in PLUGIN_FOLDERS}

    assert set(apart["modules"]) == {f"{folder}.*" for folder in PLUGIN_FOLDERS}
    assert set(allowed["source_modules"]) == set(PLUGIN_FOLDERS)
    assert arrows <= set(allowed["ignore_imports"])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_kind_has_a_package_a_section_a_suite_and_a_page(kind):
    page = {"feedback": "law"}.get(kind.kind, kind.kind)
    article = "an" if page[0] in "ao" else "a"

    assert (WORKSPACE / kind.folder / "__init__.py").is_file()
    assert kind.section.split(".")[0] in SECTIONS
    assert kind.contract.__name__ in SUITES
    assert (WORKSPACE / "docs" / f"adding_{article}_{page}.md").is_file()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_plug_in_there_is_announces_itself(kind):
    assert set(list_plugins(kind.kind)) == set(list_names(kind.kind))
    assert list_names(kind.kind), "a kind that nothing is of"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_what_may_be_asked_of_a_device_is_declared(kind):
    public = {
        name
        for name, _ in inspect.getmembers(kind.contract)
        if name in {"notes", "take_warnings", "last_words", "diagnose", "calibrate"}
    }

    assert len(public) == (0 if kind.kind == "feedback" else 5)
