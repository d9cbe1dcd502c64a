"""Bags of others are measured like episodes, as far as they tell."""

import numpy as np
import pytest
from bagfiles import write_bag

from paprle.cli.app import main
from paprle_lab.evaluation.bags import BagTopics
from paprle_lab.evaluation.reporting.files import choose_folder
from paprle_lab.evaluation.reporting.report import evaluate, summary_text

pytestmark = pytest.mark.long

T = np.arange(0, 8, 0.02)
LAG = 0.1  # [s]
SPEED = 0.05  # [m/s] on average of a circle of 0.05 m


def say_circle(m, t, late=0.0, skew=0.0):
    angle = t - late
    return m.pose(t, (0.05 * np.cos(angle), 0.05 * np.sin(angle), 0.2), skew=skew)


def say_late(m, t):
    return say_circle(m, t, LAG)


def say_joints(m, t, late=0.0):
    names = [f"joint{i}" for i in range(6, 0, -1)]
    return m.state(
        t, names, 0.3 * np.sin(t - late + np.arange(6)) + [0, 0, 0, -1, 1, 0]
    )


def test_targets_against_what_was_done_by_name(tmp_path):
    said = {"/paprle/arm/target_pose": [(t, say_circle) for t in T]}
    said["/paprle/arm/actual_pose"] = [(t, say_late) for t in T]
    path = write_bag(tmp_path / "bag", said)

    (entry,) = evaluate([path], tmp_path / "report")

    assert entry["error"] is None
    assert entry["ate_mm"]["raw"]["median"] == pytest.approx(
        1e3 * SPEED * LAG, rel=0.01
    )
    assert entry["lag_ms"] == pytest.approx(1e3 * LAG, abs=2.0)
    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.02
    assert list(entry["limbs"]) == ["arm"]
    assert "arm" in (next((tmp_path / "report").glob("*.report.html"))).read_text()
    text = summary_text([entry])
    assert "Everything was judged" not in text
    for gap in ("limits of motion", "targets were reached", "deadlines", "latency"):
        assert gap in text.partition("Not judged:")[2]


def test_the_report_of_a_bag_goes_to_the_current_folder(tmp_path, monkeypatch):
    path = write_bag(tmp_path / "bag", {"/x/target_pose": [(T[0], say_circle)]})
    monkeypatch.chdir(tmp_path)

    assert choose_folder([path]) == tmp_path


@pytest.mark.parametrize("skew", [0.3, -0.3, 0.05])
def test_a_clock_of_another_host_is_no_lag(tmp_path, skew):
    said = {"/x/target_pose": [(t, say_circle) for t in T]}
    said["/x/actual_pose"] = [
        (t, lambda m, t: say_circle(m, t, LAG, skew)) for t in T[:-1]
    ]
    path = write_bag(tmp_path / "bag", said)

    (entry,) = evaluate([path])

    assert entry["lag_ms"] == pytest.approx(1e3 * LAG, abs=2.0)
    [note] = [note for note in entry["notes"] if "reception" in note]
    assert f"are {abs(1e3 * skew):.0f} ms apart" in note


def test_a_gap_of_either_is_no_error(tmp_path):
    said = {"/a": [(t, say_circle) for t in T]}
    said["/b"] = [(t, say_circle) for t in T if not 3 < t < 5]
    path = write_bag(tmp_path / "bag", said)

    (entry,) = evaluate([path], topics=BagTopics(target="/a", actual="/b"))

    assert entry["ate_mm"]["raw"]["max"] < 1e-6
    assert entry["engaged_s"] == pytest.approx(T[-1] - 2.0, abs=0.05)


def test_joints_need_a_robot(tmp_path, capsys):
    said = {"/cmd": [(t, say_joints) for t in T]}
    said["/joint_states"] = [(t, lambda m, t: say_joints(m, t, LAG)) for t in T]
    path = str(write_bag(tmp_path / "bag", said))
    words = ["evaluate", path, "--target", "/cmd", "--actual", "/joint_states"]

    assert main(words) == 1
    assert "--robot NAME for the joints of /cmd" in capsys.readouterr().err
    assert main([*words, "--robot", "piper", "--out", str(tmp_path / "out")]) == 0
    assert "lag          100" in capsys.readouterr().out


def test_topics_that_cannot_be_guessed_are_asked_for(tmp_path):
    path = write_bag(tmp_path / "bag", {"/a": [(t, say_circle) for t in T[:9]]})

    (entry,) = evaluate([path])

    assert "/a [geometry_msgs/msg/PoseStamped]" in entry["error"]
    assert "--target TOPIC" in entry["error"]
