"""Row 36: few files, little memory, no right to real time are told, not suffered."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys

import pytest

from paprle.ipc.process import WORKSPACE

pytestmark = pytest.mark.process
SESSION = (
    *(sys.executable, str(WORKSPACE / "run.py"), "leader=autopilot", "follower=piper"),
    *("env=kinematic", "leader.size=0.05", "leader.speed=0.2", "session.episodes=1"),
)


def run(*before: str, limits: tuple[tuple[int, int, int], ...] = ()):
    def limit() -> None:
        for kind, soft, hard in limits:
            resource.setrlimit(kind, (soft, hard))

    return subprocess.run(
        [*before, *SESSION],
        capture_output=True,
        text=True,
        timeout=100,
        preexec_fn=limit,
        check=False,
    )


def test_too_few_files_are_refused_before_anything_starts():
    done = run(limits=((resource.RLIMIT_NOFILE, 32, 32),))

    assert done.returncode == 2, done.stdout + done.stderr
    assert "expected at least 64 open files to be allowed, got 32" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_too_little_memory_is_told():
    limit = 600 << 20
    done = run(limits=((resource.RLIMIT_AS, limit, limit),))

    assert done.returncode == 2, done.stdout + done.stderr
    assert "got 600; raise the limit: ulimit -v unlimited" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_a_soft_limit_is_raised_and_without_real_time_it_runs_and_says_so():
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not here")
    done = run(
        *("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"),
        limits=((resource.RLIMIT_NOFILE, 32, 4096),),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "real-time scheduling was refused" in done.stdout + done.stderr


@pytest.mark.nightly
def test_files_that_may_not_be_as_large_as_a_ring_are_told():
    done = run("env", limits=((resource.RLIMIT_FSIZE, 1 << 20, 1 << 20),))

    assert done.returncode == 2, done.stdout + done.stderr
    assert "ulimit -f unlimited" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
