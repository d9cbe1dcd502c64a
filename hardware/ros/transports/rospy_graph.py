"""Graph of ROS 1, polled from its master."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

_PERIOD = 0.2  # [s] chosen: how often the master is asked
_PATIENCE = 2.0  # [s] chosen: the longest wait for the thread at the end
_ANSWER = 0.1  # [s] chosen: a node that is slower than this is not dead
_BLIND = 2.0  # [s] chosen: ten askings; a graph that is older tells nothing of now


class MasterWatch:
    """Polling thread.

    Attributes:
        graph: Nodes by topic: publishers, subscribers.
    """

    def __init__(self, master: Any, period: float = _PERIOD) -> None:
        """Poll every ``period`` [s] until ``close``."""
        self._master, self._period = master, period
        self.n_unanswered = 0
        self._why = ""
        self.graph, self._asked = self._ask(), time.monotonic()
        self._must_end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ros master")
        self._thread.start()

    @property
    def trouble(self) -> str:
        """Reason that the graph is unknown, or empty."""
        age = time.monotonic() - self._asked
        if age < _BLIND:
            return ""
        return f"ROS master silent for {age:.0f} s {self._why}".rstrip()

    def close(self) -> None:
        """End the thread."""
        self._must_end.set()
        self._thread.join(_PATIENCE)

    def _ask(self) -> list[dict[str, set[str]]]:
        state = self._master.getSystemState()[:2]
        named = {node for part in state for _, nodes in part for node in nodes}
        dead = {node for node in named if self._is_dead(node)}
        return [{topic: set(nodes) - dead for topic, nodes in part} for part in state]

    def _is_dead(self, node: str) -> bool:
        try:
            where = urlsplit(self._master.lookupNode(node))
            address = (where.hostname or "", where.port or 0)
            with socket.create_connection(address, _ANSWER):
                return False
        except ConnectionRefusedError:
            return True
        except Exception:  # noqa: BLE001 - xmlrpc passes on whatever a master says
            return False  # who is not known to be dead counts

    def _watch(self) -> None:
        while not self._must_end.wait(self._period):
            try:
                self.graph, self._asked = self._ask(), time.monotonic()
            except Exception as err:  # noqa: BLE001 - a thread that ended would see nobody
                self.n_unanswered += 1
                self._why = f"({type(err).__name__})"
