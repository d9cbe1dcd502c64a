"""What a page may say, and everything else."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.hardware.web.arbot import parse_arbot
from paprle.hardware.web.errors import MessageError
from paprle.hardware.web.messages import MAX_BYTES, SampleMessage, parse_message

HAND = {
    "p": [0.1, 0.2, 0.3], "q": [0.0, 0.0, 0.0, 1.0], "tracked": True, "held": True,
    "press": 1, "opening": 0.5,
}  # fmt: skip
SAMPLE = {"type": "sample", "seq": 1, "t": 12.5, "limbs": {"hand": HAND}}
ARBOT = {
    "position": {"x": 0.1, "y": 0, "z": 0.3, "qx": 0, "qy": 0, "qz": 0, "qw": 1},
    "gripper": 0.25,
}


def change(base, path, value):
    made = json.loads(json.dumps(base))
    at = made
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


def test_a_sample_is_read_whole():
    message = parse_message(json.dumps(SAMPLE))

    assert isinstance(message, SampleMessage)
    assert message.limbs["hand"].p == (0.1, 0.2, 0.3)
    assert message.limbs["hand"].opening == 0.5
    assert message.scale == 1.0


P, Q = ("limbs", "hand", "p"), ("limbs", "hand", "q")
WRONG = {
    "no type": change(SAMPLE, ["type"], None),
    "strange type": change(SAMPLE, ["type"], "reset"),
    "type is a list": change(SAMPLE, ["type"], ["sample"]),
    "no seq": change(SAMPLE, ["seq"], None),
    "negative seq": change(SAMPLE, ["seq"], -1),
    "seq is a float": change(SAMPLE, ["seq"], 1.5),
    "seq is true": change(SAMPLE, ["seq"], True),
    "huge seq": change(SAMPLE, ["seq"], 10**30),
    "time is text": change(SAMPLE, ["t"], "12"),
    "no hand": change(SAMPLE, ["limbs", "hand", "q"], None),
    "two numbers": change(SAMPLE, P, [0.0, 0.0]),
    "four numbers": change(SAMPLE, P, [0.0] * 4),
    "a true position": change(SAMPLE, P, [True, 0.0, 0.0]),
    "text in a position": change(SAMPLE, P, ["0", 0.0, 0.0]),
    "nested": change(SAMPLE, P, [[0.0], 0.0, 0.0]),
    "1e30 m": change(SAMPLE, P, [1e30, 0.0, 0.0]),
    "a kilometre": change(SAMPLE, P, [0.0, 1e3, 0.0]),
    "zero quaternion": change(SAMPLE, Q, [0.0] * 4),
    "half a quaternion": change(SAMPLE, Q, [0.0, 0.0, 0.0, 0.5]),
    "long quaternion": change(SAMPLE, Q, [1.0, 1.0, 0.0, 0.0]),
    "held is 1": change(SAMPLE, ["limbs", "hand", "held"], 1),
    "opening 2": change(SAMPLE, ["limbs", "hand", "opening"], 2.0),
    "unknown member": change(SAMPLE, ["reset"], True),
    "three hands": change(SAMPLE, ["limbs"], dict.fromkeys("abc", HAND)),
    "scale 0": change(SAMPLE, ["scale"], 0.0),
    "scale 100": change(SAMPLE, ["scale"], 100.0),
    "strange mode": change(SAMPLE, ["mode"], "fast"),
    "buttons fall below 0": change(SAMPLE, ["actions"], {"stop": -1}),
    "a button of the computer": change(SAMPLE, ["actions"], {"clear": 1}),
}  # fmt: skip
RAW = {
    "nothing": "",
    "text": "hello",
    "a list": "[1]",
    "null": "null",
    "a number": "12",
    "NaN": json.dumps(change(SAMPLE, P, [float("nan"), 0.0, 0.0])),
    "Infinity": json.dumps(change(SAMPLE, P, [float("inf"), 0.0, 0.0])),
    "1e999": json.dumps(SAMPLE).replace("0.1", "1e999"),
    "a key twice": json.dumps(SAMPLE).replace('"seq"', '"seq": 9, "seq"', 1),
    "an inner key twice": json.dumps(SAMPLE).replace('"held"', '"held": false, "held"'),
    "cut off": json.dumps(SAMPLE)[:-1],
    "deep": "[" * 4000,
    "deep objects": '{"a":' * 800,
    "5000 digits": json.dumps(SAMPLE).replace("12.5", "1" * 3500),
    "too long": " " * (MAX_BYTES + 1),
    "a lone surrogate": '{"type": "\\ud800"}',
    "binary": b"\x00\x01",
}


@pytest.mark.parametrize("name", [*WRONG, *RAW])
def test_anything_else_is_refused_whole_and_at_once(name):
    data = json.dumps(WRONG[name]) if name in WRONG else RAW[name]
    began = time.perf_counter()

    with pytest.raises(MessageError):
        parse_message(data)

    assert time.perf_counter() - began < 0.05


ARBOT_WRONG = {
    "no position": change(ARBOT, ["position"], None),
    "no x": change(ARBOT, ["position", "x"], None),
    "no qw": change(ARBOT, ["position", "qw"], None),
    "text": change(ARBOT, ["position", "x"], "0.1"),
    "zero quaternion": change(ARBOT, ["position", "qw"], 0),
    "half a quaternion": change(ARBOT, ["position", "qw"], 0.5),
    "far away": change(ARBOT, ["position", "z"], 1e6),
    "gripper is text": change(ARBOT, ["gripper"], "open"),
    "position is a list": change(ARBOT, ["position"], [0, 0, 0]),
}


@pytest.mark.parametrize("name", [*ARBOT_WRONG, *RAW])
def test_foreign_messages_are_refused(name):
    data = json.dumps(ARBOT_WRONG[name]) if name in ARBOT_WRONG else RAW[name]

    with pytest.raises(MessageError):
        parse_arbot(data, 0.0, 1.0)


def test_a_message_of_the_app_is_a_pose_in_the_axes_of_ros():
    seen = parse_arbot(json.dumps({**ARBOT, "timestamp": 17}), 0.0, 0.5)

    assert seen.p.tolist() == [0.1, 0.0, 0.3]
    assert seen.quat_xyzw.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert seen.opening == 0.5
    assert not seen.has_deadman


@given(st.one_of(st.text(max_size=200), st.binary(max_size=200)))
def test_any_text_is_refused_or_finite(data):
    try:
        message = parse_message(data)
    except MessageError:
        return
    assert message.type in {"sample", "hello", "clock"}
