"""Data sets of long recordings, and runs that are killed."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from filmed import write_episode

from paprle_lab.dataset.create import create

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]

ROOT = Path(__file__).resolve().parents[3]
MOST_MB = 500  # asked for: of any length
KILLS = 30
# VmHWM: ru_maxrss counts what the process that forked this one had, too
RUN = """
import re, sys
from pathlib import Path
from paprle_lab.dataset.create import create
report = create([Path(sys.argv[1])], Path(sys.argv[2]), sys.argv[3])
status = Path("/proc/self/status").read_text().expandtabs()
peak = int(re.search("VmHWM: *(.*) kB", status)[1]) / 1024
print(report.n_episodes, report.n_frames, peak)
"""


def start(*words):
    command = [sys.executable, "-c", RUN, *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Longer than what LeRobot reads as one episode."""
    folder = tmp_path_factory.mktemp("long")
    write_episode(folder, 2000.0, fps=5.0, scale=0.001)
    return folder


@pytest.mark.parametrize("form", ["lerobot", "hdf5"])
def test_memory_does_not_grow_with_a_recording(long, tmp_path, form):
    run = start(long, tmp_path / "set", form)
    out, _ = run.communicate()

    n_episodes, n_frames, peak = map(float, out.split())
    assert n_frames > 9900
    assert n_episodes == (2 if form == "lerobot" else 1)
    assert peak < MOST_MB


def test_thirty_kills_change_nothing(tmp_path):
    for k in range(4):
        write_episode(tmp_path / "recorded", 3.0, task=f"task {k}", scale=0.2 * k + 0.2)
    begin = time.monotonic()
    create([tmp_path / "recorded"], tmp_path / "whole", "lerobot")
    rng = random.Random(0)
    longest = 4.0 * (time.monotonic() - begin) + 2.0

    for _ in range(KILLS):
        run = start(tmp_path / "recorded", tmp_path / "killed", "lerobot")
        try:
            run.wait(rng.uniform(0.3, longest))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
        run.stdout.close()
    create([tmp_path / "recorded"], tmp_path / "killed", "lerobot")

    rows = "data/chunk-000/file-000.parquet"
    whole, killed = (tmp_path / name for name in ("whole", "killed"))
    assert pq.read_table(whole / rows).equals(pq.read_table(killed / rows))
    for name in ("meta/info.json", "meta/stats.json"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes()
