"""Kernels are compiled side by side, each part with a cache of its own meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from cells import spread

from paprle.compiled import PIPELINES
from paprle.hosts import precompile as warm
from paprle.hosts.precompile import _count_compiled, _take_over
from paprle.ipc.process import WORKSPACE


@pytest.fixture
def caches(tmp_path):
    for name, kernels in {"beside": ("brake", "reach"), "own": ("reach",)}.items():
        folder = tmp_path / name / "gate_12"
        folder.mkdir(parents=True)
        for kernel in kernels:
            (folder / f"{kernel}-1.py311.nbi").write_text(f"index {name}")
            (folder / f"{kernel}-1.py311.1.nbc").write_text(f"data {name}")
            (folder / f"{kernel}-1.py311.2.nbc").write_text(f"data {name}")
    (tmp_path / "beside" / "robot_34").mkdir()
    (tmp_path / "beside" / "robot_34" / "arm-2.py311.nbi").write_text("index beside")
    return tmp_path / "beside", tmp_path / "own"


def test_missing_kernels_are_copied_and_nothing_else(caches):
    beside, own = caches

    _take_over(beside, own)

    texts = {str(p.relative_to(own)): p.read_text() for p in own.rglob("*.nb?")}
    assert texts == {
        "gate_12/brake-1.py311.nbi": "index beside",
        "gate_12/brake-1.py311.1.nbc": "data beside",
        "gate_12/brake-1.py311.2.nbc": "data beside",
        "gate_12/reach-1.py311.nbi": "index own",
        "gate_12/reach-1.py311.1.nbc": "data own",
        "gate_12/reach-1.py311.2.nbc": "data own",
        "robot_34/arm-2.py311.nbi": "index beside",
    }


def test_a_kernel_in_two_caches_counts_once(caches):
    assert _count_compiled(caches) == 3


def test_a_cache_in_a_cache_does_not_count(caches):
    beside, own = caches
    beside.rename(own / "part-x")

    assert _count_compiled([own]) == 1


@pytest.mark.long
@pytest.mark.parametrize("part", spread(warm.PARTS, "gate"))
def test_a_part_compiles_what_there_is(part):
    done = subprocess.run(
        [sys.executable, "-m", "paprle.hosts.precompile", part, str(os.getpid())],
        cwd=WORKSPACE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.nightly
@pytest.mark.process
def test_a_session_runs_as_many_kernels_as_the_bar_counts(tmp_path):
    cache = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    subprocess.run(
        [sys.executable, "-m", "paprle.hosts.precompile"], env=cache, check=True
    )

    assert _count_compiled([tmp_path]) == warm.N_KERNELS
    n_compiled = len(list(tmp_path.rglob("*.nbc")))
    # plainly, a kernel is compiled for numbers that are written out at a call as well
    assert n_compiled == warm.N_KERNELS or not PIPELINES, "one is compiled twice"


def has_group(pid):
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for_kernels(process, cache):
    end = time.monotonic() + 60
    while not list(cache.glob("part-*/*/*.nbc")):
        assert process.poll() is None
        assert time.monotonic() < end, "no part compiles"
        time.sleep(0.05)


@pytest.mark.nightly
@pytest.mark.process
def test_one_process_compiles_and_a_killed_one_leaves_nothing_that_compiles(tmp_path):
    def start():
        return subprocess.Popen(
            [sys.executable, "-m", "paprle.hosts.precompile"],
            cwd=WORKSPACE, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    first = start()
    wait_for_kernels(first, tmp_path)
    second = start()
    try:
        said = second.stdout.readline()
        first.kill()
        first.communicate()
        more = second.stdout.readline()

        assert said == "another process compiles; waiting for it …\n"
        assert more.startswith("compiling, once")
        end = time.monotonic() + 10
        while has_group(first.pid):
            assert time.monotonic() < end, "its children compile on"
            time.sleep(0.05)
    finally:
        os.killpg(second.pid, signal.SIGKILL)
        second.communicate()


@pytest.mark.nightly
@pytest.mark.process
def test_ctrl_c_ends_it_and_keeps_what_is_compiled(tmp_path):
    process = subprocess.Popen(
        # a shell's background jobs ignore SIGINT, and so would this
        [
            "env",
            "--default-signal=INT",
            sys.executable,
            "-m",
            "paprle.hosts.precompile",
        ],
        cwd=WORKSPACE,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_for_kernels(process, tmp_path)

    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=20)

    assert process.returncode == 128 + signal.SIGINT, said
    assert "Traceback" not in said
    assert "the next run goes on from it" in said
    assert _count_compiled([tmp_path]) > 0
    assert not (tmp_path / "complete").exists()
    assert not list(tmp_path.glob("part-*"))
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
