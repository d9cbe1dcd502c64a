"""Common parts of verbs; imports nothing heavy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.extensions import load_extension
from paprle.contracts.kit.text import make_printable
from paprle.hosts.operator.slow_work import SlowWork

if TYPE_CHECKING:
    from paprle.contracts.plugins import Device

EXIT_CODES = """\
exit codes:
  0  done, or ended by the operator
  1  failed
  2  refused before anything moved: a wrong name, key, value, file or pair, or a
     device that is missing, faulty, or may not be driven
  3  the session lost a process or a device
  4  ended in a latched stop
  5  the follower could not align with the leader, no progress was made, or, led by
     a program or a file, it missed its target most of the time
  6  it went well, but a part of the recording that was asked for is missing
  128+n  ended by signal n (130: Ctrl-C)"""

SETTINGS = """\
settings, in any order; the last one of a key wins:
  leader=NAME    the operator's device: configs/leader/NAME.yaml, or a plug-in;
                 mix: several, leaders.<name>.type=NAME leaders.<name>.<key>=value
  follower=NAME  the robot: configs/follower/NAME.yaml
  env=NAME       its environment: configs/env/NAME.yaml, or a plug-in
                 each may be the path of a YAML, the follower that of a URDF, too:
                 follower=./arm.yaml, follower=./arm.urdf
  key=value      any key of the merged config, for example session.rate=200,
                 leader.speed=0.5, record.dir=OUT, retarget.limb_map='{left: hand}'
  `paprle list` shows all names, `paprle config leader=… follower=… env=…` all keys."""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A verb of the command line; ``run`` returns the exit code."""

    name: str
    summary: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]

    def parse(self, args: list[str]) -> argparse.Namespace:
        """Return parsed arguments; options may stand between settings.

        Raises:
            ConfigError: If one is unknown.
        """
        found, unknown = self.make_parser().parse_known_intermixed_args(args)
        if unknown:
            raise ConfigError([self._describe_unknown(word) for word in unknown])
        if any(_names_urdf(word) for word in getattr(found, "settings", ())):
            found.settings = _replace_urdfs(found.settings)
        return found

    def make_parser(self) -> argparse.ArgumentParser:
        """Return the argument parser."""
        parser = argparse.ArgumentParser(
            prog=f"paprle {self.name}",
            description=self.summary,
            epilog=self.help,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_arguments(parser)
        return parser

    def _describe_unknown(self, word: str) -> str:
        told = f"paprle {self.name}: unknown option '{word}'"
        name, equals, value = word.lstrip("-").partition("=")
        if not equals:
            return f"{told}; see paprle {self.name} --help"
        named = {"robot.type": "follower", "teleop.type": "leader"}.get(name, name)
        return f"{told}; settings have no dashes: {named}={value or '…'}"


def _names_urdf(word: str) -> bool:
    return word.startswith("follower=") and word.endswith((".urdf", ".xacro"))


def _replace_urdfs(settings: list[str]) -> list[str]:
    provide_yaml = load_extension("paprle.onboarding", "urdf", "follower=….urdf")
    replaced = []
    for word in settings:
        if _names_urdf(word):
            with SlowWork("reading the URDF") as work:
                urdf = Path(word.removeprefix("follower="))
                yaml, told = provide_yaml(urdf, work)
            sys.stderr.write("".join(f"{line}\n" for line in told))
            word = f"follower={yaml}"  # noqa: PLW2901 - the same word, at last
        replaced.append(word)
    return replaced


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Declare ``key=value …``."""
    parser.add_argument("settings", nargs="*", metavar="key=value", help="see below")


def print_closing_notes(device: Device) -> None:
    """Print a device's closing notes."""
    for text in device.closing_notes:
        say(text)


def say(text: str) -> None:
    """Write text to the terminal."""
    text = make_printable(text)
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def complain(text: str) -> None:
    """Write problems to the standard error."""
    text = make_printable(text)
    for line in text.splitlines() or [text]:
        sys.stderr.write(f"error: {line}\n")
