"""AdaptiX's levels between real and virtual (requirements X18)."""

import pytest

from paprle.contracts.reality_levels import LEVELS, find_parts, is_driven

ON = {  # real, simulated, environment, robot, and cues that were not wanted, or were
    1: (True, False, False, False, False, False),
    2: (True, False, False, False, True, True),
    3: (False, True, False, True, False, True),
    4: (True, False, True, False, False, True),
    5: (False, True, True, True, False, True),
}


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_commands_one_robot_and_draws_what_is_not_real(level):
    without, wanted = (find_parts(level, has_cues=on) for on in (False, True))

    assert (*without, wanted.cues) == ON[level]
    assert wanted._replace(cues=without.cues) == without
    assert without.real != without.simulated
    assert is_driven(without, "real") == without.real
    assert is_driven(without, "simulated"), "a real twin follows it"
