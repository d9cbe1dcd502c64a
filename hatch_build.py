"""Build hook of the wheel."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EditableHook(BuildHookInterface):
    """Leaves copies of the clone's folders out of editable installs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Replace the folders of force-include by one file, since none means all."""
        if version == "editable":
            marker = "paprle/py.typed"
            build_data["force_include_editable"] = {marker: marker}
