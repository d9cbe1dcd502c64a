"""A live session: starts the roles, runs the tick on time, takes everything down.

The order of shutdown (K4): brake to rest, let the leader go, close the episode, leave
the follower by its policy, close the recorder. Each step has a time-out and is taken
even if the one before it failed.
"""

from __future__ import annotations

import json
import signal
import threading
import time
import traceback
from types import FrameType
from typing import Any

from paprle.contracts.errors import PaprleError, SessionError
from paprle.contracts.types import SessionState
from paprle.hosts import EXIT_CODES
from paprle.hosts.black_box import BlackBox
from paprle.hosts.factories import EVENT_ROOM, list_observers, make_payload
from paprle.hosts.plan import Plan
from paprle.hosts.roles import Roles
from paprle.hosts.status import StatusLine, compose_line, print_line, summarise
from paprle.hosts.terminal import Operator
from paprle.ipc.loop import DeadlineLoop, freeze_garbage, request_realtime, thaw_garbage
from paprle.ipc.records import Request, Stream
from paprle.session.core import Core
from paprle.session.motion import Motion
from paprle.session.output import Output

_START_TIMEOUT = 60.0  # [s] chosen: a cold start of MuJoCo on a slow disk
_CLOSE_TIMEOUT = 5.0  # [s] chosen: braking and closing the episode; a park adds its own
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LOST = 3
FAILED = 1


