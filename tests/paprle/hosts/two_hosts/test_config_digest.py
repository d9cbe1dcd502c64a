"""What a link is refused for before anything is opened."""

from __future__ import annotations

import pytest

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.hosts import check, plan
from paprle.hosts.plan import make_robot
from paprle.hosts.two_hosts.config_digest import identify
from paprle.hosts.two_hosts.serve import FollowerHost, serve
from paprle.ipc.records import make_gate_layout
from paprle.link.opening import make_link, read_key

TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "link.key"
    path.write_text("0123456789abcdef\n")
    path.chmod(0o600)
    return path


def make(*words):
    return resolve([*TRIPLE, *words])


def test_a_key_is_read_without_its_end_of_line(key):
    assert read_key(make(f"link.key={key}").link) == b"0123456789abcdef"


def test_a_key_that_others_may_read_is_refused(key):
    key.chmod(0o644)

    with pytest.raises(ConfigError, match="only their owner.*mode 644; make one with"):
        read_key(make(f"link.key={key}").link)


def test_a_short_key_is_refused(key):
    key.write_text("short")

    with pytest.raises(ConfigError, match="at least 16 bytes.*got 5"):
        read_key(make(f"link.key={key}").link)


@pytest.mark.parametrize("words", [(), ("link.key=/nowhere/link.key",)])
def test_a_missing_key_says_how_to_make_one(words):
    with pytest.raises(ConfigError, match="openssl rand -hex 32"):
        read_key(make(*words).link)


def test_serving_needs_to_know_for_whom():
    with pytest.raises(ConfigError, match=r"link\.peer: expected the leader host's"):
        serve(make())


def test_the_virtual_clock_has_no_other_host():
    with pytest.raises(ConfigError, match=r"session\.clock=wall"):
        check(make("link.peer=10.0.0.1", "session.clock=virtual"))


def test_both_ends_are_made_without_opening_anything(key):
    resolved = make("link.peer=10.0.0.1", f"link.key={key}")

    for is_leader in (True, False):
        link = make_link(resolved.link, "piper", is_leader=is_leader)
        assert link.name == "piper"


@pytest.mark.long
@pytest.mark.parametrize(
    "words, name",
    [("session.rate=100", "session.rate"), ("follower.limits.ddq_max=5.0", "limits")],
)
def test_hosts_that_differ_in_what_they_must_share_are_told_apart(words, name):
    def find(*words):
        resolved = make(*words)
        robot = make_robot(resolved).info
        return identify(resolved, robot, make_gate_layout(robot))

    ours = find()
    assert ours == find("link.domain=3")
    assert {k for k, v in find(words).items() if v != ours[k]} == {name}


def test_the_robots_host_needs_nothing_of_the_leader(key, monkeypatch):
    """Neither its files nor its SDK; a gate makes none of it either."""
    monkeypatch.setattr(plan, "make_leaders", None)
    words = ["leader=offline", "leader.path=/nowhere/at_all.csv", *TRIPLE[1:]]

    FollowerHost(resolve([*words, "link.peer=10.0.0.1", f"link.key={key}"]))
