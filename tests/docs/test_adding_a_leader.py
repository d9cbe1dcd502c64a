import os
import subprocess
import sys
from pathlib import Path

from paprle.plugins import find_plugin, list_names, load_config_class, load_factory

ROOT = Path(__file__).resolve().parents[2]


def test_example_is_short(example_leader):
    code = (example_leader / "paprle_wave.py").read_text().splitlines()

    assert len(code) <= 50
    assert len([line for line in code if line.strip()]) < 50


def test_example_is_found_by_its_entry_point(example_leader, monkeypatch):
    monkeypatch.syspath_prepend(str(example_leader))
    monkeypatch.delitem(sys.modules, "paprle_wave", raising=False)

    assert "wave" in list_names("leader")
    spec = find_plugin("leader", "wave")

    assert load_factory(spec).__name__ == "Wave"
    assert load_config_class(spec)().height == 0.03


def test_example_passes_the_tests_of_the_page(example_leader):
    path = os.pathsep.join([str(example_leader), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]

    done = subprocess.run(
        [*command, "-W", "error", "test_wave.py"],
        check=False,
        cwd=example_leader,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
