"""One suite for all leaders of this workspace."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from paprle import leaders
from paprle.contracts.plugins import Leader, PluginSpec
from paprle.contracts.validation.fields import read_fields

NAMES = sorted(m.name for m in pkgutil.iter_modules(leaders.__path__) if m.ispkg)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def spec(name):
    return importlib.import_module(f"paprle.leaders.{name}").PLUGIN


def _load(target):
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def test_announces_itself(name, spec):
    assert isinstance(spec, PluginSpec)
    assert spec.summary.endswith(".")
    assert issubclass(_load(spec.factory), Leader)
    assert spec.config.startswith(f"paprle.leaders.{name}.config:")


def test_config_is_strict_and_frozen(spec):
    config = _load(spec.config)

    assert config.__pydantic_config__["extra"] == "forbid"
    assert config.__dataclass_params__.frozen


def test_every_number_has_a_unit_or_is_a_count_and_a_meaning(spec):
    for field, info in read_fields(_load(spec.config)).items():
        assert info.meaning, field
        if info.hint is float:
            assert info.unit, field


def test_brings_its_papers(name):
    root = Path(leaders.__path__[0]).resolve()

    assert (root / name / "README.md").is_file()
    configs = (root.parent / "configs" / "leader").glob("*.yaml")
    types = [yaml.safe_load(p.read_text()).get("type", p.stem) for p in configs]
    assert name in types, "its own file, or those of its rigs"


def test_announcing_imports_nothing_heavy():
    """``paprle list`` must not load what it lists."""
    code = (
        "import sys, importlib\n"
        f"for name in {NAMES!r}: importlib.import_module('paprle.leaders.' + name)\n"
        "heavy = [m for m in sys.modules if m.endswith(('.leader', '.config'))\n"
        "         and m.startswith('paprle.leaders.')]\n"
        "sys.exit(','.join(heavy) or 0)"
    )
    root = Path(leaders.__path__[0]).resolve().parent

    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=root,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
