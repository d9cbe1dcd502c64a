"""Terms that both hosts must share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from paprle.link.reports import read_json

REMEDY = "give both hosts the same words and configs for the follower and session.rate"
_DIGITS = 16  # chosen: 64 bits; it guards against mistakes, the key against others


def make_digest(*parts: object) -> str:
    """Return a short hash of the parts."""
    return sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:_DIGITS]


def pack_terms(terms: Mapping[str, str]) -> bytes:
    """Return the terms as bytes."""
    return json.dumps(dict(terms), sort_keys=True).encode()


def find_difference(ours: Mapping[str, str], data: bytes, remedy: str = REMEDY) -> str:
    """Return a message on differing terms, or empty."""
    theirs = read_json(data)
    if not isinstance(theirs, dict):  # it says them in another way
        theirs = {"version": "another"}
    if theirs == ours:
        return ""
    if theirs.get("version") != ours.get("version"):  # all else follows from it
        return (
            f"expected the robot's paprle {ours.get('version')}, got "
            f"{theirs.get('version')}; install the same on both hosts"
        )
    names = [k for k in sorted({*ours, *theirs}) if ours.get(k) != theirs.get(k)]
    expected = ", ".join(f"{name} {ours.get(name)}" for name in names)
    got = ", ".join(str(theirs.get(name)) for name in names)
    return f"expected {expected} as at the robot, got {got}; {remedy}"
