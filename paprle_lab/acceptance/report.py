"""The report of an acceptance."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from paprle import __version__
from paprle.config import Resolved
from paprle.contracts.errors import ConfigError
from paprle_lab.acceptance.check import Result
from paprle_lab.acceptance.led import SIMULATED
from paprle_lab.acceptance.privacy import clean, clean_setting

_EMULATOR = "emulator of process "  # spec: paprle.config.emulated
_PARTS = ("leader", "leaders", "env")
_PACKAGES = ("numpy", "pin", "mujoco", "piper_sdk", "dynamixel-sdk", "cyclonedds")
_FILES = "configs/"  # spec: paprle.config.layers: files that are shipped
_SITE = "configs/site"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceReport:
    """A report, free of personal data.

    Attributes:
        hardware: By part: ``emulator``, ``simulation`` or a person's words.
        settings: Differing from the defaults.
        is_whole: The kit reached its end.
    """

    names: dict[str, str]
    versions: dict[str, str]
    hardware: dict[str, str]
    settings: dict[str, str]
    results: Sequence[Result]
    n_unconfirmed: int
    is_whole: bool

    @property
    def is_accepted(self) -> bool:
        """Whether all checks ran and none failed."""
        return self.is_whole and not any(r.verdict == "failed" for r in self.results)

    def write(self, folder: Path) -> Path:
        """Return the written Markdown, beside its JSON.

        Raises:
            ConfigError: If writing fails.
        """
        path = folder / f"acceptance_{'_'.join(self.names.values())}.md"
        tree: dict[str, Any] = {**asdict(self), "is_accepted": self.is_accepted}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(self.as_markdown(), encoding="utf-8")
            path.with_suffix(".json").write_text(
                json.dumps(tree, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
        except OSError as err:
            raise ConfigError(f"{path}: cannot be written: {err.strerror}") from err
        return path

    def as_markdown(self) -> str:
        """Return the report as Markdown."""
        return "\n".join(self._list_lines()) + "\n"

    def _list_lines(self) -> Iterator[str]:
        names = self.names
        yield (
            f"# Acceptance of leader={names['leader']} follower={names['follower']} "
            f"env={names['env']}\n"
        )
        yield f"**{self._describe()}**\n"
        for title, values in (("hardware", self.hardware), ("version", self.versions)):
            yield f"| {title} | |\n|---|---|"
            yield from (f"| {key} | {_cell(value)} |" for key, value in values.items())
            yield ""
        if self.settings:
            yield "| setting that differs from the defaults | |\n|---|---|"
            yield from (f"| `{k}` | {_cell(v)} |" for k, v in self.settings.items())
            yield ""
        if self.n_unconfirmed:
            yield f"Nobody answered {self.n_unconfirmed} question(s) to the person.\n"
        yield "| check | verdict | figures | criterion |\n|---|---|---|---|"
        for result in self.results:
            figures = "; ".join(result.figures) or result.reason or "–"
            yield (
                f"| {result.title} | {result.verdict} | {_cell(figures)} | "
                f"{_cell(result.criterion)} |"
            )
        for result in self.results:
            if result.problems:
                yield f"\n## Failed: {result.title}\n"
                yield from (f"* {problem}" for problem in result.problems)
                yield f"\nRemedy: {result.remedy}."
        skipped = [r for r in self.results if r.verdict == "skipped"]
        if skipped:
            yield "\n## Skipped\n"
            yield from (f"* {r.title}: {r.reason}" for r in skipped)

    def _describe(self) -> str:
        counts = {
            verdict: sum(r.verdict == verdict for r in self.results)
            for verdict in ("passed", "failed", "skipped")
        }
        told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        return told if self.is_whole else f"{told}; ended before the last check"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def clean_result(result: Result) -> Result:
    """Return a result without personal data."""
    return Result(
        **asdict(result)
        | {
            "figures": [clean(text) for text in result.figures],
            "problems": [clean(text) for text in result.problems],
            "reason": clean(result.reason),
        }
    )


def find_names(resolved: Resolved) -> dict[str, str]:
    """Return leader, follower and env."""
    names = (resolved.leader_name, resolved.follower_name, resolved.env_name)
    parts = ("leader", "follower", "env")
    return {
        part: clean(Path(name).stem.replace(" ", "-"))
        for part, name in zip(parts, names, strict=True)
    }


def find_versions() -> dict[str, str]:
    """Return the versions of the software."""
    found = {
        "paprle": __version__,
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def find_settings(resolved: Resolved) -> dict[str, str]:
    """Return settings other than defaults and shipped ones."""
    tree = resolved.to_dict()
    return {
        key: clean_setting(key, _find(tree, key))
        for key, place in sorted(resolved.sources.items())
        if place != "default"
        and (not place.startswith(_FILES) or place.startswith(_SITE))
        and key not in ("leader", "follower", "env")
    }


def _find(tree: Any, key: str) -> Any:
    for part in key.split("."):
        if not isinstance(tree, dict) or part not in tree:
            return "set"
        tree = tree[part]
    return tree


def find_emulated(resolved: Resolved) -> dict[str, str]:
    """Return ``emulator`` or ``simulation`` by part."""
    found = {}
    if resolved.env_type in SIMULATED:
        found["robot"] = "simulation"
    for key, place in resolved.sources.items():
        part = "robot" if key.startswith("env") else "leader"
        value = str(_find(resolved.to_dict(), key)) if key.startswith(_PARTS) else ""
        if place.startswith(_EMULATOR) or _is_emulated(value):
            found.setdefault(part, "emulator")
    return found


def _is_emulated(value: str) -> bool:
    is_port = value.startswith("/") and str(Path(value).resolve()).startswith(
        "/dev/pts"
    )
    return is_port or value == "emucan"
