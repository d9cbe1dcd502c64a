from __future__ import annotations

import re
import sys
from importlib import import_module

import pytest

from paprle.contracts.errors import MissingDependency, PluginBroken, PluginNotFound
from paprle.contracts.kinds import PLUGIN_FOLDERS
from paprle.contracts.plugins import PluginSpec
from paprle.plugins import (
    find_fault,
    find_plugin,
    list_names,
    list_plugins,
    load_config_class,
    load_factory,
    scan_plugins,
)

GOOD = """
from paprle.contracts.plugins import PluginSpec
PLUGIN = PluginSpec(summary="A good one.", config="{module}:Config",
                    factory="{module}_device:Device", install="pip install sdk")
class Config: pass
"""


@pytest.fixture
def outsider(tmp_path, monkeypatch):
    """Return a function that installs a package with one entry point."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def install(name, source, group="paprle.leaders", device="class Device: pass"):
        module = f"outsider_{len(made)}_{tmp_path.name.replace('-', '_')}"
        made.append(module)
        (tmp_path / f"{module}.py").write_text(source.format(module=module))
        (tmp_path / f"{module}_device.py").write_text(device)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:PLUGIN\n")

    yield install
    for name in [m for m in sys.modules if m.startswith("outsider_")]:
        del sys.modules[name]


def test_unknown_name_gets_a_suggestion_and_the_list():
    with pytest.raises(PluginNotFound, match=r"did you mean 'autopilot'\?.*autopilot"):
        find_plugin("leader", "autopilo")


@pytest.mark.parametrize(
    "name", ["os.system", "../leaders", "", "a b", "Autopilot", "os:system", "é"]
)
def test_an_invalid_name_is_unknown_and_never_imported(name):
    with pytest.raises(PluginNotFound):
        find_plugin("leader", name)


def test_entry_point_is_found_listed_and_loaded_on_demand(outsider):
    outsider("stranger", GOOD)

    spec = find_plugin("leader", "stranger")

    assert spec.summary == "A good one."
    assert "stranger" in list_names("leader")
    assert list_plugins("leader")["stranger"] == spec
    assert not any(m.endswith("_device") for m in sys.modules if "outsider_" in m)
    assert load_config_class(spec).__name__ == "Config"
    assert load_factory(spec).__name__ == "Device"
    assert find_fault(spec) is None


def test_listing_names_imports_nothing(outsider):
    outsider("stranger", "raise RuntimeError('imported')")

    assert "stranger" in list_names("leader")


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (
            "import no_such_sdk",
            r"expected the package 'no_such_sdk', got none; "
            r"install it with: pip install sdk",
        ),
        ("import no_such_sdk.bus.can", "the package 'no_such_sdk'"),
        (
            "raise ImportError('libgone.so.1: cannot open shared object file')",
            "the system library 'libgone.so.1'",
        ),
    ],
)
def test_missing_sdk_says_what_to_install(outsider, device, message):
    outsider("stranger", GOOD, device=device)
    spec = find_plugin("leader", "stranger")

    with pytest.raises(MissingDependency, match=message):
        load_factory(spec)
    assert isinstance(find_fault(spec), MissingDependency)


@pytest.mark.parametrize(
    ("device", "error"),
    [
        ("from paprle.contracts.types import NoSuch", ImportError),
        ("import paprle.no_such", ModuleNotFoundError),
        ("import json.no_such", ModuleNotFoundError),
        ("from json import no_such", ImportError),
        ("undefined_name", NameError),
        ("def broken(:", SyntaxError),
    ],
)
def test_bug_in_a_plugin_is_not_disguised_as_a_missing_package(outsider, device, error):
    outsider("stranger", GOOD, device=device)
    spec = find_plugin("leader", "stranger")

    with pytest.raises(error) as caught:
        load_factory(spec)

    assert not isinstance(caught.value, MissingDependency)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 / 0", "division by zero"),
        ("PLUGIN = 'text'", "expected a PluginSpec"),
        ("", "expected a PluginSpec"),
        ("import no_such_sdk", "no_such_sdk"),
    ],
)
def test_broken_stranger_is_listed_as_broken_and_breaks_nothing(
    outsider, source, reason
):
    outsider("stranger", source)
    outsider("friend", GOOD)

    found = scan_plugins("leader")

    assert re.search(reason, str(found["stranger"]))
    assert isinstance(found["friend"], PluginSpec)
    assert "stranger" not in list_plugins("leader")


def test_spec_that_names_no_class_is_broken(outsider):
    outsider("stranger", GOOD, device="Device = 3")

    with pytest.raises(PluginBroken, match="expected a class 'Device', got 3"):
        load_factory(find_plugin("leader", "stranger"))


def test_own_plugin_wins_over_an_entry_point_of_the_same_name(outsider):
    outsider("autopilot", GOOD)

    assert find_plugin("leader", "autopilot").summary != "A good one."


@pytest.mark.parametrize("folder", ["hardware", *PLUGIN_FOLDERS])
def test_a_folder_of_the_clone_is_no_package_of_its_own(folder):
    """An editable install has the clone on its path; modules would exist twice."""
    assert import_module(f"paprle.{folder}").__name__ == f"paprle.{folder}"

    with pytest.raises(ImportError, match=f"; import paprle.{folder}$"):
        import_module(folder)
