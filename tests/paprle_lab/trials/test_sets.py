"""Sets of logs: indexed, held against ARBot's schema, judged together."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from arbot_logs import make_table, write_set
from shared_data import find_shared

from paprle.cli import main
from paprle.contracts.kit.work import Work
from paprle.recording.exports import write_arbot_csv
from paprle_lab.trials.labels import guess_labels, read_index
from paprle_lab.trials.log import measure_quality
from paprle_lab.trials.measure import find_worst_window
from paprle_lab.trials.report import evaluate_set
from paprle_lab.trials.schema import check_set

LAYOUT = "{user}/{mode}/{task}_{trial}.csv"


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arbot")
    write_set(folder)
    assert main(["dataset", "index", str(folder), "--layout", LAYOUT]) == 0
    return folder


@pytest.fixture
def copied(complete, tmp_path):
    return Path(shutil.copytree(complete, tmp_path / "set"))


def check(folder, capsys):
    code = main(["dataset", "check", str(folder), "--schema", "arbot"])
    return code, capsys.readouterr().out


def test_a_complete_set_has_no_fault(complete, capsys):
    code, told = check(complete, capsys)

    assert code == 0, told
    assert "132 human trajectories, 0 replays; real rates 100.0 … 100.0 Hz" in told
    row = read_index(complete)[0]
    assert (row.user, row.mode, row.task) == ("U01", "cv_imu", "circle")
    assert row.more["rate_hz"] == "100.00"


def test_checking_and_measuring_a_set_count_its_trials(complete):
    class Counted(Work):
        counts = ()

        def count(self, n_done, n_all, unit):
            self.counts = (*self.counts, (n_done, n_all, unit))

    checked, measured = Counted(), Counted()
    check_set(complete, checked)
    evaluate_set(read_index(complete)[:3], measured)

    assert checked.counts == tuple((k, 132, "trials") for k in range(132))
    assert measured.counts == tuple((k, 3, "trials") for k in range(3))


def spoil_units(table):
    table[:, 1:4] *= 1e3
    table[:, 8:11] *= 1e3


def spoil_stamps(table):
    table[:, 0] *= 1e3


def spoil_latency(table):
    table[:, 16] *= 1e-3


def spoil_quaternions(table):
    table[3, 4:8] = 0.0


def spoil_gap(table):
    table[30:, 0] += 0.4


def spoil_order(table):
    table[[10, 20], 0] = table[[20, 10], 0]


def spoil_frame(table):
    table[:, 8:11] += 0.6


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (spoil_units, "units: target positions are no metres: up to 4"),
        (spoil_stamps, "units: stamps are no seconds"),
        (spoil_latency, "units: latencies are no ms: at most 0.018"),
        (spoil_quaternions, "units: target orientations of 1 rows are no unit"),
        (spoil_gap, "gaps: 1 longer than 0.25 s, up to 0.41 s"),
        (spoil_order, "disorder: 2 stamps go back"),
        (spoil_frame, "units: target and kinematic positions are 1.04 m apart"),
    ],
)
def test_mistakes_of_a_file_are_reported(copied, capsys, spoil, told):
    path = copied / "U03/arpose/circle_1.csv"
    path.unlink()
    table = make_table(rate=100.0)
    spoil(table)
    write_arbot_csv(path, table)

    code, out = check(copied, capsys)

    assert code == 1
    assert f"{path}: {told}" in out
    assert f"{path}: changed: not the file of the index" in out


def test_a_missing_a_doubled_and_an_unknown_trial_are_told(copied, capsys):
    rows = (copied / "trials.csv").read_text().splitlines()
    assert "rectangle,arpose,2" in rows[9]
    rows[9] = rows[9].replace(",arpose,2,", ",arpose,9,")
    rows[10] = rows[8]
    (copied / "trials.csv").write_text("\n".join(rows[:-1]) + "\n")

    code, out = check(copied, capsys)

    assert code == 1
    assert "missing: 3 of 132: U01 rectangle arpose 2, U01 rectangle arpose 3" in out
    assert "label: 'U01 rectangle arpose 9' is no trial of the schema" in out
    assert "twice: U01 rectangle arpose 1: 2 files" in out
    assert "copy: the same bytes as" in out


def test_published_logs_have_notes_only(tmp_path, capsys):
    write_set(tmp_path, users=1)
    path = tmp_path / "U01/arpose/rectangle_1.csv"
    path.unlink()
    shutil.copy(find_shared("motion/arbot_rectangle_H1.csv"), path)
    main(["dataset", "index", str(tmp_path), "--layout", LAYOUT])

    _, out = check(tmp_path, capsys)

    assert f"{path}: duplicates (note): 89 rows (6.8 %) repeat a stamp" in out
    assert f"{path}: rate (note): 28.1 Hz, the paper says 100 Hz" in out
    assert f"{path}: units" not in out


def test_a_folder_without_an_index_says_how_to_make_one(tmp_path, capsys):
    assert main(["dataset", "check", str(tmp_path), "--schema", "arbot"]) == 1

    assert "make one: paprle dataset index" in capsys.readouterr().err


@pytest.mark.parametrize("layout", ["{who}.csv", "a.csv", "{user}/{user}.csv"])
def test_a_layout_has_known_labels_once(tmp_path, capsys, layout):
    assert main(["dataset", "index", str(tmp_path), "--layout", layout]) == 2

    assert "--layout: expected labels of kind, user" in capsys.readouterr().err


def test_every_mistake_of_an_index_is_told(tmp_path, capsys):
    index = tmp_path / "trials.csv"
    index.write_text("path,kind,user,task,mode,trial\n,human,a,b,c,1\nx,ape,a,b,c,1\n")

    assert main(["evaluate", str(index)]) == 1

    told = capsys.readouterr().err
    assert f"{index}:2: expected the path of a trial" in told
    assert f"{index}:3: expected kind human or robot, got 'ape'" in told


@pytest.mark.long
def test_a_set_is_judged_by_user_task_and_mode(complete, tmp_path, capsys):
    assert main(["evaluate", str(complete), "--out", str(tmp_path)]) == 0

    told = capsys.readouterr().out
    assert "132 human trials, 0 replays by a robot" in told
    figures = json.loads((tmp_path / "trials.report.json").read_text())
    assert [len(figures["tables"][k]) for k in ("user", "task", "mode")] == [11, 4, 2]
    arpose, cv_imu = figures["tables"]["mode"]
    assert arpose["n_trials"] == 66
    assert arpose["median_mm"] == pytest.approx(4.0)
    assert cv_imu["rmse_mm"] == pytest.approx(22.0)
    assert arpose["latency_p50_ms"] == pytest.approx(18.0)
    first = figures["trials"][0]
    assert first["red_percent"] == 100.0
    assert first["axes_rmse_mm"] == pytest.approx([0.0, 0.0, 22.0])
    assert len(figures["itv"]) == 22
    assert {one["n_groups"] for one in figures["itv_means"]} == {11}
    page = (tmp_path / "trials.report.html").read_text()
    assert page.count("<img") == 3 + 4
    lines = (tmp_path / "trials.report.tsv").read_text().splitlines()
    table = list(csv.DictReader(lines, delimiter="\t"))
    assert len(table) == 132
    assert float(table[0]["ate_mm.median"]) == pytest.approx(22.0)


@pytest.mark.nightly
@pytest.mark.long
def test_logs_without_an_index_are_labelled_by_their_names(tmp_path, capsys):
    offsets = {"H1": 0.0, "H2": 0.003, "H3": 0.006}
    offsets |= {f"robot_{k}": 0.0 for k in range(1, 6)}
    for name, offset in offsets.items():
        table = make_table(shift=(offset, 0.0, 4 / 3 * offset), error=0.0)
        write_arbot_csv(tmp_path / f"{name}.csv", table)

    files = sorted(map(str, tmp_path.glob("*.csv")))
    assert main(["evaluate", *files]) == 0
    assert main(["evaluate", str(tmp_path)]) == 0

    of_files, of_folder = map(
        Path.read_text,
        (tmp_path / "H1_and_7_more.report.json", tmp_path / "trials.report.json"),
    )
    assert of_files == of_folder
    told = capsys.readouterr().out
    assert "3 human trials, 5 replays by a robot" in told
    figures = json.loads((tmp_path / "H1_and_7_more.report.json").read_text())
    human, robot = figures["itv"]
    # the deviation of 0, 3, 6 mm is 3 mm, that of 0, 4, 8 mm is 4 mm
    assert human["arc_length_mm"] == pytest.approx(5.0)
    assert human["normalised_time_mm"] == pytest.approx(5.0)
    assert robot["arc_length_mm"] == pytest.approx(0.0, abs=1e-9)
    assert sorted(map(str, tmp_path.glob("*.csv"))) == files


@pytest.mark.long
def test_logs_that_are_missing_are_told(tmp_path, capsys):
    for name in ("H1", "robot_2", "robot_4"):
        write_arbot_csv(tmp_path / f"{name}.csv", make_table())

    assert main(["evaluate", str(tmp_path)]) == 0

    told = capsys.readouterr().out
    assert "no variability of 'h 1': it is one trial alone" in told
    assert "not here: H2, H3, robot_1, robot_3, robot_5; they stand at github" in told
    assert "its figures, 27.69 and 3.91 mm, are those of all eight" in told


@pytest.mark.long
def test_a_recording_stands_in_a_set_beside_logs(tmp_path):
    words = ("leader=autopilot", "leader.size=0.02", "leader.speed=0.1",
             "follower=piper", "env=kinematic", "session.clock=virtual")  # fmt: skip
    assert main(["run", *words, f"record.dir={tmp_path}"]) == 0
    write_arbot_csv(tmp_path / "log.csv", make_table())
    (tmp_path / "trials.csv").write_text(
        "path,kind,user,task,mode,trial\n"
        "episode_000000.mcap,human,a,circle,autopilot,1\nlog.csv,human,b,circle,x,1\n"
    )

    assert main(["evaluate", str(tmp_path)]) == 0

    figures = json.loads((tmp_path / "trials.report.json").read_text())
    ours, log = figures["trials"]
    assert ours["ate_mm"]["median"] < 10.0
    assert 0.0 <= ours["latency_ms"]["median"] < 50.0
    assert "rate_hz" in log
    assert "rate_hz" not in ours


def test_published_files_give_the_published_variability(tmp_path):
    """All eight files of cake-lab/arbot-website, static/dataset, give 27.69 / 3.91."""
    folder = tmp_path / "published"
    folder.mkdir()
    for name in (*(f"H{k}" for k in (1, 2, 3)), *(f"robot_{k}" for k in range(1, 6))):
        source = find_shared(f"motion/arbot_rectangle_{name}.csv")
        (folder / f"{name}.csv").symlink_to(source)
    assert main(["evaluate", str(folder), "--out", str(tmp_path)]) == 0

    figures = json.loads(next(tmp_path.glob("*.json")).read_text())
    human, robot = figures["itv"]
    assert (human["n_trials"], robot["n_trials"]) == (3, 5)
    assert human["arc_length_mm"] == pytest.approx(27.69, abs=0.005)
    assert robot["arc_length_mm"] == pytest.approx(3.91, abs=0.005)
    assert human["normalised_time_mm"] == pytest.approx(36.61, abs=0.005)
    assert robot["normalised_time_mm"] == pytest.approx(1.03, abs=0.005)


@pytest.mark.long
def test_figures_of_a_published_log_are_those_of_evo(tmp_path):
    path = find_shared("motion/arbot_rectangle_H1.csv")
    assert main(["evaluate", str(path), "--out", str(tmp_path)]) == 0

    (one,) = json.loads(next(tmp_path.glob("*.json")).read_text())["trials"]

    rows = list(csv.DictReader(path.read_text().splitlines()))
    target, actual = (
        np.array([[float(row[f"{who}_pos_{a}"]) for a in "xyz"] for row in rows])
        for who in ("target", "kinematic")
    )
    errors = 1e3 * np.linalg.norm(target - actual, axis=1)
    assert one["ate_mm"]["rmse"] == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-9)
    assert one["ate_mm"]["median"] == pytest.approx(np.median(errors), rel=1e-9)
    assert 18.0 < one["latency_ms"]["median"] < 18.6
    assert "186.3 ms, and that of best correlation, 157.9 ms, disagree" in one["notes"]


def test_the_worst_window_is_the_worst_of_all():
    rng = np.random.default_rng(1)
    t = np.cumsum(rng.uniform(0.01, 0.05, 500))
    errors = rng.exponential(1.0, 500)

    slow = max(
        float(np.sqrt((errors[(t >= end - 2.0) & (t <= end)] ** 2).mean()))
        for end in t
        if end - t[0] >= 2.0
    )

    assert find_worst_window(t, errors, 2.0) == pytest.approx(slow)


@pytest.mark.parametrize(
    ("name", "kind", "task", "trial"),
    [
        ("H2", "human", "h", "2"),
        ("robot_4", "robot", "", "4"),
        ("robot", "robot", "", ""),
        ("rectangle_robot_1", "robot", "rectangle", "1"),
        ("rectangle_H1", "human", "rectangle", "1"),
        ("rectangle human 2", "human", "rectangle", "2"),
        ("robots_1", "human", "robots", "1"),
        ("S-Shape 01", "human", "s_shape", "01"),
        ("motion", "human", "motion", ""),
    ],
)
def test_a_name_says_what_a_file_is(name, kind, task, trial):
    one = guess_labels(Path(f"{name}.csv"))

    assert (one.kind, one.task, one.trial) == (kind, task, trial)


def test_an_empty_log_has_no_rate():
    assert measure_quality(make_table()[:1]).rate_hz == 0.0
