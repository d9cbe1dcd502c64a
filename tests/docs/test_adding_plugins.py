"""Each page ``adding_….md`` is enough: its example is added outside the repository."""

import os
import subprocess
import sys
from pathlib import Path

import pages
import pytest
from cells import spread

from paprle.config import resolve
from paprle.contracts.kinds import KINDS
from paprle.plugins import find_plugin, list_names, load_config_class, load_factory

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "leader": "adding_a_leader",
    "follower": "adding_a_follower",
    "feedback": "adding_a_law",
    "observer": "adding_an_observer",
    "advisor": "adding_an_advisor",
    "camera": "adding_a_camera",
    "link": "adding_a_link",
}
TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")
WORDS = {
    "leader": ("leader=wave", "leader.height=0.05", *TRIPLE[1:]),
    "follower": (*TRIPLE[:2], "env=ghost", "follower.envs.ghost={}", "env.rate=300"),
    "feedback": (*TRIPLE, "feedback.laws.pull.k=0.2"),
    "observer": (*TRIPLE, "observers.table.path=table.csv"),
    "advisor": (*TRIPLE, "advisors.goal.type=above", "advisors.goal.height=0.05"),
    "camera": (*TRIPLE, "cameras.front.type=ramp"),
    "link": (*TRIPLE, "link.type=plain"),
}
"""What the pages have the user type."""


def test_every_kind_has_its_page():
    assert set(PAGES) == set(WORDS) == set(KINDS)


@pytest.fixture(params=spread(PAGES, "leader"), ids=PAGES)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def example(kind, tmp_path):
    """Return the example of the page, installed in ``tmp_path`` as pip would."""
    pages.install(PAGES[kind.kind], tmp_path)
    return pages.read_page(PAGES[kind.kind])


@pytest.fixture
def on_path(example, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, example.module, raising=False)


def test_the_example_is_short(example):
    lines = [line for line in example.code.splitlines() if line.strip()]

    assert len(lines) < 55


@pytest.mark.usefixtures("on_path")
def test_the_example_is_found_by_its_entry_point(kind, example):
    assert example.group == f"paprle.{kind.folder}"
    assert example.name in list_names(kind.kind)

    spec = find_plugin(kind.kind, example.name)

    assert issubclass(load_factory(spec), kind.contract)
    assert load_config_class(spec).__dataclass_params__.frozen


@pytest.mark.usefixtures("on_path")
def test_commands_of_the_page_resolve(kind):
    from paprle.config import laws  # noqa: PLC0415

    laws.make_feedback_class.cache_clear()
    laws.make_observers_class.cache_clear()
    try:
        resolved = resolve(WORDS[kind.kind])
    finally:
        laws.make_feedback_class.cache_clear()
        laws.make_observers_class.cache_clear()

    assert resolved.to_dict()


def test_the_tests_of_the_page_pass(example, tmp_path):
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]

    done = subprocess.run(
        [*command, "-W", "error", f"test_{example.name}.py"],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
