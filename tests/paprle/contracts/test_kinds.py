"""The table of plug-in kinds says what the project is made of."""

import importlib
import inspect
from pathlib import Path

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
PACKAGES = {"paprle", "paprle_lab"}
PLUGINS = {f"paprle.{folder}" for folder in PLUGIN_FOLDERS}
SUITES = {
    name.removesuffix("Contract") for name in dir(paprle.testing) if "Contract" in name
}


def test_the_wheel_mypy_and_the_import_contracts_name_every_package():
    wheel = TOOLS["hatch"]["build"]["targets"]["wheel"]["packages"]

    assert set(wheel) == PACKAGES
    assert set(TOOLS["mypy"]["packages"]) == {*PACKAGES, "paprle_emulators"}
    assert set(TOOLS["importlinter"]["root_packages"]) == {
        *PACKAGES,
        "paprle_emulators",
    }


def list_core():
    """Return the sub-packages and modules of the core."""
    found = (WORKSPACE / "paprle").iterdir()
    names = {path.stem for path in found if path.suffix == ".py" or path.is_dir()}
    apart = {"__init__", "__main__", "__pycache__", "hardware", "data", *PLUGIN_FOLDERS}
    return {f"paprle.{name}" for name in names - apart}


def test_the_core_and_the_drivers_import_no_plug_in():
    core = CONTRACTS["the core imports no plug-in, no driver, no vendor's package"]
    drivers = CONTRACTS["drivers import neither the core nor plug-ins"]

    assert set(core["source_modules"]) == {*list_core(), "paprle_lab"}
    assert set(core["forbidden_modules"]) >= PLUGINS
    assert set(drivers["forbidden_modules"]) == {
        *list_core(), *PLUGINS, "paprle_lab", "paprle_emulators",
    }  # fmt: skip


def test_plug_ins_of_every_kind_import_the_contracts_and_never_each_other():
    apart = CONTRACTS["plug-ins never import each other"]
    allowed = CONTRACTS["plug-ins import the contracts, and what is listed here"]

    assert set(apart["modules"]) == {f"{package}.*" for package in PLUGINS}
    assert set(allowed["source_modules"]) == PLUGINS
    assert set(allowed["forbidden_modules"]) == {
        *(list_core() - {"paprle.contracts"}), "paprle_lab", "paprle_emulators",
    }  # fmt: skip


@pytest.mark.parametrize("folder", ["hardware", *PLUGIN_FOLDERS])
def test_a_folder_of_the_repository_is_one_package_below_paprle(folder):
    module = importlib.import_module(f"paprle.{folder}")

    assert Path(module.__file__).parent.resolve() == WORKSPACE / folder


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
def test_optional_hooks_of_a_device_are_declared(kind):
    public = {
        name
        for name, _ in inspect.getmembers(kind.contract)
        if name in {"notes", "take_warnings", "closing_notes", "diagnose", "calibrate"}
    }

    assert len(public) == (0 if kind.kind == "feedback" else 5)
