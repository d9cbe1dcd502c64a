"""WebRTC video of a robot's cameras beside poses, over a network of 5 Mbit/s."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from two_hosts import TwoHosts, need_namespaces

from paprle.ipc.process import WORKSPACE

pytest.importorskip("aiortc")
pytest.importorskip("cv2")

SUPPORT = Path(__file__).parents[2] / "support/pages"
TRACE = "acceptance"  # 100 ± 30 ms, 3 % loss, reordering, 5 Mbit/s
SECONDS = 12.0  # of poses alone, and beside video
MORE = 10.0  # [ms] what pictures may delay poses by

pytestmark = [pytest.mark.process, pytest.mark.nightly, pytest.mark.timeout(150)]


@pytest.fixture
def hosts():
    need_namespaces()
    hosts = TwoHosts()
    hosts.tell(trace=TRACE)
    yield hosts
    hosts.close()


def begin(hosts, host, script, *words):
    """Run a script of tests/support on a host."""
    paths = os.pathsep.join([str(WORKSPACE), str(SUPPORT)])
    return subprocess.Popen(
        [*hosts.on(host), sys.executable, str(SUPPORT / script), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=WORKSPACE,
        env={**os.environ, "PYTHONPATH": paths},
    )


def test_poses_are_no_later_for_the_video_beside_them(hosts, tmp_path):
    operator, robot = hosts.addresses
    served = begin(hosts, 1, "video_host.py", robot, operator, str(tmp_path))
    try:
        address = served.stdout.readline().strip()
        assert "#" in address
        eye = begin(hosts, 0, "video_eye.py", address, str(SECONDS))
        told = json.loads(eye.communicate(timeout=100)[0])
    finally:
        served.communicate(timeout=20)

    (n_alone, _, p99_alone), (n_beside, _, p99_beside) = told["alone"], told["beside"]
    assert min(n_alone, n_beside) > 0.8 * SECONDS / 0.01, told
    assert told["frames"] > SECONDS, "one a second at least"
    assert p99_beside <= p99_alone + MORE, told
