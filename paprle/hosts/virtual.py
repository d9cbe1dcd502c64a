"""Leaders, tick, gate and simulated follower in one process, in lock-step.

The loop advances the time, so runs are bit-identical.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from paprle.config import Resolved
from paprle.contracts.device import Device
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.far_leader import FarLeader, tells_life
from paprle.contracts.kit.leader_group import list_rows
from paprle.contracts.observing_leader import SeeingLeader, Sight, Window
from paprle.contracts.types import Actions, FollowerInfo
from paprle.haptics.cues import CueSource
from paprle.hosts.operator.action_counters import Presses
from paprle.hosts.operator.progress import Progress
from paprle.hosts.operator.status import print_line
from paprle.hosts.plan import (
    SessionPlan,
    make_controller,
    make_follower,
    make_plan,
)
from paprle.hosts.roles import LEADER
from paprle.hosts.views.view import make_view
from paprle.hosts.virtual_advisors import Advised
from paprle.ipc.feedback_record import narrow_feedback
from paprle.ipc.ports import name_port
from paprle.ipc.records import Record, Stream, pack_sample, split_layout
from paprle.recording.header import make_recording_header
from paprle.recording.manifest import find_mark
from paprle.recording.recorder import Recorder

_SHOWN_EACH = 4  # chosen: leaders afar see every 20 ms of 200 Hz
_RECORDED_NS = 100_000_000  # chosen: records are sorted and written many at a time
_LONGEST = 24 * 3600 * 10**9  # [ns] chosen: a run that never ends is a mistake


class VirtualClock:
    """Monotonic time that the loop sets, [ns]."""

    def __init__(self) -> None:
        self.now_ns = 10**9

    def __call__(self) -> int:
        """Return the time, [ns]."""
        return self.now_ns


class ListRing:
    """The recorder's ring, inside one process."""

    def __init__(self) -> None:
        self._records: list[tuple[int, bytes]] = []
        self.dropped: dict[int, int] = {}

    def push(self, kind: int, payload: bytes) -> bool:
        """Append a record."""
        self._records.append((kind, payload))
        return True

    def drain(self) -> list[tuple[int, bytes]]:
        """Return the records since the last call."""
        records, self._records = self._records, []
        return records


