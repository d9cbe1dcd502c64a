"""The table of processes: its rows, their order, and its page."""

from __future__ import annotations

import pytest

from paprle.config import resolve
from paprle.hosts.roles import (
    IfLost,
    list_ports,
    list_roles,
    list_served,
    make_gate_role,
)
from paprle.ipc.process import WORKSPACE
from paprle.ipc.records import make_layout

PIPER = ("follower=piper", "env=kinematic")
ALONE = ("leader=autopilot", *PIPER)
MIX = ("leader=mix", *PIPER)
MIX += ("leaders.left.type=autopilot", "leaders.file.type=offline")
RECORDED = ("record.dir=out",)
TOLD = ("observers.ros={}",)
SEEN = ("advisors.tags.type=markers", "advisors.tags.poses=cell.yaml")
SEEN += ("cameras.front.type=pictures", "cameras.front.folder=taken")
CONTROLLED = ("console=on",)
EVERYTHING = (*MIX, *RECORDED, *TOLD, *SEEN, *CONTROLLED)
PAGE = WORKSPACE / "docs/architecture.md"


def list_names(*words):
    return [role.name for role in list_roles(resolve(words))]


def test_a_session_of_one_leader_has_a_gate_and_a_leader():
    assert list_names(*ALONE) == ["gate", "leader"]


def test_each_leader_and_each_observer_is_a_process_of_its_own():
    names = list_names(*MIX, *RECORDED, *TOLD)

    assert names == ["observer:ros", "recorder", "gate", "leader:left", "leader:file"]


def test_the_leaders_end_first_then_the_gate_then_the_recorder():
    names = list_names(*ALONE, *RECORDED, *TOLD)[::-1]

    assert names == ["leader", "gate", "recorder", "observer:ros"]


def test_each_advisor_and_each_camera_is_a_process_that_nobody_waits_for():
    rows = [r for r in list_roles(resolve((*ALONE, *SEEN))) if ":" in r.name]

    assert [row.name for row in rows] == ["camera:front", "advisor:tags"]
    assert [row.if_lost for row in rows] == [IfLost.RESTART, IfLost.WARN]
    assert "frames:front" in rows[1].reads


def test_a_page_that_somebody_acts_with_is_started_again_and_others_are_not():
    rows = {r.name: r for r in list_roles(resolve((*ALONE, *TOLD, *CONTROLLED)))}
    page, other, leader = rows["observer:view"], rows["observer:ros"], rows["leader"]

    assert (page.if_lost, page.writes) == (IfLost.RESTART, ("wishes:view",))
    assert (other.if_lost, other.writes) == (IfLost.WARN, ())
    assert "wishes:view" in leader.reads


def test_a_camera_that_is_not_recorded_codes_nothing():
    words = (*ALONE, *RECORDED, *SEEN)
    [filmed] = [r for r in list_roles(resolve(words)) if r.name == "camera:front"]
    [other] = [
        r
        for r in list_roles(resolve((*words, "cameras.front.video=none")))
        if r.name == "camera:front"
    ]

    assert "footage:front" in filmed.writes
    assert "recording" in filmed.reads
    assert other.writes == ("frames:front",)


def test_everything_that_is_read_is_written_by_the_session_or_one_process():
    roles = list_roles(resolve(EVERYTHING))
    written = [port for role in roles for port in role.writes]
    sessions = {"setpoint", "tick", "feedback", "anchors", "session_ring", "news"}

    assert len(written) == len(set(written))
    assert not sessions & set(written)
    for role in roles:
        assert set(role.reads) <= sessions | set(written), role.name


def test_every_port_of_a_row_is_made():
    roles = list_roles(resolve((*MIX, *RECORDED, *TOLD)))
    layout = make_plan_layout()
    ports = list_ports(layout, ("left", "file"))

    assert {port for role in roles for port in (*role.reads, *role.writes)} <= set(
        ports
    )


def make_plan_layout():
    from lock_step import HUMAN, PIPER  # noqa: PLC0415 - loads a robot

    from paprle.contracts.kit.leader_group import merge_leaders  # noqa: PLC0415

    return make_layout(PIPER.info, merge_leaders({"left": HUMAN, "file": HUMAN}))


def test_a_ring_has_one_reader():
    roles = list_roles(resolve((*MIX, *RECORDED, *TOLD)))

    read = [port for role in roles for port in role.reads if port.endswith("_ring")]
    assert len(read) == len(set(read))


@pytest.mark.parametrize("words", [(), ("link.peer=10.0.0.1",)], ids=["near", "far"])
def test_the_gate_or_its_stand_in_have_the_same_ports(words):
    [gate] = [r for r in list_roles(resolve((*ALONE, *words))) if r.name == "gate"]
    other = make_gate_role(is_remote=not words)

    assert gate.module != other.module
    assert (gate.reads, gate.writes) == (other.reads, other.writes)
    assert gate.if_lost is IfLost.END


def test_the_page_shows_the_table():
    lines = [
        "| process | reads | writes | begins after | when it dies |",
        "|---|---|---|---|---|",
    ]
    for role in list_roles(resolve(EVERYTHING))[::-1]:
        kind, _, instance = role.name.partition(":")
        controls = " with controls" if kind == "observer" and role.writes else ""
        cells = [
            f"`{kind}:NAME`{controls}" if instance else f"`{kind}`",
            *map(show, (role.reads, role.writes, role.starts_after)),
            role.if_lost.value,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    table = "\n".join(dict.fromkeys(lines))

    assert table in PAGE.read_text(), f"{PAGE.name}: write this there:\n{table}"


def show(names):
    kinds = (
        f"{name.partition(':')[0]}:NAME" if ":" in name else name for name in names
    )
    return ", ".join(f"`{name}`" for name in kinds) or "–"


def test_beside_a_served_gate_run_cameras_only_for_an_observer_that_sees():
    sight = ("observers.sight.key=link.key", "observers.sight.video=false")
    pytest.importorskip("cv2")

    blind = list_served(resolve((*ALONE, *SEEN, *TOLD)))
    seeing = list_served(resolve((*ALONE, *SEEN, *TOLD, *sight)))

    assert [row.name for row in blind] == ["gate"]
    names = ["observer:sight", "camera:front", "gate"]
    assert [row.name for row in seeing] == names
    assert seeing[0].reads == ("frames:front",)


def test_only_a_leader_that_looks_is_shown_cameras():
    words = ("leader=mix", "leaders.a.type=policy", "leaders.a.function=m:f")
    words += ("leaders.b.type=autopilot", "cameras.front.type=mujoco", *PIPER)
    reads = {role.name: role.reads for role in list_roles(resolve(words))}

    assert "frames:front" in reads["leader:a"]
    assert "frames:front" not in reads["leader:b"]


@pytest.mark.parametrize(
    ("word", "shutdown", "is_left_slowly"),
    [("autopilot", 2.0, False), ("openarm", 4.5, True), ("yam", 4.5, True)],
)
def test_an_arm_that_sinks_has_time_for_it(word, shutdown, is_left_slowly):
    leader = list_roles(resolve((f"leader={word}", *PIPER)))[-1]

    assert leader.shutdown == shutdown
    assert leader.is_left_slowly is is_left_slowly
