"""Live session: runs processes and tick; shuts down in order (K4)."""

from __future__ import annotations

import json
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType

from paprle import compiled
from paprle.config.laws import list_named
from paprle.contracts.errors import PaprleError, SessionError, StartRefused
from paprle.contracts.kit.leader_group import list_rows
from paprle.contracts.session_view import Advice
from paprle.contracts.types import Feedback, SessionState
from paprle.hosts import exit_codes
from paprle.hosts.factories import EVENT_ROOM, list_controls, make_payload
from paprle.hosts.operator.action_counters import Presses
from paprle.hosts.operator.black_box import BlackBox
from paprle.hosts.operator.link_watch import LinkWatch
from paprle.hosts.operator.page_bridge import Desk
from paprle.hosts.operator.progress import Progress, list_remedies
from paprle.hosts.operator.recorder_watch import RecorderWatch
from paprle.hosts.operator.restart_watch import RestartWatch
from paprle.hosts.operator.speech import Speech
from paprle.hosts.operator.status import (
    StatusLine,
    find_width,
    print_line,
    shows_words,
    sign_line,
)
from paprle.hosts.operator.terminal import SPEECH_KEY, Operator
from paprle.hosts.plan import SessionPlan
from paprle.hosts.roles import (
    ADVICE,
    RECORDER,
    SESSION_RING,
    IfLost,
    RoleSpec,
    list_named_ports,
    list_ports,
    list_roles,
)
from paprle.hosts.shutdown import Shutdown
from paprle.hosts.supervisor import Children
from paprle.ipc.feedback_record import pack_feedback
from paprle.ipc.loop import (
    BESIDE_PRIORITY,
    SESSION_TURN,
    DeadlineLoop,
    Promoter,
    freeze_garbage,
    request_realtime,
    thaw_garbage,
)
from paprle.ipc.ports import name_port, split_name
from paprle.ipc.records import Record, Request, Stream
from paprle.retargeting.anchor_record import pack_anchors
from paprle.session.core import Output

