"""A test that takes its process with it costs itself alone; nothing waits for ever."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.process]

SUPPORT = Path(__file__).parents[1] / "support/runs"
CONFTEST = """
import sys
sys.path.insert(0, {support!r})
from crash_scheduler import make_scheduler

def pytest_xdist_make_scheduler(config, log):
    return make_scheduler(config, log)
"""
GOOD = "import pytest\n@pytest.mark.parametrize('k', range({n}))\ndef test(k): pass\n"
BAD = """import os
def test_before(): pass
def test_crash(): os._exit(1)
def test_after(): pass
"""


def test_all_other_tests_run_after_a_crash(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST.format(support=str(SUPPORT)))
    for k in range(12):
        (tmp_path / f"test_good{k:02d}.py").write_text(GOOD.format(n=1 + k % 3))
    (tmp_path / "test_good05_bad.py").write_text(BAD)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider",
         "-c", "/dev/null", "--rootdir", str(tmp_path), "-n", "2", "--dist", "loadfile",
         "--no-loadscope-reorder", "--max-worker-restart=2", str(tmp_path)],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
    )  # fmt: skip

    told = done.stdout
    assert "FAILED test_good05_bad.py::test_crash" in told
    assert "1 failed, 26 passed" in told, "each once"
    assert done.returncode == 1
