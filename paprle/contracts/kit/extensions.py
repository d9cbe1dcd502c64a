"""Entry points by which other packages extend the command line and the library.

Each group has one kind of extension:

* ``paprle.verbs``: tables of verbs, as ``paprle.cli.app.VERBS``;
* ``paprle.onboarding``: functions that write the YAML of a bare URDF, for sessions and
  ``RobotModel.enclose_meshes``;
* ``paprle.viewers``: functions that show an episode in another program.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from paprle.contracts.errors import MissingDependency


def load_verbs() -> dict[str, Mapping[str, tuple[str, str]]]:
    """Return the tables of verbs of other packages, by the package that has them."""
    found = entry_points(group="paprle.verbs")
    return {entry.module: entry.load() for entry in found}


def load_extension(group: str, name: str, purpose: str) -> Any:
    """Load an extension.

    Args:
        group: Its group of entry points.
        name: Its name there.
        purpose: The request that needs it, for the message.

    Returns:
        The object that the entry point names.

    Raises:
        MissingDependency: If no installed package has it.
    """
    for entry in entry_points(group=group, name=name):
        return entry.load()
    raise MissingDependency(
        f"{purpose}: expected the package paprle_lab, got none; "
        "reinstall it with: pip install --force-reinstall paprle"
    )
