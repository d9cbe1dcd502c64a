"""Import of user code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from paprle.contracts.errors import DeviceError


def load_callable(name: str, key: str) -> Callable[..., Any]:
    """Return the imported ``module:name``; a class is instantiated.

    Raises:
        DeviceError: If it cannot be imported or called.
    """
    module, _, attribute = name.partition(":")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)  # as ``python -m`` would find it
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        made = found() if isinstance(found, type) else found
    except Exception as err:  # it is anybody's code
        raise DeviceError(
            f"{key}: expected to load '{name}' (module:name), got "
            f"{type(err).__name__}: {err}"
        ) from err
    if not callable(made):
        raise DeviceError(
            f"{key}: expected something to call, got '{name}', a {type(made).__name__}"
        )
    loaded: Callable[..., Any] = made
    return loaded
