"""The error tree.

::

    PaprleError
    ├── ConfigError(ValueError)          before anything is opened; lists all problems
    ├── PluginNotFound(LookupError)      lists what exists
    ├── PluginBroken                     a plug-in without a proper PLUGIN or class
    ├── MissingDependency(ImportError)   says the command that installs it
    ├── DeviceError                      a device failed; carries its name and port
    │   └── DeviceTimeout(TimeoutError)
    ├── CommandError(ValueError)         a malformed command: shape, not finite
    ├── RecordingError                   an episode cannot be written or read
    └── SessionError                     a role of a running session failed
        └── StartRefused                 a role would not start; nothing has moved

Messages read ``<where>: expected <X>, got <Y>; <what to do | what exists>``.
Errors are raised before the loop; inside it nothing raises on purpose.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator, Sequence


class PaprleError(Exception):
    """Base of all errors that this project raises on purpose."""


class ConfigError(PaprleError, ValueError):
    """Configuration is wrong; nothing was opened.

    Attributes:
        problems: Every problem found, one line each.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class PluginNotFound(PaprleError, LookupError):
    """No plug-in of that name; the message lists those that exist."""


class PluginBroken(PaprleError):
    """A plug-in is there, but what it announces is not."""


class MissingDependency(PaprleError, ImportError):
    """A device needs a package that is not installed; the message says which."""


class DeviceError(PaprleError):
    """A leader or follower device failed; the message names it and its port."""


class DeviceTimeout(DeviceError, TimeoutError):
    """A device did not answer in time."""


class CommandError(PaprleError, ValueError):
    """A command is malformed: wrong shape, or not finite."""


class RecordingError(PaprleError):
    """An episode cannot be written, read or recovered."""


class SessionError(PaprleError):
    """A role of a running session failed or died."""


class StartRefused(SessionError):
    """A role would not start, in words of its own; nothing has moved."""


@contextlib.contextmanager
def opening(where: str, install: str, *failures: type[Exception]) -> Iterator[None]:
    """Convert failures of a driver to open into errors of this tree.

    Args:
        where: The plug-in.
        install: The command that installs what it needs.
        *failures: Exceptions that its driver raises.

    Yields:
        Nothing.

    Raises:
        MissingDependency: If a package is not installed.
        DeviceError: If the driver failed.
    """
    try:
        yield
    except ImportError as err:
        raise MissingDependency(
            f"{where}: expected the package {err.name}, got none; {install}"
        ) from err
    except failures as err:
        raise DeviceError(f"{where}: {err}") from err


def suggest(name: str, choices: Iterable[str], what: str = "there are") -> str:
    """Return the tail of a message: what was meant perhaps, and what exists."""
    known = sorted(choices)
    close = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean '{close[0]}'? " if close else ""
    return f"{meant}{what}: {', '.join(known) or 'none'}"
