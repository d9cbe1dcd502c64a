"""A host that has the key says anything: the other one counts it and goes on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linked_step import LinkedStep

from paprle.link.handshake import find_difference
from paprle.link.packets import DatagramKind

DEEP = b"[" * 3000


def tell(session, kind, payload, *, from_robot):
    """Let one end hear a sealed datagram of the other."""
    now = session.clock()
    sender, hearer = session.near, session.far
    if from_robot:
        sender, hearer, now = session.far, session.near, now + session.skew_ns
    data = sender._sealer.seal(kind, payload, now, sender.clock.make_echo(now))
    hearer.receive([data], now)


@pytest.fixture(scope="module")
def met():
    return LinkedStep().step(60)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"no JSON",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'"ready"',
        b'{"event": 5}',
        b'{"event": "ready", "rate": "200"}',
        b'{"event": "ready", "rate": NaN}',
        b'{"event": "ready", "lag": 1e999}',
        b'{"event": "error", "message": []}',
        DEEP,
    ],
    ids=lambda payload: repr(payload[:24]),
)
def test_an_invalid_sealed_report_is_counted(met, payload):
    met.near.reports.clear()
    before = met.near.refused["malformed"]

    tell(met, DatagramKind.REPORT, payload, from_robot=True)

    assert met.near.refused["malformed"] == before + 1
    assert met.near.reports == []


def test_a_report_after_an_invalid_one_is_read(met):
    met.near.reports.clear()
    tell(met, DatagramKind.REPORT, b"no JSON", from_robot=True)
    said = {"event": "trouble", "message": "hot", "lag": None, "what": [1]}

    tell(met, DatagramKind.REPORT, json.dumps(said).encode(), from_robot=True)

    assert met.near.reports == [{"event": "trouble", "message": "hot", "lag": None}]


@given(
    st.sampled_from(sorted(set(DatagramKind) - {DatagramKind.BYE, DatagramKind.HELLO})),
    st.binary(max_size=300)
    | st.recursive(
        st.none() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()[:3000]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_no_sealed_payload_of_any_kind_ends_a_host(met, kind, payload, from_robot):
    tell(met, kind, payload, from_robot=from_robot)


@pytest.mark.parametrize("said", [DEEP, b"{" * 2000, b'{"version": ' + DEEP])
def test_terms_that_are_nested_too_deeply_are_another_version(said):
    assert "got another" in find_difference({"version": "1"}, said)
