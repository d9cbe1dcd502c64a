from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.config import resolve
from paprle.config.yaml_text import MAX_BYTES, parse_value, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-2.5", -2.5),
        ("1e-3", 1e-3),
        ("true", True),
        ("null", None),
        ("", ""),
        ("/dev/ttyUSB0", "/dev/ttyUSB0"),
        ("{left: hand}", {"left": "hand"}),
        ("[1, 2.5]", [1, 2.5]),
        ("on", "on"),
        ("no", "no"),
        ("010", "010"),
        ("12:30:00", "12:30:00"),
        ("2020-01-01", "2020-01-01"),
        ("[1, 2", "[1, 2"),
        ("a: b: c", "a: b: c"),
        ("'7'", "7"),
        ("${session.rate}", "${session.rate}"),
    ],
)
def test_value_of_the_command_line_is_a_scalar_of_yaml_1_2(text, value):
    problems: list[str] = []

    assert parse_value(text, "here", problems) == value
    assert not problems


def _bomb() -> str:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join(['*' + before] * 9)}]")
    return "\n".join(lines)


BAD_FILES = {
    "alias bomb": (_bomb(), r"x.yaml: expected at most 10000 values, got more"),
    "alias circle": ("a: &a [*a]", "expected at most 12 levels"),
    "deep": ("[" * 5000, "expected at most 12 levels"),
    "huge": ("a: 1\n" * MAX_BYTES, "expected at most 131072 bytes"),
    "python object": (
        "a: 1\nb: !!python/object/apply:os.system [ls]",
        "x.yaml line 2: expected plain values, got the tag '.*os.system'",
    ),
    "timestamp tag": ("a: !!timestamp 2020-01-01", "got the tag"),
    "environment": (
        "a: 1\nb: ${oc.env:HOME}",
        r"x.yaml line 2: .*got '\$\{oc.env:HOME\}'; resolvers .* are refused",
    ),
    "nested resolver": ("a: ${${b}:HOME}\nb: oc.env", "resolvers"),
    "resolver as a key": ("${oc.env:HOME}: 1\nb: 1", "resolvers"),
    "too many interpolations": (
        "\n".join(f"k{i}: ${{a.b}}" for i in range(65)),
        "at most 64 interpolations",
    ),
    "key twice": ("a: 1\nb: 2\na: 3", "line 3: expected each key once, got 'a' again"),
    "number as key": ("1: 2\nb: 4", "line 1: expected a name as key, got 1"),
    "tab": ("a:\n\tb: 1", "line 2: expected YAML.*indent with spaces"),
    "truncated": ("a: [1, 2", "line 1: expected YAML"),
    "list": ("- a\n- b", "expected a mapping of keys to values, got a list"),
    "scalar": ("hello", "expected a mapping of keys to values, got 'hello'"),
    "two documents": ("a: 1\n---\nb: 2", "expected YAML"),
    "unknown alias": ("a: *nobody\nb: 1", "undefined alias"),
    "control character": ("a: \x07", r"got the character U\+0007"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_refused_with_one_clear_message(tmp_path, name):
    text, message = BAD_FILES[name]
    (tmp_path / "x.yaml").write_text(text)
    problems: list[str] = []
    began = time.process_time()

    value = read_yaml(tmp_path / "x.yaml", "x.yaml", problems)

    assert value is None
    assert len(problems) == 1
    pytest.raises(ValueError, _raise, problems[0]).match(message)
    assert time.process_time() - began < 3.0


def _raise(text: str) -> None:
    raise ValueError(text)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "x.yaml").write_bytes(b"a: \xff\xfe")
    problems: list[str] = []

    assert read_yaml(tmp_path / "x.yaml", "x.yaml", problems) is None
    assert problems == ["x.yaml: expected text in UTF-8, got other bytes"]


def test_missing_file_is_refused(tmp_path):
    problems: list[str] = []

    assert read_yaml(tmp_path / "x.yaml", "x.yaml", problems) is None
    assert "No such file" in problems[0]


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null\n"])
def test_empty_file_says_nothing(tmp_path, text):
    (tmp_path / "x.yaml").write_text(text)
    problems: list[str] = []

    assert read_yaml(tmp_path / "x.yaml", "x.yaml", problems) == {}
    assert not problems


def test_alias_is_a_copy(tmp_path):
    (tmp_path / "x.yaml").write_text("a: &a {b: 1}\nc: *a\n")

    value = read_yaml(tmp_path / "x.yaml", "x.yaml", [])

    assert value == {"a": {"b": 1}, "c": {"b": 1}}
    assert value["a"] is not value["c"]


@given(st.text(max_size=60))
def test_any_text_gives_plain_values_or_a_problem(text):
    problems: list[str] = []

    value = parse_value(text, "here", problems)

    assert _is_plain(value)


def _is_plain(value):
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def test_infinite_numbers_are_numbers_for_the_validation_to_refuse():
    assert parse_value("1e999", "here", []) == math.inf


@pytest.mark.parametrize(
    "text",
    ["pick #2 of 5", "/data/run #3", "#2", "5 # five", "a: b #2", "[a #2, b]"],
)
def test_a_number_sign_on_the_command_line_is_text(text):
    args = ("leader=autopilot", "follower=piper", "env=kinematic")

    resolved = resolve((*args, f"record.task={text}"))

    assert resolved.record.task == text


def test_a_number_sign_in_quotes_is_what_the_quotes_hold():
    problems = []

    assert parse_value('"pick #2"', "record.task", problems) == "pick #2"
    assert not problems
