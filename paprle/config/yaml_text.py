"""Untrusted YAML as plain values, by YAML 1.2's core schema.

Tags, duplicate keys and interpolations other than ``${section.key}`` are refused; size,
depth and number of values are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

MAX_BYTES = 128 * 1024  # chosen: thirty times the longest config of a humanoid
MAX_VALUES = 10_000  # chosen: as above; a bomb of 306 bytes expands to 387 million
MAX_DEPTH = 12  # chosen: the deepest config known has 5
MAX_INTERPOLATIONS = 64  # chosen: bounds the work that following them can be

_PREFIX = "tag:yaml.org,2002:"
_INTERPOLATION = re.compile(r"\$\{[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\}")


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}


def _to_float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_SCALARS: Mapping[str, tuple[str, str, Callable[[str], Any]]] = {
    "null": (r"(~|null|Null|NULL|)", "~nN", lambda _: None),
    "bool": (
        r"(true|True|TRUE|false|False|FALSE)",
        "tTfF",
        lambda text: text.lower() == "true",
    ),
    # A leading zero makes text of it (a serial number); so do more than 18 digits.
    "int": (
        r"[-+]?(0|[1-9][0-9]{0,17}|0x[0-9a-fA-F]{1,15})",
        "-+0123456789",
        lambda text: int(text, 0),
    ),
    "float": (
        r"([-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))",
        "-+0123456789.",
        _to_float,
    ),
    "str": ("", "", str),
}
for _tag, (_pattern, _first, _) in _SCALARS.items():
    if _pattern:
        _Loader.add_implicit_resolver(
            _PREFIX + _tag,
            re.compile(f"(?:{_pattern})$"),
            ["", *_first] if _tag == "null" else list(_first),
        )


def read_yaml(path: Path, label: str, problems: list[str]) -> dict[str, Any] | None:
    """Return a YAML file's mapping; None after reporting problems."""
    n_before = len(problems)
    value: Any = None
    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES + 1).decode("utf-8-sig")
        value = _parse(text, label, problems)
    except UnicodeDecodeError:
        problems.append(f"{label}: expected text in UTF-8, got other bytes")
    except OSError as err:
        problems.append(f"{label}: expected a readable file, got {err.strerror}")
    except yaml.YAMLError as err:
        problems.append(_say(err, label))
    if len(problems) == n_before and value is not None and not isinstance(value, dict):
        got = "a list" if isinstance(value, list) else repr(value)
        problems.append(f"{label}: expected a mapping of keys to values, got {got}")
    return (value or {}) if len(problems) == n_before else None


def parse_value(text: str, label: str, problems: list[str]) -> Any:
    """Return a command line's value; invalid YAML and comments are text."""
    if text == "":
        return ""
    n_before = len(problems)
    try:
        value = _parse(text, label, problems)
        if len(problems) > n_before or not _has_comment(text):
            return value
        return _check_text(text, label, problems)
    except yaml.reader.ReaderError as err:
        problems.append(_say(err, label))
        return None
    except yaml.YAMLError:
        return _check_text(text, label, problems)


def _has_comment(text: str) -> bool:
    if "#" not in text:
        return False
    marks = [(t.start_mark.index, t.end_mark.index) for t in yaml.scan(text, _Loader)]
    end = max((end for begin, end in marks if begin < end), default=0)
    return bool(text[end:].strip())


def _parse(text: str, label: str, problems: list[str]) -> Any:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        problems.append(f"{label}: expected at most {MAX_BYTES} bytes, got more")
        return None
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return (
            None
            if node is None
            else _Builder(label, "\n" in text, problems).build(node, 0)
        )
    except RecursionError:
        problems.append(_too_deep(label))
        return None
    except _TooMany as err:
        problems.append(str(err))
        return None
    finally:
        loader.dispose()


class _TooMany(Exception):
    """Document too large or too deep."""


class _Builder:
    def __init__(self, label: str, has_lines: bool, problems: list[str]) -> None:
        self.label = label
        self.has_lines = has_lines
        self.problems = problems
        self.n_values = 0
        self.n_interpolations = 0

    def build(self, node: yaml.Node, depth: int) -> Any:
        self.n_values += 1
        if self.n_values > MAX_VALUES:
            msg = f"{self.label}: expected at most {MAX_VALUES} values, got more"
            raise _TooMany(f"{msg} (aliases expanded)")
        if depth > MAX_DEPTH:
            raise _TooMany(_too_deep(self.label))
        tag = node.tag.removeprefix(_PREFIX)
        if isinstance(node, yaml.MappingNode) and tag == "map":
            return self._build_mapping(node, depth)
        if isinstance(node, yaml.SequenceNode) and tag == "seq":
            return [self.build(child, depth + 1) for child in node.value]
        if isinstance(node, yaml.ScalarNode) and tag in _SCALARS:
            return self._build_scalar(node, tag)
        self._add(node, f"expected plain values, got the tag '{_short(node.tag)}'")
        return None

    def _build_mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.build(key_node, depth + 1)
            if not isinstance(key, str):
                self._add(
                    key_node, f"expected a name as key, got {key!r}; put it in quotes"
                )
                continue
            if key in mapping:
                self._add(key_node, f"expected each key once, got '{key}' again")
            mapping[key] = self.build(value_node, depth + 1)
        return mapping

    def _build_scalar(self, node: yaml.ScalarNode, tag: str) -> Any:
        try:
            value = _SCALARS[tag][2](node.value)
        except ValueError:
            self._add(node, f"expected {tag}, got {node.value!r}")
            return None
        if not isinstance(value, str):
            return value
        self.n_interpolations += value.count("${")
        if self.n_interpolations > MAX_INTERPOLATIONS:
            msg = f"{self.label}: expected at most {MAX_INTERPOLATIONS} interpolations"
            raise _TooMany(f"{msg}, got more")
        return _check_text(value, self._where(node), self.problems)

    def _add(self, node: yaml.Node, problem: str) -> None:
        self.problems.append(f"{self._where(node)}: {problem}")

    def _where(self, node: yaml.Node) -> str:
        line = f" line {node.start_mark.line + 1}" if self.has_lines else ""
        return f"{self.label}{line}"


def _check_text(text: str, where: str, problems: list[str]) -> str:
    for start in re.finditer(r"\$\{", text):
        if _INTERPOLATION.match(text, start.start()) is None:
            problems.append(
                f"{where}: expected an interpolation such as ${{session.rate}}, got "
                f"{_short(text)!r}; resolvers such as oc.env are refused"
            )
            return ""
    return text


def _say(err: yaml.YAMLError, label: str) -> str:
    if isinstance(err, yaml.reader.ReaderError):
        code = err.character if isinstance(err.character, int) else ord(err.character)
        return f"{label}: expected printable text, got the character U+{code:04X}"
    if not isinstance(err, yaml.MarkedYAMLError) or err.problem_mark is None:
        return f"{label}: expected YAML, got {err}"
    mark, problem = err.problem_mark, err.problem or "something else"
    hint = "; indent with spaces" if "'\\t'" in problem else ""
    return f"{label} line {mark.line + 1}: expected YAML, got: {problem}{hint}"


def _too_deep(label: str) -> str:
    return f"{label}: expected at most {MAX_DEPTH} levels, got more"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
