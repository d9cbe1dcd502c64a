"""Batches as a user runs them: killed, resumed, and the same to the last bit."""

from __future__ import annotations

import os
import time

import fsspec
import numpy as np
import pytest
import yaml
from batches import (
    SHORT,
    Here,
    RunningBatch,
    list_parts,
    read_rows,
    run,
    run_here,
    write_plan,
)
from product import write_motion

from paprle.contracts.errors import ConfigError, RecordingError
from paprle_lab.batch.engine import Ended

pytestmark = [pytest.mark.process, pytest.mark.long]

NETWORKS = ["none", "4g"]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A plan of eight cells, and the table of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("small")
    plan = write_plan(folder / "plan.yaml", networks=NETWORKS, seeds=4)
    done = run(plan, folder / "out", "--on", "local:1")
    assert done.returncode == 0, done.stderr
    return plan, folder / "out"


def test_a_batch_gives_one_row_a_cell_with_figures(small):
    rows = read_rows(small[1])

    assert [row["index"] for row in rows] == list(range(8))
    assert {row["status"] for row in rows} == {"done"}
    assert {row["exit_code"] for row in rows} == {0}
    assert all(row["violations"] == 0 for row in rows)
    assert all(row["raw_rmse_mm"] > 0 for row in rows)
    # without a network nothing is drawn; over one, each seed is another motion
    commands = {(row["network"], row["seed"]): row["commands"] for row in rows}
    assert len({commands["none", seed] for seed in range(4)}) == 1
    assert len({commands["4g", seed] for seed in range(4)}) == 4


@pytest.mark.nightly
def test_killed_workers_and_a_killed_driver_change_no_bit(small, tmp_path):
    """The kills come while cells are at work; the same command goes on."""
    plan, undisturbed = small
    out = tmp_path / "out"
    batch = RunningBatch(plan, out, "--on", "local:1")
    batch.wait_for(2)
    batch.kill_worker()
    batch.wait_for(3)
    orphans = batch.find_workers()
    batch.kill()
    assert not (out / "table.parquet").exists()

    done = run(plan, out, "--on", "local:1")

    assert done.returncode == 0, done.stderr
    assert "were before" in done.stdout
    assert len(list_parts(out)) == 8
    table = (out / "table.parquet").read_bytes()
    assert table == (undisturbed / "table.parquet").read_bytes()
    end = time.monotonic() + 20
    while any(map(is_running, orphans)):  # nobody told them: their input ended
        assert time.monotonic() < end
        time.sleep(0.05)


def test_cells_that_cannot_be_done_are_rows_and_are_tried_again(tmp_path):
    """A robot that is not there, beside one that is."""
    ghost = {"ghost": ["follower=piper", "follower.urdf=nowhere.urdf"]}
    plan = write_plan(tmp_path / "plan.yaml", robots=["piper", ghost])
    out = tmp_path / "out"

    first, again = run_here(plan, out), run_here(plan, out)

    assert (first.n_done, first.n_failed, first.n_retries) == (1, 1, 0)
    assert (again.n_before, again.n_done, again.n_failed) == (1, 0, 1)
    good, bad = read_rows(out)
    assert (good["status"], bad["status"]) == ("done", "refused")
    assert "nowhere.urdf" in bad["error"]
    assert bad["raw_rmse_mm"] is None


class Unlucky(Here):
    """Loses each cell once, and the second cell always."""

    def wait(self):
        (job,) = self.jobs
        if job["tries"] == 0 or job["cell"]["index"] == 1:
            self.jobs.clear()
            return [Ended(job, None, "its node is gone")]
        return super().wait()


def test_lost_cells_are_done_by_others_and_one_that_kills_is_told(tmp_path):
    plan = write_plan(tmp_path / "plan.yaml", robots=["piper", "ur5e"])
    out = tmp_path / "out"

    account = run_here(plan, out, Unlucky())

    assert (account.n_done, account.n_failed, account.n_retries) == (1, 1, 3)
    assert [row["status"] for row in read_rows(out)] == ["done", "lost"]
    assert read_rows(out)[1]["error"] == "its node is gone"
    assert run_here(plan, out).n_done == 1  # and the next run does it
    assert [row["status"] for row in read_rows(out)] == ["done", "done"]


