"""Selection of arrived datagrams to open."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from paprle.contracts.datagram import Address, get_address
from paprle.link.packets import has_form
from paprle.link.rates import Allowance

_OF_PEER = 256  # chosen: 0.8 ms of refusing them; a peer sends a tenth in a bad look
_OF_OTHER = 64  # chosen: of each other address; enough for whoever greets
_ANSWERS = 20.0  # [1/s] chosen: a host that waits asks five times a second
_AGAIN_NS = 150_000_000  # [ns] chosen: nobody asks again sooner
_N_CALLERS = 32  # chosen: hosts, and copies of their words, that are told apart


def choose(data: Sequence[bytes], peer: Address | None) -> list[bytes]:
    """Return each sender's newest datagrams, in order.

    Junk from the peer's address takes no room: it is refused by its form, at no cost.
    """
    if len(data) <= _OF_OTHER:
        return list(data)
    chosen: deque[bytes] = deque()
    counts: Counter[Address | None] = Counter()
    n_opened = 0
    for one in reversed(data):
        address = get_address(one)
        is_peer = address == peer
        if is_peer and not has_form(one):
            chosen.appendleft(one)
            continue
        counts[address] += 1
        most = _OF_PEER if is_peer else _OF_OTHER
        is_within = is_peer or n_opened < _OF_PEER
        if counts[address] <= most and is_within:
            chosen.appendleft(one)
            n_opened += 1
    return list(chosen)


class Callers:
    """Limiter of answered greetings per address."""

    def __init__(self) -> None:
        self._allowances: dict[Address | None, Allowance] = {}
        self._answered: dict[bytes, int] = {}

    def may_be_answered(
        self, nonce: bytes, address: Address | None, now_ns: int
    ) -> bool:
        """Count a greeting; return whether to answer it."""
        last_ns = self._answered.get(nonce)
        if last_ns is not None and 0 <= now_ns - last_ns < _AGAIN_NS:
            return False
        allowance = self._allowances.pop(address, None)
        allowance = allowance or Allowance(_ANSWERS, _ANSWERS)
        self._allowances[address] = allowance
        if len(self._allowances) > _N_CALLERS:
            del self._allowances[next(iter(self._allowances))]
        if not allowance.take(now_ns):
            return False
        self._answered.pop(nonce, None)
        self._answered[nonce] = now_ns
        if len(self._answered) > _N_CALLERS:
            del self._answered[next(iter(self._answered))]
        return True