_START_TIMEOUT = 60.0  # [s] chosen: a cold start of MuJoCo on a slow disk
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class LiveSession:
    """A session with its processes."""

    def __init__(self, plan: SessionPlan) -> None:
        self.plan = plan
        resolved, self._settings = plan.resolved, plan.resolved.session
        rows = list_rows({name: one.info for name, one in plan.leaders.items()})
        first_rows = {name: own.start for name, own in rows.items()}
        self._children = Children(
            list_roles(resolved),
            list_ports(plan.layout, tuple(plan.leaders))
            | list_named_ports(resolved, plan.robot.info),
            make_payload(resolved, plan.robot.info) | {"first_rows": first_rows},
        )
        self._samples = [
            self._children.box(name_port("sample", name)) for name in plan.leaders
        ]
        self._advice = {
            name: self._children.box(name_port(ADVICE, name))
            for name in list_named(resolved.advisors)
        }
        self._operator = Operator()
        self._presses = Presses(len(self._samples) + len(list_controls(resolved)))
        self.core = plan.make_core(
            session_id=time.monotonic_ns(),
            is_interactive=self._operator.is_interactive or plan.has_buttons,
        )
        self._black_box = BlackBox(resolved.record.dir)
        self._progress = Progress(self.core, plan, self._operator)
        self._desk = Desk(self._children, plan, self.core, self._progress)
        self._speech = Speech(is_on=self._operator.is_interactive)
        self._operator.let_switch({SPEECH_KEY: self._switch_speech})
        self._link = LinkWatch(resolved, self._children.box("status"))
        self._status_line = StatusLine(
            self._compose_line,
            enabled=resolved.session.status,
            find_attention=self._progress.attention,
        )
        self._signal = 0
        self._lost: dict[str, str] = {}
        self._anchors: object = None
        self._exit_code: int | None = None
        self._trouble = ""
        self._thread_error: BaseException | None = None
        aside = self.core.motion.aside
        self._beside = threading.Thread(target=aside.run, name="aside", daemon=True)
        self._loop_timer = self._make_loop()
        self._n_reports = 0
        self._recording = RecorderWatch(
            self._children,
            self._tell,
            is_asked=resolved.record.dir is not None,
        )
        self._restarts = RestartWatch(self._children, self._tell, self._lost, resolved)

    def run(self) -> int:
        """Run to the end and return the exit code."""
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
            self._exit_code = (
                exit_codes.REFUSED if isinstance(err, StartRefused) else exit_codes.LOST
            )
            self._trouble = str(err)
            self.core.end_reason = self.core.end_reason or "did not start"
            print_line(str(err), is_error=True)
        except Exception as err:  # noqa: BLE001 - the last line of defence (style 4.7)
            self._exit_code = exit_codes.FAILED
            self._fail(err)
        finally:
            self._close()
            thaw_garbage()
            threading.excepthook = hook
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._find_exit_code()

    def _start(self) -> bool:
        children = self._children
        compiled.prepare()
        children.start(has_keys=self._operator.is_interactive)
        self._operator.forward_to(children.list_key_fds())
        self._beside.start()
        self.core.motion.warm_up()
        ready = children.wait_ready(_START_TIMEOUT, self._has_quit, print_line)
        if self._has_quit():
            return False
        for spec in children.specs:
            said = ready[spec.name]
            for note in filter(None, [said.get("note", ""), *said.get("notes", ())]):
                print_line(sign_line(spec.name, note))
        request_realtime()
        freeze_garbage()
        return not self._has_quit()

    def _loop(self) -> None:
        self._loop_timer = self._make_loop()
        promoter = Promoter(BESIDE_PRIORITY)
        while True:
            late_ns = self._loop_timer.wait()
            promoter.look()
            start_ns = time.monotonic_ns()
            self._watch()
            if self._thread_error is not None:
                raise self._thread_error
            status = self._children.box("status").read()
            if status is None:
                continue
            output = self._step(start_ns, status)
            self._post(output, start_ns, late_ns)
            self._progress.note(output.tick, status)
            self._black_box.add(output.tick, status)
            if self.core.state is SessionState.CLOSING:
                return  # _brake sees to the rest, within its time

    def _make_loop(self) -> DeadlineLoop:
        return DeadlineLoop(self._settings.rate, turn=SESSION_TURN)

    def _step(self, now_ns: int, status: Record) -> Output:
        samples = [box.read() for box in self._samples]
        pages = self._desk.read()
        actions = self._presses.add(self._operator.actions, [*samples, *pages])
        self._desk.obey(pages)
        advice = {
            name: Advice(record, max(0, now_ns - int(record["stamp_ns"])) * 1e-9)
            for name, box in self._advice.items()
            if (record := box.read()) is not None
        }
        return self.core.step(now_ns, samples, status, actions, advice)

    def _post(self, output: Output, start_ns: int, late_ns: int) -> None:
        children = self._children
        children.box("setpoint").write(output.setpoint)
        tick = output.tick
        tick["posted_ns"] = posted_ns = time.monotonic_ns()
        self._loop_timer.give_time(posted_ns - self._loop_timer.deadline_ns)
        tick["late_ns"], tick["n_overruns"] = late_ns, self._loop_timer.n_overruns
        tick["compute_ns"] = posted_ns - start_ns
        ring = children.ring(SESSION_RING)
        for event in output.events:
            ring.push(Stream.EVENT, json.dumps(event).encode())
            self._recording.take_event(event, start_ns)
        ring.push(Stream.TICK, tick.tobytes(), spare=EVENT_ROOM)
        if children.is_read("tick"):
            children.box("tick").write(tick)
        feedback = output.feedback
        if self._progress.is_still:
            feedback = replace(feedback, standing=self._progress.standing[0])
        self._post_feedback(feedback)

    def _post_feedback(self, feedback: Feedback) -> None:
        anchors = self.core.motion.anchors
        if anchors is not None and anchors is not self._anchors:
            self._children.box("anchors").write(pack_anchors(anchors))
            self._anchors = anchors
        record = pack_feedback(feedback, self.core.motion.driver)
        record["is_recorded"] = self._recording.is_recording
        self._children.box("feedback").write(record)

    def _watch(self) -> None:
        self._take_reports()
        self._recording.look(time.monotonic_ns())
        self._restarts.look(time.monotonic_ns())
        if self._children.is_alive(RECORDER):
            self._lost.pop(RECORDER, None)  # a new one runs
        for role in list(self._children.running.values()):
            if not role.child.is_alive and role.spec.name not in self._lost:
                self._lose(role.spec)

    def _lose(self, spec: RoleSpec) -> None:
        words = self._children.describe_death(spec.name)
        self._lost[spec.name] = words
        if spec.if_lost in {IfLost.WARN, IfLost.RESTART}:
            self._children.join(spec.name)
            self._warn_of(spec, words)
            return
        self._exit_code = exit_codes.LOST
        kind, _ = split_name(spec.name)
        if spec.if_lost is IfLost.END:
            self.core.end_reason = f"{kind} died"
            raise SessionError(words)
        if any(
            role.spec.if_lost is IfLost.BRAKE and role.child.is_alive
            for role in self._children.running.values()
        ):
            self._tell(f"{words}; its limbs hold, the others go on")
            return
        self.core.end_reason = f"{kind} died"
        self._trouble = words
        print_line(words, is_error=True)
        self._operator.add("quit")

    def _warn_of(self, spec: RoleSpec, words: str) -> None:
        if spec.name == RECORDER:
            self._recording.lose(words, time.monotonic_ns())
        elif spec.if_lost is IfLost.RESTART:
            self._restarts.lose(spec.name, words, time.monotonic_ns())
        else:
            self._tell(words)

    def _take_reports(self) -> None:
        self._children.poll()
        for warning in self._children.take_warnings():
            self._tell(warning)
        reports = self._children.reports
        for name, report in reports[self._n_reports :]:
            if name == RECORDER:
                self._recording.take_report(report, time.monotonic_ns())
        self._n_reports = len(reports)
        self._desk.pass_far_on(time.monotonic_ns())

    def _fail(self, err: Exception) -> None:
        stop = self.core.make_last_setpoint(Request.STOP, time.monotonic_ns())
        self._children.box("setpoint").write(stop)
        self.core.end_reason = f"failed: {type(err).__name__}"
        self._trouble = "".join(traceback.format_exception(err))
        what = f"{type(err).__name__} in the session; the robot was stopped"
        print_line(self._trouble + what, is_error=True)

    def _take_thread_error(self, failure: threading.ExceptHookArgs) -> None:
        self._thread_error = failure.exc_value

    def _close(self) -> None:
        is_parked = self._settings.close_policy == "park"
        park_time = self._settings.park_timeout if is_parked else 0.0
        self._shutdown = Shutdown(self._children, park_time)
        steps = (
            self._brake,
            *self._list_shutdown_steps(),
            self._take_reports,
            lambda: self._recording.finish(time.monotonic_ns()),
            self._keep_black_box,
            self._status_line.close,
            self._operator.close,
            self._speech.close,
            self.core.motion.aside.end,
        )
        for step in steps:
            try:
                step()
            except Exception:  # noqa: BLE001 - K4: each step runs even if one raised
                self._exit_code = self._exit_code or exit_codes.FAILED
                print_line(traceback.format_exc(), is_error=True)
        recording = self._recording.summarise()
        for line in self._progress.summarise(self._loop_timer.n_overruns, recording):
            print_line(line)
        for name, report in self._children.reports:
            if report["event"] == "summary" and report["message"]:
                print_line(sign_line(name, report["message"]))
        for line in list_remedies(recording):
            print_line(line)

    def _list_shutdown_steps(self) -> list[Callable[[], None]]:
        # The last record on a port is written before its reader ends.
        last_steps = {"setpoint": self._disarm, SESSION_RING: self._end_episode}
        steps: list[Callable[[], None]] = []
        for spec in reversed(self._children.specs):
            steps += [last_steps.pop(k) for k in spec.reads if k in last_steps]
            steps.append(partial(self._join, spec))
        return [*steps, *last_steps.values()]

    def _brake(self) -> None:
        if self._shutdown.find_status() is None:
            return
        if not self._has_quit():
            self._operator.add("quit")
        if not self.core.n_ticks:  # it never ran: the time of the start is no overrun
            self._loop_timer = self._make_loop()
        while self._exit_code != exit_codes.FAILED:
            late_ns = self._loop_timer.wait()
            now_ns = time.monotonic_ns()
            self._children.poll()
            status = self._shutdown.find_status()
            if status is None:
                return
            output = self._step(now_ns, status)
            self._post(output, now_ns, late_ns)
            if output.is_over:
                return

    def _disarm(self) -> None:
        setpoint = self.core.make_last_setpoint(Request.DISARM, time.monotonic_ns())
        self._children.box("setpoint").write(setpoint)

    def _join(self, spec: RoleSpec) -> None:
        timeout = self._shutdown.give_time(spec)
        code = self._children.join(spec.name, timeout)
        was_ready = (spec.name, "ready") in {
            (who, report["event"]) for who, report in self._children.reports
        }
        if code == 0 or (code is None and not was_ready and self._has_quit()):
            return  # the operator gave up on one that was still starting
        if spec.if_lost in {IfLost.WARN, IfLost.RESTART}:
            self._lost[spec.name] = self._children.describe_death(spec.name)
            self._warn_of(spec, self._lost[spec.name])
            return
        self._exit_code = self._exit_code or exit_codes.LOST
        if not self._trouble:
            self._trouble = self._children.describe_death(spec.name)
            print_line(self._trouble, is_error=True)

    def _end_episode(self) -> None:
        now_ns, episodes = time.monotonic_ns(), self.core.episodes
        episodes.events = []
        episodes.end(self.core.end_reason, now_ns)
        episodes.close(now_ns, is_standing=True)
        for event in episodes.events:
            self._children.ring(SESSION_RING).push(
                Stream.EVENT, json.dumps(event).encode()
            )
            self._recording.take_event(event, now_ns)

    def _keep_black_box(self) -> None:
        if not self._trouble or self._black_box.is_empty:
            return
        reports = [report for _, report in self._children.reports]
        traces = [report["traceback"] for report in reports if "traceback" in report]
        path = self._black_box.write("\n".join([self._trouble, *traces]))
        print_line(f"the last states are in '{path}'", is_error=True)

    def _tell(self, text: str) -> None:
        self._status_line.tell(text)
        self._desk.tell(text)

    def _switch_speech(self) -> None:
        self._tell(self._speech.toggle())

    def _compose_line(self) -> str:
        n_overruns, link = self._loop_timer.n_overruns, self._link.describe()
        told, episodes = self._recording.describe(), self._recording.list_episodes()
        self._desk.update(told, episodes, self._lost, n_overruns)
        state, is_watched = self.core.state.name, self._desk.is_watched
        self._speech.look(state, told, episodes, is_watched=is_watched)
        progress, width = self._progress, find_width()
        compose = progress.compose_words if shows_words() else progress.compose
        return compose(n_overruns, told, self._lost, width, link)

    def _has_quit(self) -> bool:
        return self._operator.actions.quit > 0

    def _take_signal(self, number: int, _frame: FrameType | None) -> None:
        self._signal = self._signal or number
        self._operator.add("quit")

    def _find_exit_code(self) -> int:
        if self._exit_code is not None:
            return self._exit_code
        code = exit_codes.EXIT_CODES.get(self.core.end_reason, exit_codes.FAILED)
        if self.core.state is SessionState.INIT:
            code = 0
        if code == 0 and self._progress.was_left:
            code = exit_codes.NOT_FOLLOWED
        if self._signal:
            code = 128 + self._signal
        is_well = code == 0 or self._signal
        return exit_codes.NOT_RECORDED if is_well and self._recording.losses else code
