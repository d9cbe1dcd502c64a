"""On Ray, and with results in an object store: where their packages are installed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from batches import read_rows, run, run_here, write_plan
from product import write_motion
from two_hosts import need_namespaces

from paprle.cli import main
from paprle.ipc.process import WORKSPACE
from paprle_lab.batch.result_store import ResultStore
from paprle_lab.batch.table import read_table

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(300)]

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
needs_store = pytest.mark.skipif(
    find_spec("moto") is None or find_spec("s3fs") is None,
    reason="moto[server] and s3fs are not installed",
)


@pytest.fixture
def plan(tmp_path):
    return write_plan(tmp_path / "plan.yaml", networks=["none", "4g"], seeds=2)


@pytest.mark.nightly
@needs_ray
def test_the_table_of_ray_is_the_local_one(plan, tmp_path):
    run_here(plan, tmp_path / "here")

    done = run(plan, tmp_path / "ray", "--on", "ray")

    assert done.returncode == 0, done.stdout + done.stderr
    tables = [(tmp_path / k / "table.parquet").read_bytes() for k in ("here", "ray")]
    assert tables[0] == tables[1]


@pytest.mark.nightly
@pytest.mark.timeout(900)
@needs_ray
def test_a_cluster_that_loses_a_node_gives_the_same_table():
    """Two hosts are network namespaces; all of one are killed in the middle."""
    need_namespaces()

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.batch_cluster", "--cells", "40"],
        capture_output=True,
        text=True,
        cwd=WORKSPACE,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["same_bytes"]
    assert told["done"] == told["rows"] == 40
    assert told["cells_when_killed"] < 40


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_the_command_that_installs_it_is_told(plan, tmp_path, capsys):
    code = main(["batch", str(plan), "--out", str(tmp_path / "out"), "--on", "ray"])

    assert code == 2
    assert "pip install 'paprle[ray]'" in capsys.readouterr().err


@pytest.fixture
def store(monkeypatch, tmp_path):
    """An object store of this host, and the address of an empty folder in it."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "nobody")  # an emulator asks for any two words
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    make = "import s3fs; s3fs.S3FileSystem().makedirs('bucket', exist_ok=True)"
    subprocess.run([sys.executable, "-c", make], check=True)
    import_module("s3fs").S3FileSystem.clear_instance_cache()  # of an earlier store
    yield f"s3://bucket/{tmp_path.name}"
    server.stop()


@pytest.mark.nightly
@needs_store
def test_results_in_an_object_store_are_those_of_a_folder(plan, store, tmp_path):
    run_here(plan, tmp_path / "here")

    done = run(plan, store, "--on", "local:2")
    again = run(plan, store, "--on", "local:1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 cells: 4 done" in done.stdout
    assert "4 cells: 0 done, 4 were before" in again.stdout
    table = ResultStore(store).read("table.parquet")
    assert table == (tmp_path / "here" / "table.parquet").read_bytes()
    assert len(read_rows(tmp_path / "here")) == 4


@pytest.mark.nightly
@needs_store
def test_motions_in_an_object_store_are_fetched(store, tmp_path):
    motion = write_motion(tmp_path / "m.csv", np.array([0.3, 0, 0.3]), [0, 0, 0, 1], 3)
    ResultStore("s3://bucket").put(motion, "motions/m.csv")
    how = {"settings": ["session.rate=100", "retarget.mode=relative"]}
    here = write_plan(tmp_path / "here.yaml", leaders=["m.csv"], **how)
    there = write_plan(
        tmp_path / "there.yaml", leaders=["s3://bucket/motions/*.csv"], **how
    )
    run_here(here, tmp_path / "here")

    done = run(there, store, "--on", "local:1")

    assert done.returncode == 0, done.stdout + done.stderr
    (own,) = read_rows(tmp_path / "here")
    (other,) = read_table(ResultStore(store))
    assert other["leader"] == "s3://bucket/motions/m.csv"
    assert other["commands"] == own["commands"]