@pytest.mark.nightly
def test_results_of_another_plan_are_not_mixed(small, tmp_path):
    other = write_plan(tmp_path / "plan.yaml", networks=NETWORKS, seeds=3)

    with pytest.raises(ConfigError, match="expected results of this plan"):
        run_here(other, small[1])


def test_a_damaged_part_is_no_row(tmp_path):
    plan = write_plan(tmp_path / "plan.yaml")
    run_here(plan, tmp_path / "out")
    (part,) = list_parts(tmp_path / "out")
    part.write_bytes(part.read_bytes()[:40])

    with pytest.raises(RecordingError, match="remove it and run the batch again"):
        run_here(plan, tmp_path / "out")


def test_a_part_of_no_cell_is_passed_over(tmp_path):
    plan = write_plan(tmp_path / "plan.yaml")
    run_here(plan, tmp_path / "out")
    (part,) = list_parts(tmp_path / "out")
    part.with_name("0009999.json").write_bytes(part.read_bytes())

    run_here(plan, tmp_path / "out")

    assert [row["index"] for row in read_rows(tmp_path / "out")] == [0]


def test_a_host_that_does_not_see_the_results_does_nothing(tmp_path):
    plan = write_plan(tmp_path / "plan.yaml")
    out = tmp_path / "out"

    class Elsewhere(Here):
        def submit(self, job):
            super().submit({**job, "address": str(tmp_path / "nowhere")})

    account = run_here(plan, out, Elsewhere())

    assert account.n_failed == 1
    assert "a host that does not see it" in read_rows(out)[0]["error"]


def test_a_host_with_other_versions_or_files_does_nothing(tmp_path):
    motion = write_motion(tmp_path / "m.csv", np.array([0.3, 0, 0.3]), [0, 0, 0, 1], 3)
    plan = write_plan(tmp_path / "plan.yaml", leaders=[motion.name])

    class Other(Here):
        def submit(self, job):
            versions = {**job["versions"], "numpy": "0.1"}
            super().submit({**job, "versions": versions})

    run_here(plan, tmp_path / "one", Other())
    assert "numpy 0.1 and" in read_rows(tmp_path / "one")[0]["error"]

    class Changed(Here):
        def submit(self, job):
            files = dict.fromkeys(job["cell"]["files"], "0")
            super().submit({**job, "cell": {**job["cell"], "files": files}})

    run_here(plan, tmp_path / "two", Changed())
    assert (
        "expected the file of the plan, got another"
        in (read_rows(tmp_path / "two")[0]["error"])
    )


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_a_cell_that_never_ends_is_ended_and_the_others_are_done(tmp_path):
    (tmp_path / "hangs.py").write_text(
        "def act(seen):\n    while True:\n        pass\n"
    )
    endless = ["leader=policy", "leader.function=hangs:act"]
    plan = write_plan(
        tmp_path / "plan.yaml",
        leaders=[{"endless": endless}, {"short": SHORT}],
        retries=0,
        time_limit=15,
    )

    done = run(
        plan,
        tmp_path / "out",
        "--on",
        "local:1",
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(tmp_path)},
    )

    endless, short = read_rows(tmp_path / "out")
    assert done.returncode == 1
    assert (endless["status"], short["status"]) == ("lost", "done")
    assert "of 15 s that it may take" in endless["error"]
    assert not list(tmp_path.glob("paprle-*")), "nothing of it is left"


def test_a_leader_that_waits_for_a_person_is_refused(tmp_path):
    plan = write_plan(tmp_path / "plan.yaml", leaders=["web"])

    run_here(plan, tmp_path / "out")

    assert "expected one that goes by itself" in read_rows(tmp_path / "out")[0]["error"]


