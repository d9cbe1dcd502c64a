"""The cache of compiled kernels: what is in it is of these very sources."""

from __future__ import annotations

import os

import pytest

from paprle.compiled import _find_cache

KERNEL = "from paprle.compiled import compiled\n"


@pytest.fixture
def package(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "plain.py").write_text("import math\n")
    return tmp_path


def test_the_same_sources_find_the_same_cache(package):
    assert _find_cache(package) == _find_cache(package)


@pytest.mark.parametrize("change", ["content", "time"])
def test_a_kernel_that_changed_makes_another_cache(package, change):
    before, path = _find_cache(package), package / "kernels.py"
    if change == "content":
        when = path.stat().st_mtime_ns
        path.write_text(KERNEL + "# another\n")
        os.utime(path, ns=(when, when))
    else:  # Numba would compile it again; nobody may take it for compiled
        os.utime(path, ns=(0, 0))

    assert _find_cache(package) != before


def test_a_file_without_kernels_may_change(package):
    before = _find_cache(package)
    (package / "plain.py").write_text("import cmath\n")

    assert _find_cache(package) == before