class VirtualSession:
    """A session on one virtual clock."""

    def __init__(
        self,
        resolved: Resolved,
        say: Callable[[str], None] = print_line,
        *,
        has_operator: bool = False,
        is_thrown_away: bool = False,
    ) -> None:
        """Open everything.

        Raises:
            ConfigError: If parts do not fit or cannot be opened.
        """
        self._say = say
        self.clock = VirtualClock()
        self.plan: SessionPlan = make_plan(resolved, self.clock)
        self.follower = make_follower(resolved, self.plan.robot, self.clock)
        self._newest: tuple[Record, Record] | None = None
        window = Window(self.look, {}, self.plan.layout.objects, is_waited_for=True)
        for leader in self.plan.leaders.values():
            if isinstance(leader, SeeingLeader):
                leader.watch(window)
        self._ring = ListRing()
        self._advised = Advised(
            resolved, self.plan.robot.info, self.plan.layout, self.clock
        )
        # before they are open: an open one may tell what opens its door to others
        leaders = self.plan.leaders.values()
        self._notes = [note for leader in leaders for note in leader.notes]
        info = self._open_devices()
        self._tick_ns = round(1e9 / resolved.session.rate)
        self.gate_ns = round(1e9 / info.rate)
        self._controller = make_controller(
            resolved, self.plan.robot, self.follower, info, self.plan.layout
        )
        self._layouts = split_layout(self.plan.layout)
        infos = {name: one.info for name, one in self.plan.leaders.items()}
        self._rows = list(list_rows(infos).values())
        self._far = [one for one in leaders if isinstance(one, FarLeader)]
        self._presses = Presses(len(self._layouts))
        self.core = self.plan.make_core(
            session_id=1, is_interactive=has_operator or self.plan.has_buttons
        )
        self.actions = Actions()
        self._progress = Progress(self.core, self.plan, None)
        self._record_ns = 0
        self._is_felt = any(
            one.is_human or one.renders != "none" for one in infos.values()
        )
        self._cues = CueSource(
            self.plan.robot.info,
            self.plan.layout,
            resolved.feedback,
            resolved.gate.clearance_scene,
        )
        self.recorder = self._make_recorder(info.rate)
        if self.recorder is not None:
            self.recorder.has_prefix = not is_thrown_away
        self.is_over = False
        self.status = self._controller.step(None, self.clock.now_ns)
        self._setpoint: Record | None = None
        self.next_tick_ns = self.next_gate_ns = self.clock.now_ns

    def look(self) -> Sight | None:
        """Return the newest sight; None before the first tick."""
        if self._newest is None:
            return None
        tick, status = self._newest
        return Sight(make_view(self.plan.layout, tick, status, self.clock.now_ns), {})

    def _open_devices(self) -> FollowerInfo:
        env = self.plan.resolved.env_name
        try:
            info = self.follower.open()
            if not info.simulated:
                raise ConfigError(
                    f"session.clock: expected 'wall' for env '{env}', got 'virtual'; a "
                    "real robot does not wait for virtual time"
                )
            for leader in self.plan.leaders.values():
                leader.open()
            self._advised.open()
        except (DeviceError, ConfigError) as err:
            self.follower.close("hold")
            raise ConfigError(str(err)) from err
        return info

    def _make_recorder(self, gate_rate: float) -> Recorder | None:
        resolved = self.plan.resolved
        if resolved.record.dir is None:
            return None
        header = make_recording_header(
            config=resolved.to_dict(),
            names={
                "leader": resolved.leader_name,
                "follower": resolved.follower_name,
                "env": resolved.env_name,
            },
            robot=self.plan.robot.info,
            leader=self.plan.layout.leader,
            gate_period=1.0 / gate_rate,
            objects=self.plan.layout.objects,
        )
        header["leader_notes"] = self._notes
        return Recorder(resolved.record, self.plan.layout, header, [self._ring])

    def run(self) -> str:
        """Run to the end and return the end reason."""
        for leader in self.plan.leaders.values():
            for note in leader.notes:
                self._say(note)
        while not self.is_over and self.clock.now_ns < _LONGEST:
            self.step()
        self.close()
        return self.core.end_reason

    def step(self) -> None:
        """Advance to the next tick or gate period."""
        self.clock.now_ns = min(self.next_tick_ns, self.next_gate_ns)
        if self.clock.now_ns == self.next_tick_ns:
            self._setpoint, self.is_over = self._tick(self.status)
            self.next_tick_ns += self._tick_ns
        if self.clock.now_ns == self.next_gate_ns:
            self.status = self._controller.step(self._setpoint, self.clock.now_ns)
            self._ring.push(Stream.GATE, self.status.tobytes())
            self.next_gate_ns += self.gate_ns
        if self._controller.fault is not None:
            raise self._controller.fault

    @property
    def was_left(self) -> bool:
        """Whether the robot mostly did not follow."""
        return self._progress.was_left

    @property
    def standing(self) -> list[str]:
        """Limbs that stand although asked to move, with reasons."""
        return self._progress.standing

    def _tick(self, status: Record) -> tuple[Record, bool]:
        leaders = self.plan.leaders.values()
        now_ns = self.clock.now_ns
        samples = [
            None if sample is None else pack_sample(layout, sample, now_ns * is_alive)
            for layout, (sample, is_alive) in zip(
                self._layouts,
                [(one.latest(), tells_life(one)) for one in leaders],
                strict=True,
            )
        ]
        actions = self._presses.add(self.actions, samples)
        advice = self._advised.read()
        output = self.core.step(now_ns, samples, status, actions, advice)
        if self._progress.note(output.tick, status):
            self._progress.look()
            self._say_warnings()
        output.tick["posted_ns"] = now_ns
        self._newest = output.tick, status
        for event in output.events:
            self._push_event(event)
        self._ring.push(Stream.TICK, output.tick.tobytes())
        self._advised.step(output.tick, status)
        feedback = output.feedback
        if self._is_felt:
            feedback = self._cues.add(feedback, now_ns, status)
        driver = self.core.motion.driver
        for leader, rows in zip(leaders, self._rows, strict=True):
            leader.apply(narrow_feedback(feedback, driver, rows))
        if self._far and output.tick["k"] % _SHOWN_EACH == 0:
            for leader in self._far:
                leader.observe(make_view(self.plan.layout, output.tick, status, now_ns))
        if now_ns >= self._record_ns:
            self._record_ns = now_ns + _RECORDED_NS
            self._record()
        return output.setpoint, output.is_over

    def _say_warnings(self) -> None:
        for name, device in (*self._name_devices(), ("gate", self.follower)):
            for text in device.take_warnings():
                self._say(f"{name}: {text}")

    def _name_devices(self) -> list[tuple[str, Device]]:
        leaders = self.plan.leaders.items()
        named = [(name_port(LEADER, key), one) for key, one in leaders]
        advisors = self._advised.advisors.items()
        return [*named, *((name_port("advisor", key), one) for key, one in advisors)]

    def _record(self) -> None:
        if self.recorder is not None:
            self.recorder.step(self.clock.now_ns)
        else:
            self._ring.drain()

    def _push_event(self, event: dict[str, Any]) -> None:
        self._ring.push(Stream.EVENT, json.dumps(event).encode())

    def close(self) -> None:
        """Close the devices and the recording."""
        self._say_warnings()
        for name, device in self._name_devices():
            device.close()
            for text in device.closing_notes:
                self._say(f"{name}: {text}")
        if self.recorder is not None:
            self.recorder.finish(self.core.end_reason, self.clock.now_ns)
        self.follower.close("hold")
        for text in self.follower.closing_notes:
            self._say(f"gate: {text}")
        recording: dict[str, Any] = {}
        if self.recorder is not None:
            manifests = self.recorder.manifests
            recording["episodes"] = [str(path) for path in manifests]
            recording["marks"] = [find_mark(one) for one in manifests.values()]
            recording["failures"] = self.recorder.losses
        for line in self._progress.summarise(0, recording):
            self._say(line)
