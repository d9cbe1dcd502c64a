"""The doctor finds planted faults of an SO-101's calibration, in virtual time.

Healthy arms have to be free of complaints, and what cannot be seen is left by name to
the command that finds it.
"""

from __future__ import annotations

import json
import math
import random
import re

import pytest
from planted_feetech import NAMES, cause, make_tree

from paprle.hardware.feetech.models import UNIT

pytest.importorskip("scservo_sdk")

OFF = round(math.radians(17.0) / UNIT)  # [counts]


def calibrate_anew(bench, rng):
    """Give an arm other horns and a calibration as people make them."""
    for i, (servo, spec) in enumerate(
        zip(bench.limb.servos, bench.limb.spec.servos, strict=True)
    ):
        turned = rng.randint(-150, 150)  # the middle that was shown: up to 13° off
        homing = servo.memory.get("Homing_Offset")
        bench.faults.cause(
            {
                "fault": "mounting",
                "joint": NAMES[i],
                "offset": (turned := min(max(turned, -2047 - homing), 2047 - homing))
                * UNIT,
            }
        )
        servo.memory.keep("Homing_Offset", homing + turned)
        if i == 4:
            continue
        shift = rng.randint(-100, 100)
        low, high = spec.range
        servo.memory.keep("Homing_Offset", homing + turned - shift)
        servo.memory.keep("Min_Position_Limit", low + shift)
        servo.memory.keep("Max_Position_Limit", high + shift)
    for servo in bench.limb.servos:
        servo.memory.keep("P_Coefficient", rng.choice([16, 32]))
        servo.power_up()


@pytest.mark.parametrize("layout", ["servos", "file"])
@pytest.mark.parametrize("seed", range(8))
def test_a_healthy_arm_has_no_complaints(bench, look, tmp_path, seed, layout):
    calibrate_anew(bench, random.Random(seed))
    path = tmp_path / "arm.json"
    path.write_text(json.dumps(make_tree(bench)))

    faults, lines = look(str(path) if layout == "file" else "")

    assert faults == []
    assert not [text for text in lines if "CHECK" in text]


def change(joint, **keys):
    """Return an edit of a file's joint."""
    return lambda tree: tree[joint].update(keys)


def exchange(tree):
    """A file in which two joints have each other's ids."""
    tree["shoulder_lift"]["id"], tree["elbow_flex"]["id"] = 3, 2


def take_from_another_arm(tree):
    for i, keys in enumerate(tree.values()):
        keys["homing_offset"] += (-1) ** i * (150 + 100 * i)


FILES = {
    "offset 17° off": (
        lambda tree: tree["elbow_flex"].update(
            homing_offset=tree["elbow_flex"]["homing_offset"] + OFF
        ),
        "elbow_flex: expected a homing offset.*[+]17 .deg. away: .*calibrate it with",
    ),
    "another arm's": (
        take_from_another_arm,
        "shoulder_pan, .*: the file is another arm's.*calibrate it with",
    ),
    "a joint is missing": (
        lambda tree: tree.pop("elbow_flex"),
        "got none with id 3; is it another arm's",
    ),
    "a joint too many": (
        lambda tree: tree.update(wheel={**tree["gripper"], "id": 7}),
        "got wheel as well: it is another robot's; calibrate it with",
    ),
    "not a number": (
        change("elbow_flex", homing_offset=math.nan),
        "elbow_flex: homing_offset: expected a whole number .*got nan",
    ),
    "range reversed": (
        change("elbow_flex", range_min=3000, range_max=1000),
        "elbow_flex: expected range_min below range_max, got 3000 and 1000",
    ),
    "range without width": (
        change("elbow_flex", range_min=2000, range_max=2000),
        "elbow_flex: expected range_min below range_max, got 2000",
    ),
    "range beyond the counts": (
        change("elbow_flex", range_max=4500),
        "elbow_flex: range_max: expected a whole number from 0 to 4095, got 4500",
    ),
    "degrees with a point": (
        change("elbow_flex", range_min=-97.0, range_max=97.0),
        "elbow_flex: range_min: expected a whole number .*got -97.0",
    ),
    "degrees": (
        change("elbow_flex", range_min=10, range_max=204),
        "elbow_flex: .*10 to 204: are these degrees.*calibrate it with",
    ),
    "drive mode": (
        change("elbow_flex", drive_mode=1),
        "elbow_flex: expected drive mode 0, .*set drive_mode 0 in the file",
    ),
    "exchanged joints": (
        exchange,
        "shoulder_lift: expected its servo 2 in the file, got id 3: .*calibrate it",
    ),
    "limits at the servo are of another calibration": (
        lambda tree: tree["shoulder_pan"].update(range_max=3500),
        "shoulder_pan: expected the range of the file.*at the servo, which end .*calib",
    ),
    "no JSON": (lambda tree: tree.clear(), "expected motors by name"),
}


@pytest.mark.parametrize(("edit", "text"), FILES.values(), ids=FILES)
def test_a_fault_of_the_file_is_named_with_a_remedy(bench, look, tmp_path, edit, text):
    tree = make_tree(bench)
    edit(tree)
    path = tmp_path / "arm.json"
    path.write_text(json.dumps(tree))

    faults, _ = look(str(path))

    assert any(re.search(text, line) for line in faults), faults


def test_servos_exchanged_after_the_file_was_made_are_named(bench, look, tmp_path):
    path = tmp_path / "arm.json"
    path.write_text(json.dumps(make_tree(bench)))
    cause(fault="swapped", joint="elbow_flex", **{"with": "wrist_flex"})(bench)

    faults, _ = look(str(path))

    text = "elbow_flex and wrist_flex: .*each other's: .*exchanged; .*setup-servos"
    assert any(re.search(text, line) for line in faults), faults


def test_the_file_that_is_of_these_servos_is_suggested(
    bench, look, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_LEROBOT_CALIBRATION", str(tmp_path))
    folder = tmp_path / "robots" / "so_follower"
    folder.mkdir(parents=True)
    tree = make_tree(bench)
    (folder / "mine.json").write_text(json.dumps(tree))
    take_from_another_arm(tree)
    (folder / "yours.json").write_text(json.dumps(tree))

    _, lines = look("yours")

    assert any(re.search("of .*mine.json; .*env.calibration=mine", t) for t in lines)


@pytest.mark.parametrize(
    "plant",
    [
        cause(fault="mounting", joint="elbow_flex", offset=math.radians(17.0)),
        cause(fault="swapped", joint="elbow_flex", **{"with": "wrist_flex"}),
        cause(fault="turned", joint="elbow_flex", turns=1),
    ],
    ids=["horn fitted 17° off", "exchanged, of equal travel", "a turn, not counted"],
)
def test_faults_without_a_register_are_left_to_a_named_calibration(bench, look, plant):
    plant(bench)

    faults, lines = look()

    assert faults == []
    assert re.search("do not show .* calibrate it with paprle calibrate", lines[-1])
