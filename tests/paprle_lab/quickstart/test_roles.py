"""Roles of the found arms, by a motion, by the last time, or by a stand-in."""

import pytest
from scripted_rig import Person, ScriptedSearch, make_arm

from paprle.contracts.errors import ConfigError, DeviceError
from paprle_lab.quickstart.dialogue import Quit
from paprle_lab.quickstart.motion_watch import Moved
from paprle_lab.quickstart.rig import Arm, Rig
from paprle_lab.quickstart.roles import find_roles

A, B, C = "/dev/a", "/dev/b", "/dev/c"
NEW = Rig()
MOVED = (Moved(B),)
LAST = Rig(leader=Arm(port=B), follower=Arm(port=A))


def find(person, *paths, known=NEW, moved=MOVED):
    search = ScriptedSearch(*map(make_arm, paths))
    results = list(moved)

    def watch(_, watched):
        assert watched == list(paths)
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    return find_roles(search, dict.fromkeys(paths, False), known, person, watch)


def name(rig):
    return tuple(arm and arm.port for arm in (rig.leader, rig.follower))


def test_the_arm_that_moved_leads_and_the_other_follows():
    person = Person()

    assert name(find(person, A, B)) == (B, A)
    assert "Move the LEADER arm now" in person.text


def test_a_person_repeats_or_names_the_arm_after_none_moved():
    person = Person("1", "2")
    none = Moved(reason="expected an arm to turn")

    assert name(find(person, A, B, moved=[none, none])) == (A, B)
    assert person.text.count("expected an arm to turn") == 2


def test_a_port_that_went_away_leads_back_to_the_ports():
    person = Person()

    assert find(person, A, B, moved=[DeviceError("port '/dev/a': it hung up")]) is None
    assert "a port is gone: plug it in again" in person.text


def test_the_last_time_needs_a_yes_alone():
    person = Person("")

    assert name(find(person, A, B, known=LAST, moved=[])) == (B, A)
    assert f"As the last time: leader {B}, follower {A}?" in person.text


def test_a_person_who_denies_the_last_roles_moves_an_arm():
    assert name(find(Person("n"), A, B, known=LAST, moved=[Moved(A)])) == (A, B)


def test_an_arm_of_the_last_time_that_is_gone_is_not_taken():
    assert name(find(Person(), A, C, known=LAST, moved=[Moved(C)])) == (C, A)


def test_of_three_arms_the_follower_is_chosen():
    assert name(find(Person("2"), A, B, C)) == (B, C)


@pytest.mark.parametrize(
    ("answer", "roles"), [("1", None), ("2", (None, A)), ("3", (A, None))]
)
def test_one_arm_follows_or_leads_beside_a_named_stand_in(answer, roles):
    person = Person(answer)

    rig = find(person, A)

    assert (None if rig is None else name(rig)) == roles
    assert "it drives a SIMULATED SO-101" in person.text


def test_one_arm_has_the_role_of_the_last_time():
    assert name(find(Person(""), B, known=LAST)) == (B, None)
    assert name(find(Person(""), A, known=LAST)) == (None, A)


@pytest.mark.parametrize(("answer", "leads"), [("2", False), ("3", True)])
def test_without_an_arm_a_simulation_is_offered_as_one(answer, leads):
    person = Person(answer)

    rig = find(person)

    assert name(rig) == (None, None)
    assert rig.is_autopilot is leads
    assert person.text.count("SIMULATION") == 2


def test_an_absent_person_moves_no_arm():
    with pytest.raises(ConfigError, match="a person has to move the leader"):
        find(Person(is_brief=True), A, B, moved=[])
    rig = find(Person(is_brief=True), A, B, known=LAST, moved=[])
    assert name(rig) == (B, A)


@pytest.mark.parametrize("end", [Quit, KeyboardInterrupt])
def test_leaving_ends_at_any_question(end):
    with pytest.raises(end):
        find(Person(end), A)
