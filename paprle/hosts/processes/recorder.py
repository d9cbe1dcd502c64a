"""The recorder process, which outlives session and gate."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.hosts.factories import (
    RING_BYTES,
    list_objects,
    list_placed,
    make_camera,
    make_leaders,
    read_payload,
    wait_for_others,
)
from paprle.hosts.roles import (
    FOOTAGE,
    GATE,
    GATE_RING,
    RECORDING,
    SESSION_RING,
    list_filmed,
)
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.pictures import RECORDING_DTYPE, find_room
from paprle.ipc.ports import name_port
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import make_layout
from paprle.recording.header import make_recording_header
from paprle.recording.manifest import find_mark
from paprle.recording.recorder import Recorder
from paprle.recording.tracks import camera_to_dict
from paprle.recording.video.footage import FootageRecorder

_POLL = 0.005  # [s] chosen: well below record.flush
_POLL_IDLE = 0.02  # [s] chosen: between episodes nothing reaches a disk
_N_FACTS = 3  # chosen: those before were told already
_GATE_BRAKES = 6.0  # [s] chosen: longer than the gate takes to brake and close


def main(role: Role) -> None:
    """Host the recorder until session and gate have ended."""
    resolved, robot = read_payload(role.payload)
    leaders = make_leaders(resolved, robot=robot)
    leader = merge_leaders({name: one.info for name, one in leaders.items()})
    said = wait_for_others(role)
    if said is None:
        return  # the session gave up before the gate was ready
    header = make_recording_header(
        config=role.payload["config"],
        names={
            "leader": resolved.leader_name,
            "follower": resolved.follower_name,
            "env": resolved.env_name,
        },
        robot=robot,
        leader=leader,
        objects=list_objects(resolved),
        gate_period=1.0 / float(said[GATE]["rate"]),
    )
    header["leader_notes"] = [note for one in leaders.values() for note in one.notes]
    objects, placed = list_objects(resolved), list_placed(resolved)
    layout = make_layout(robot, leader, objects, placed)
    rings = [Ring(RING_BYTES, role.fds[name]) for name in (SESSION_RING, GATE_RING)]
    footage = _open_footage(role, resolved)
    header["cameras"] = _describe_cameras(resolved)
    recorder = Recorder(resolved.record, layout, header, rings, footage=footage)
    role.report("ready")
    reason = _record(role, recorder)
    recorder.finish(reason, time.monotonic_ns())
    _report(role, recorder, "")


def _describe_cameras(resolved: Resolved) -> dict[str, Any]:
    configs = list_named(resolved.cameras)
    return {
        name: camera_to_dict(
            make_camera(resolved, name).info, configs[name].type, configs[name].video
        )
        for name in list_filmed(resolved)
    }


def _open_footage(role: Role, resolved: Resolved) -> FootageRecorder:
    rings = {
        name: Ring(
            find_room(make_camera(resolved, name).info),
            role.fds[name_port(FOOTAGE, name)],
        )
        for name in list_filmed(resolved)
    }
    level = Mailbox(RECORDING_DTYPE, role.fds[RECORDING])

    def tell(episode: int, is_on: bool) -> None:
        level.write(np.array((episode, is_on), RECORDING_DTYPE))

    before = level.read()
    n_before = 0 if before is None else int(before["episode"])
    return FootageRecorder(_describe_cameras(resolved), rings, tell, n_before)


def _record(role: Role, recorder: Recorder) -> str:
    told, end = "", float("inf")
    while time.monotonic() < end:
        recorder.step(time.monotonic_ns())
        told = _report(role, recorder, told)
        if end == float("inf") and is_closed(role.fds["session_alive"]):
            end = time.monotonic() + _GATE_BRAKES
        if end < float("inf") and is_closed(role.fds["gate_alive"]):
            break
        time.sleep(_POLL if recorder.is_recording else _POLL_IDLE)  # noqa: TID251 - this loop waits for the rings
    return "session died"


def _report(role: Role, recorder: Recorder, told: str) -> str:
    text = recorder.failure or recorder.warning
    marks = [find_mark(manifest) for manifest in recorder.manifests.values()]
    notes = [len(one.get("notes", ())) for one in recorder.manifests.values()]
    state = f"{text}|{recorder.path}|{marks}|{notes}"
    if state != told:
        role.report(
            "recording",
            failure=recorder.failure,
            warning=recorder.warning,
            dropped={name: n for name, n in recorder.count_dropped().items() if n},
            path=str(recorder.path or ""),
            episodes=[str(path) for path in recorder.manifests],
            marks=marks,
            facts={
                str(path): _list_facts(one)
                for path, one in list(recorder.manifests.items())[-_N_FACTS:]
            },
        )
    return state


def _list_facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    notes = [note["text"] for note in manifest.get("notes", ())]
    own = {"notes": notes} if notes else {}
    return {
        "episode": manifest.get("session_episode"),
        "seconds": manifest["duration"],
        "task": manifest.get("task", ""),
        "lost": sum(manifest.get("dropped", {}).values()),
        **own,
    }


if __name__ == "__main__":
    run_role(main)
