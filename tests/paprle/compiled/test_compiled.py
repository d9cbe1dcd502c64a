"""The cache of compiled kernels: what is in it is of these very sources."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paprle import compiled
from paprle.compiled import _find_cache
from paprle.ipc.process import WORKSPACE

KERNEL = "from paprle.compiled import compiled\n"


@pytest.fixture
def package(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "plain.py").write_text("import math\n")
    return tmp_path


def test_the_same_sources_find_the_same_cache(package):
    assert _find_cache(package) == _find_cache(package)


def test_a_kernel_that_changed_makes_another_cache(package):
    before = _find_cache(package)
    (package / "kernels.py").write_text(KERNEL + "# another\n")

    assert _find_cache(package) != before


def test_a_kernel_that_was_checked_out_again_is_the_same(package):
    before = _find_cache(package)
    os.utime(package / "kernels.py", ns=(0, 0))

    assert _find_cache(package) == before


def test_a_file_without_kernels_may_change(package):
    before = _find_cache(package)
    (package / "plain.py").write_text("import cmath\n")

    assert _find_cache(package) == before


def test_each_way_to_compile_has_a_cache_of_its_own(package, monkeypatch):
    caches = set()
    for pipelines in (None, (object, object)):
        monkeypatch.setattr(compiled, "PIPELINES", pipelines)
        caches.add(_find_cache(package))

    assert len(caches) == 2


ALGEBRA = """
import sys
from paprle import compiled
compiled.prepare()
assert "numba.np.arraymath" in sys.modules
assert "scipy.linalg" not in sys.modules
import numba, numpy
product = numba.njit(lambda a, b: numpy.dot(a, b))
assert (product(numpy.eye(2), numpy.ones((2, 2))) == 1.0).all()
"""


def test_scipy_is_imported_by_programs_that_need_it_alone():
    pytest.importorskip("scipy")
    subprocess.run([sys.executable, "-c", ALGEBRA], check=True, cwd=WORKSPACE)
