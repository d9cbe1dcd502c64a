"""The contract of any follower, of two ideal arms that are one robot."""

from mixed_arms import make_follower
from shaky_arm import FAILS

from paprle.testing import FollowerContract


class TestMix(FollowerContract):
    tolerance = 1e-9

    def make_follower(self, clock):
        return make_follower(clock=clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        FAILS.add(("right_arm", "silent"))


class TestMixOfOneThatGoesOn(FollowerContract):
    tolerance = 1e-9

    def make_follower(self, clock):
        both = {"goes_on": True}
        return make_follower(both, both, clock=clock)
