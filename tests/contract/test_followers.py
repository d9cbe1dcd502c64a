"""One suite for all followers of this workspace."""

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from paprle import followers
from paprle.contracts.plugins import Follower, PluginSpec
from paprle.contracts.validation.fields import read_fields

yaml = pytest.importorskip("yaml")

NAMES = sorted(m.name for m in pkgutil.iter_modules(followers.__path__) if m.ispkg)
ROOT = Path(followers.__path__[0]).resolve().parent


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def spec(name):
    return importlib.import_module(f"paprle.followers.{name}").PLUGIN


def _load(target):
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def test_announces_itself(name, spec):
    assert isinstance(spec, PluginSpec)
    assert spec.summary.endswith(".")
    assert spec.config.startswith(f"paprle.followers.{name}.config:")
    assert spec.factory.startswith(f"paprle.followers.{name}.")


def test_factory_is_a_follower(spec):
    try:
        factory = _load(spec.factory)
    except ModuleNotFoundError as err:
        assert spec.install, "what needs a package says how to install it"
        pytest.skip(str(err))

    assert issubclass(factory, Follower)
    assert not factory.__abstractmethods__


def test_config_is_strict_and_frozen(spec):
    config = _load(spec.config)

    assert config.__pydantic_config__["extra"] == "forbid"
    assert config.__dataclass_params__.frozen


def test_every_number_has_a_unit_and_every_key_a_meaning(spec):
    for field, info in read_fields(_load(spec.config)).items():
        assert info.meaning, field
        if info.hint is float:
            assert info.unit, field


def test_yaml_of_the_env_is_valid(name, spec):
    paths = (ROOT / "configs" / "env").glob("*.yaml")
    envs = {path.stem: yaml.safe_load(path.read_text()) or {} for path in paths}
    own = [v for stem, v in envs.items() if v.pop("type", stem) == name]

    assert own
    for values in own:
        TypeAdapter(_load(spec.config)).validate_json(json.dumps(values))


def test_brings_its_papers(name):
    assert (ROOT / "followers" / name / "README.md").is_file()


def test_announcing_imports_nothing_heavy():
    """``paprle list`` must not load what it lists."""
    code = (
        "import sys, importlib\n"
        f"for name in {NAMES!r}: importlib.import_module('paprle.followers.' + name)\n"
        "heavy = [m for m in sys.modules if m.split('.')[0] == 'mujoco'\n"
        "         or m.startswith('paprle.followers.') and m.count('.') > 2]\n"
        "sys.exit(','.join(heavy) or 0)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