class LiveSession:
    """One run of a session with its processes.

    Attributes:
        plan: What it is made of.
        core: Its state.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        resolved = plan.resolved
        self._settings = resolved.session
        payload = make_payload(resolved, plan.robot.info)
        is_linked = resolved.link.peer is not None
        self._roles = Roles(plan.layout, payload, is_linked=is_linked)
        self._operator = Operator()
        motion = Motion(plan.robot, plan.retargeting, resolved.gate, plan.layout)
        self.core = Core(
            resolved.session,
            plan.leader.info,
            plan.layout,
            motion,
            session_id=time.monotonic_ns(),
            is_interactive=self._operator.is_interactive,
        )
        self._black_box = BlackBox(resolved.record.dir)
        self._status_line = StatusLine(
            self._compose_line, enabled=resolved.session.status
        )
        self._signal = 0
        self._lost: set[str] = set()
        self._exit_code: int | None = None
        self._trouble = ""
        self._thread_error: BaseException | None = None
        self._loop_timer = DeadlineLoop(self._settings.rate)
        self._recording: dict[str, Any] = {}

    def run(self) -> int:
        """Run to the end.

        Returns:
            The exit code.
        """
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        for number in _SIGNALS:
            signal.signal(number, self._take_signal)
        hook, threading.excepthook = threading.excepthook, self._take_thread_error
        try:
            if self._start():
                self._operator.open()
                self._status_line.open()
                self._loop()
        except PaprleError as err:
            self._exit_code = LOST
            self._trouble = str(err)
            self.core.end_reason = self.core.end_reason or "did not start"
            print_line(str(err), is_error=True)
        except Exception as err:  # noqa: BLE001 - the last line of defence (style 4.7)
            self._exit_code = FAILED
            self._fail(err)
        finally:
            self._close()
            thaw_garbage()
            threading.excepthook = hook
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._find_exit_code()

    def _start(self) -> bool:
        """Start every role; False when the operator gave up meanwhile."""
        roles = self._roles
        roles.start("gate")
        roles.start("leader", has_input=self._operator.is_interactive)
        self._operator.forward_to(roles.get_keys_fd())
        is_recorded = self.plan.resolved.record.dir is not None
        if is_recorded:
            roles.start("recorder", has_input=True)
        self.core.motion.warm_up()
        ready = self._wait_ready("gate", "leader")
        if self._has_quit():
            return False
        if is_recorded:
            roles.tell("recorder", gate_rate=ready["gate"]["rate"])
            self._wait_ready("recorder")
        if list_observers(self.plan.resolved):
            roles.start("observer")
            self._wait_ready("observer")
        notes = [ready["gate"].get("note", ""), *ready["leader"].get("notes", [])]
        for note in filter(None, notes):
            print_line(note)
        request_realtime()
        freeze_garbage()
        return not self._has_quit()

    def _wait_ready(self, *names: str) -> dict[str, dict[str, Any]]:
        return self._roles.wait_ready(names, _START_TIMEOUT, self._has_quit, print_line)

    def _loop(self) -> None:
        self._loop_timer = DeadlineLoop(self._settings.rate)
        while True:
            late_ns = self._loop_timer.wait()
            start_ns = time.monotonic_ns()
            self._watch_roles()
            if self._thread_error is not None:
                raise self._thread_error
            status = self._roles.status.read()
            if status is None:
                continue
            output = self.core.step(
                start_ns, [self._roles.samples.read()], status, self._operator.actions
            )
            self._post(output, start_ns, late_ns)
            self._black_box.add(output.tick, status)
            if self.core.state is SessionState.CLOSING:
                return  # _brake sees to the rest, within its time

    def _post(self, output: Output, start_ns: int, late_ns: int) -> None:
        self._roles.setpoints.write(output.setpoint)
        tick = output.tick
        tick["posted_ns"] = posted_ns = time.monotonic_ns()
        tick["late_ns"], tick["n_overruns"] = late_ns, self._loop_timer.n_overruns
        tick["compute_ns"] = posted_ns - start_ns
        for event in output.events:
            self._roles.ring.push(Stream.EVENT, json.dumps(event).encode())
        self._roles.ring.push(Stream.TICK, tick.tobytes(), spare=EVENT_ROOM)
        if "observer" in self._roles.running:
            self._roles.ticks.write(tick)
        self._roles.post_feedback(output.feedback, self.core.motion.anchors)

    def _watch_roles(self) -> None:
        """Notice deaths and reports; a dead gate ends all, a dead leader brakes.

        Raises:
            SessionError: If the gate is gone.
        """
        self._take_reports()
        if not self._roles.is_alive("gate"):
            self.core.end_reason = "gate died"
            raise SessionError(self._describe_death("gate"))
        if not self._roles.is_alive("leader") and self._exit_code is None:
            self._exit_code = LOST
            self.core.end_reason = "leader died"
            self._trouble = self._describe_death("leader")
            print_line(self._trouble, is_error=True)
            self._operator.add("quit")
        if "recorder" in self._roles.running and not self._roles.is_alive("recorder"):
            self._lost.add("recorder")
            self._roles.dismiss("recorder")
        if "observer" in self._roles.running and not self._roles.is_alive("observer"):
            self._roles.dismiss("observer")
            self._status_line.tell(self._describe_death("observer"))

    def _take_reports(self) -> None:
        """Keep what the recorder said last."""
        self._roles.poll()
        for warning in self._roles.take_warnings():
            self._status_line.tell(warning)
        before = self._recording
        for _, report in self._roles.reports:
            if report["event"] == "recording":
                self._recording = report
        if "recorder" in self._lost:
            self._recording = {"failure": self._describe_death("recorder")}
        for key, head in (("failure", "RECORDING FAILED: "), ("warning", "")):
            text = self._recording.get(key, "")
            if text and text != before.get(key, ""):
                self._status_line.tell(head + text)

    def _describe_death(self, name: str) -> str:
        said = [
            report["message"]
            for who, report in self._roles.reports
            if who == name and report["event"] == "error"
        ]
        return f"{name}: the process ended: {said[-1] if said else 'it was killed'}"

    def _fail(self, err: Exception) -> None:
        """Stop the robot and show what happened; the black box follows at rest."""
        stop = self.core.make_farewell(Request.STOP, time.monotonic_ns())
        self._roles.setpoints.write(stop)
        self.core.end_reason = f"failed: {type(err).__name__}"
        self._trouble = "".join(traceback.format_exception(err))
        what = f"{type(err).__name__} in the session; the robot was stopped"
        print_line(self._trouble + what, is_error=True)

    def _take_thread_error(self, failure: threading.ExceptHookArgs) -> None:
        """Let the tick fail of what a thread failed of (K2)."""
        self._thread_error = failure.exc_value

    def _close(self) -> None:
        steps = (
            self._brake,
            self._dismiss_leader,
            self._dismiss_gate,
            self._end_episode,
            self._dismiss_recorder,
            self._dismiss_observer,
            self._keep_black_box,
            self._status_line.close,
            self._operator.close,
        )
        for step in steps:
            try:
                step()
            except Exception:  # noqa: BLE001 - K4: each step runs even if one raised
                self._exit_code = self._exit_code or FAILED
                print_line(traceback.format_exc(), is_error=True)
        for line in summarise(self.core, self._loop_timer.n_overruns, self._recording):
            print_line(line)
        for _, report in self._roles.reports:
            if report["event"] == "summary" and report["message"]:
                print_line(report["message"])

    def _brake(self) -> None:
        """Keep ticking until the arm stands and the episode is closed."""
        if not self._roles.is_alive("gate") or self._roles.status.read() is None:
            return
        if not self._has_quit():
            self._operator.add("quit")
        if not self.core.n_ticks:  # it never ran: the time of the start is no overrun
            self._loop_timer = DeadlineLoop(self._settings.rate)
        end = time.monotonic() + _CLOSE_TIMEOUT
        if self._settings.close_policy == "park":
            end += self._settings.park_timeout
        while time.monotonic() < end and self._roles.is_alive("gate"):
            late_ns = self._loop_timer.wait()
            now_ns = time.monotonic_ns()
            self._roles.poll()
            status = self._roles.status.read()
            if status is None or self._exit_code == FAILED:
                return
            output = self.core.step(
                now_ns, [self._roles.samples.read()], status, self._operator.actions
            )
            self._post(output, now_ns, late_ns)
            if output.is_over:
                return

    def _dismiss_leader(self) -> None:
        self._dismiss("leader")

    def _dismiss_gate(self) -> None:
        goodbye = self.core.make_farewell(Request.DISARM, time.monotonic_ns())
        self._roles.setpoints.write(goodbye)
        self._dismiss("gate")

    def _dismiss(self, name: str) -> None:
        """Say goodbye, and show what a role failed of if nobody has yet."""
        code = self._roles.dismiss(name)
        was_ready = (name, "ready") in {
            (who, report["event"]) for who, report in self._roles.reports
        }
        if code == 0 or (code is None and not was_ready and self._has_quit()):
            return  # the operator gave up on one that was still starting
        self._exit_code = self._exit_code or LOST
        if not self._trouble:
            self._trouble = self._describe_death(name)
            print_line(self._trouble, is_error=True)

    def _end_episode(self) -> None:
        """Close an episode that the core could not: it failed, or the gate is gone."""
        now_ns, episodes = time.monotonic_ns(), self.core.episodes
        episodes.events = []
        episodes.end(self.core.end_reason, now_ns)
        episodes.close(now_ns, is_standing=True)
        for event in episodes.events:
            self._roles.ring.push(Stream.EVENT, json.dumps(event).encode())

    def _keep_black_box(self) -> None:
        """Write the last states if anything failed while it ran."""
        if not self._trouble or self._black_box.is_empty:
            return
        reports = [report for _, report in self._roles.reports]
        traces = [report["traceback"] for report in reports if "traceback" in report]
        path = self._black_box.write("\n".join([self._trouble, *traces]))
        print_line(f"the last states are in '{path}'", is_error=True)

    def _dismiss_recorder(self) -> None:
        self._roles.dismiss("recorder")
        self._take_reports()

    def _dismiss_observer(self) -> None:
        self._roles.dismiss("observer")

    def _compose_line(self) -> str:
        recording = ""
        if self.plan.resolved.record.dir is not None:
            lost = self._roles.count_lost()
            recording = f"rec, {lost} records LOST" if lost else "rec"
            if self._recording.get("failure"):
                recording = "NOT RECORDING"
        return compose_line(self.core, self._loop_timer.n_overruns, recording)

    def _has_quit(self) -> bool:
        return self._operator.actions.quit > 0

    def _take_signal(self, number: int, _frame: FrameType | None) -> None:
        """The first asks to end cleanly, the second skips the park."""
        self._signal = self._signal or number
        self._operator.add("quit")

    def _find_exit_code(self) -> int:
        if self._exit_code is not None:
            return self._exit_code
        if self._signal:
            return 128 + self._signal
        if self.core.state is SessionState.INIT:
            return 0
        return EXIT_CODES.get(self.core.end_reason, FAILED)
