"""Settings of the socket."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Unit, doc

from paprle.contracts.settings.base import settings


@settings
class SocketConfig:
    """Path of the socket."""

    path: Annotated[str, Unit("path"), doc("The Unix socket on which it listens.")]