@pytest.mark.nightly
def test_recordings_are_kept_evaluated_and_made_a_data_set(tmp_path):
    first = write_plan(tmp_path / "first.yaml", keep="recordings")
    assert run_here(first, tmp_path / "first").n_done == 1
    kept = tmp_path / "first" / "recordings"
    write_plan(tmp_path / "again.yaml", leaders=["first/recordings/*/*.mcap"])
    (tmp_path / "measure.yaml").write_text(f"work: evaluate\nepisodes: [{kept}]\n")
    (tmp_path / "make.yaml").write_text(
        f"work: dataset\nepisodes: [{kept}]\nformats: [hdf5]\n"
    )

    for name in ("again", "measure", "make"):
        assert run_here(tmp_path / f"{name}.yaml", tmp_path / name).n_done == 1

    names = ("first", "again", "measure", "make")
    driven, replayed, measured, made = [read_rows(tmp_path / k)[0] for k in names]
    assert measured["commands"] == driven["commands"]
    assert measured["raw_rmse_mm"] == driven["raw_rmse_mm"]
    assert replayed["leader"] == "first/recordings/0000000/episode_000000.mcap"
    assert replayed["reached_percent"] == 100.0
    assert made["n_episodes"] == 1
    assert list((tmp_path / "make" / "datasets").rglob("*.hdf5"))


def put_in_memory(folder, address):
    store, root = fsspec.core.url_to_fs(address)
    for file in folder.rglob("*"):
        if file.is_file():
            store.pipe_file(f"{root}/{file.relative_to(folder)}", file.read_bytes())


@pytest.mark.nightly
def test_motions_and_recordings_may_lie_at_an_address(tmp_path):
    """What is fetched gives the bits of what is here, and another file is refused."""
    motions = tmp_path / "motions"
    motions.mkdir()
    write_motion(motions / "m.csv", np.array([0.3, 0, 0.3]), [0, 0, 0, 1], 3)
    put_in_memory(motions, "memory://in/motions")
    how = {"settings": ["session.rate=100", "retarget.mode=relative"]}
    here = write_plan(
        tmp_path / "a.yaml", leaders=["motions/*.csv"], keep="recordings", **how
    )
    there = write_plan(
        tmp_path / "b.yaml", leaders=["memory://in/motions/*.csv"], **how
    )
    assert run_here(here, tmp_path / "here").n_done == 1
    assert run_here(there, tmp_path / "there").n_done == 1
    put_in_memory(tmp_path / "here/recordings", "memory://in/kept")
    for work in ("evaluate", "dataset"):
        plan = {"work": work, "episodes": ["memory://in/kept"]}
        (tmp_path / f"{work}.yaml").write_text(yaml.safe_dump(plan))
        assert run_here(tmp_path / f"{work}.yaml", tmp_path / work).n_done == 1

    names = ("here", "there", "evaluate", "dataset")
    own, other, measured, made = [read_rows(tmp_path / name)[0] for name in names]

    assert other["leader"] == "memory:///in/motions/m.csv"
    assert other["commands"] == measured["commands"] == own["commands"]
    assert made["n_episodes"] == 1

    class Later(Here):
        """Does cells when what they read is another file."""

        def submit(self, job):
            fsspec.filesystem("memory").pipe_file("/in/motions/m.csv", b"another")
            super().submit(job)

    run_here(there, tmp_path / "later", Later())
    assert "got another" in read_rows(tmp_path / "later")[0]["error"]


def test_results_may_lie_at_an_address(tmp_path):
    """In memory, through the same interface as an object store."""
    plan = write_plan(tmp_path / "plan.yaml", keep="recordings")
    here = tmp_path / "out"
    run_here(plan, here)

    assert run_here(plan, "memory://batch/out").n_done == 1

    store = fsspec.filesystem("memory")
    table = store.cat_file("/batch/out/table.parquet")
    assert table == (here / "table.parquet").read_bytes()
    assert store.glob("/batch/out/recordings/**/*.mcap")
    assert run_here(plan, "memory://batch/out").n_before == 1
