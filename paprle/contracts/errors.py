"""The error tree, raised before the loop, not inside it.

Messages read ``<where>: expected <X>, got <Y>; <what to do | what exists>``.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator, Sequence


class PaprleError(Exception):
    """Base of all deliberate errors."""


class ConfigError(PaprleError, ValueError):
    """Configuration is wrong; nothing was opened."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class PluginNotFound(PaprleError, LookupError):
    """No plug-in has that name."""


class PluginBroken(PaprleError):
    """A plug-in has no proper ``PLUGIN`` or class."""


class MissingDependency(PaprleError, ImportError):
    """A device needs the package that the message names."""


class DeviceError(PaprleError):
    """A device failed; the message names it and its port."""


class DeviceTimeout(DeviceError, TimeoutError):
    """A device did not answer in time."""


class CommandError(PaprleError, ValueError):
    """A command has the wrong shape or is not finite."""


class RecordingError(PaprleError):
    """An episode cannot be written, read or recovered."""


class SessionError(PaprleError):
    """A role of a running session failed or died."""


class StartRefused(SessionError):
    """A role refused to start; nothing has moved."""


@contextlib.contextmanager
def opening(where: str, install: str, *failures: type[Exception]) -> Iterator[None]:
    """Convert ImportError to MissingDependency and ``failures`` to DeviceError."""
    try:
        yield
    except ImportError as err:
        raise MissingDependency(
            f"{where}: expected the package {err.name}, got none; {install}"
        ) from err
    except failures as err:
        raise DeviceError(f"{where}: {err}") from err


def suggest(name: str, choices: Iterable[str], what: str = "there are") -> str:
    """Return a message's tail: the closest choice, then all."""
    known = sorted(choices)
    close = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean '{close[0]}'? " if close else ""
    return f"{meant}{what}: {', '.join(known) or 'none'}"
