"""Access by ``Origin``, ``Host`` and each start's token."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

_GUESSES = 5  # spec: safety.md 9.1: wrong tokens of one address a minute
_MINUTE_NS = 60_000_000_000
_MOST_ADDRESSES = 1024  # chosen: an attacker's addresses cost no more memory
_TOKEN_BYTES = 16  # chosen: 128 bits cannot be guessed


def make_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Refusal(NamedTuple):
    """HTTP status and a reason in one word."""

    status: int
    why: str


class Door:
    """Admission with the token.

    Attributes:
        refused: By reason.
    """

    def __init__(
        self, hosts: Mapping[str, str], clock: Callable[[], int], token: str = ""
    ) -> None:
        """Take origins by host and port, and a clock, [ns]."""
        self.token = token or make_token()
        self.refused: Counter[str] = Counter()
        self._hosts, self._clock = dict(hosts), clock
        self._guesses: dict[str, dict[bytes, int]] = {}

    def check_host(self, host: str | None) -> Refusal | None:
        """Refuse another host name."""
        if host is None or host.lower() not in self._hosts:
            return self._refuse(421, "host")
        return None

    def admit(
        self, host: str | None, origin: str | None, token: str | None, address: str
    ) -> Refusal | None:
        """Return a request's refusal, or None."""
        refusal = self.check_host(host)
        if refusal is not None:
            return refusal
        if host is None or origin != self._hosts[host.lower()]:
            return self._refuse(403, "origin")
        return self.check_token(token, address)

    def check_token(self, token: str | None, address: str) -> Refusal | None:
        """Refuse a wrong token, and a guessing address."""
        shown = (token or "").encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(shown).digest()
        guesses = self._list_guesses(address)
        if secrets.compare_digest(shown, self.token.encode()):
            return None  # however many others guessed from its address
        is_old = digest in guesses  # a tab of another start, which asks on and on
        if len(guesses) >= _GUESSES and not is_old:
            return self._refuse(429, "tries")
        guesses[digest] = self._clock()
        return self._refuse(401, "token")

    def refuse_busy(self) -> Refusal:
        """Refuse a client while another commands."""
        return self._refuse(409, "busy")

    def _list_guesses(self, address: str) -> dict[bytes, int]:
        # The same one again is no other guess: an address is not shut for its old tab.
        since = self._clock() - _MINUTE_NS
        before = self._guesses.pop(address, {})
        guesses = {digest: t for digest, t in before.items() if t > since}
        self._guesses[address] = guesses  # the newest are last
        while len(self._guesses) > _MOST_ADDRESSES:
            self._guesses.pop(next(iter(self._guesses)))
        return guesses

    def _refuse(self, status: int, why: str) -> Refusal:
        self.refused[why] += 1
        return Refusal(status, why)
