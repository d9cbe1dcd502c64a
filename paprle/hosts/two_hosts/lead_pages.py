"""Observers of ``paprle lead``."""

from __future__ import annotations

import time
from collections.abc import Callable

from paprle.config import Resolved
from paprle.contracts.plugins import Leader
from paprle.contracts.types import Actions
from paprle.hosts.factories import list_controls, list_observers, make_payload
from paprle.hosts.operator.action_counters import Presses
from paprle.hosts.operator.operator_messages import NEWS, NEWS_DTYPE, News
from paprle.hosts.operator.status import print_line, sign_line
from paprle.hosts.plan import make_robot
from paprle.hosts.roles import IfLost, RoleSpec
from paprle.hosts.supervisor import Children
from paprle.hosts.two_hosts.far_watch import SHOW_NS, FarWatch
from paprle.hosts.two_hosts.stage_scheduler import (
    LOOK_RATE,
    ORDER,
    ORDER_DTYPE,
    SPENT,
    SPENT_DTYPE,
    Scheduler,
)
from paprle.hosts.views.remote_view import HEARD, HEARD_DTYPE, pack_heard
from paprle.ipc.ports import LatestPort, Port, name_port
from paprle.ipc.wishes_record import WISHES, make_wishes_dtype, unpack_wishes
from paprle.link.remote_leader.error_report import describe_errors
from paprle.link.remote_leader.operator_side import OperatorSide

_START = 60.0  # [s] chosen: as a session gives its processes
_SAY_NS = 200_000_000  # [ns] chosen: faster than this nobody reads


class LeadPages:
    """The observers' processes, with inputs and requests."""

    def __init__(self, resolved: Resolved, leader: Leader) -> None:
        robot = make_robot(resolved).info
        leader.meet(robot)
        self._leader = leader
        controls = list_controls(resolved)
        wishes = {name_port(WISHES, k): make_wishes_dtype(robot, ()) for k in controls}
        ports: dict[str, Port] = {k: LatestPort(dtype) for k, dtype in wishes.items()}
        ports |= {HEARD: LatestPort(HEARD_DTYPE), NEWS: LatestPort(NEWS_DTYPE)}
        names = list_observers(resolved)
        spent = [name_port(SPENT, name) for name in names]
        ports |= {ORDER: LatestPort(ORDER_DTYPE)} | dict.fromkeys(
            spent, LatestPort(SPENT_DTYPE)
        )
        specs = [_make_spec(name, controls) for name in names]
        self._children = Children(specs, ports, make_payload(resolved, robot))
        self._boxes = [self._children.box(name) for name in wishes]
        self._presses = Presses(len(self._boxes))
        self._news = News(self._children.box(NEWS))
        self._scheduler = Scheduler(
            self._children.box(ORDER),
            [self._children.box(name) for name in spent],
            max(SHOW_NS, round(1e9 / resolved.observers.rate)),
            round(1e9 / LOOK_RATE),
        )
        self._said_ns = 0
        self._lost: set[str] = set()

    def start(self, must_stop: Callable[[], bool]) -> list[str]:
        """Start all; return their addresses."""
        self._children.start()
        ready = self._children.wait_ready(_START, must_stop, print_line)
        notes = [(k, note) for k, said in ready.items() for note in said["notes"]]
        return [sign_line(name, note) for name, note in notes]

    def press(self, actions: Actions) -> Actions:
        """Return actions with the pages'; pass hands to the leader."""
        records = [box.read() for box in self._boxes]
        if self._leader.is_at_page:
            for record in records:
                wishes = None if record is None else unpack_wishes(record)
                if wishes is not None and wishes.hands is not None:
                    self._leader.hear(wishes.hands)
        return self._presses.add(actions, records)

    @property
    def period_ns(self) -> int:
        """Time between two pictures, [ns]."""
        return self._scheduler.order.period_ns

    def show(self, side: OperatorSide, watch: FarWatch) -> None:
        """Post the robot's last and predicted state."""
        if side.view is not None:
            stamps = side.view_ns, side.end.clock.to_local(0)
            heard = pack_heard(side.view_data, stamps, watch.predicted, watch.held)
            self._children.box(HEARD).write(heard)
            self._scheduler.end_turn(time.monotonic_ns())

    def say(self, line: str, side: OperatorSide, watch: FarWatch) -> None:
        """Post the status at most five times a second."""
        now_ns = time.monotonic_ns()
        if now_ns - self._said_ns < _SAY_NS:
            return
        self._said_ns = now_ns
        info = self._leader.info
        errors = describe_errors(watch.errors.find_recent, side.counts.describe())
        at_page = list(info.limbs) if self._leader.is_at_page else []
        hint = {"hint": info.engage_hint, "hands": at_page, "emits": info.emits}
        values = {"is_far": True, "link": line, "far": errors, "leader": hint}
        self._news.write({**values, "note": "", "folder": None}, [])

    def tell(self, text: str) -> None:
        """Show a persistent line."""
        self._news.tell(text)

    def take_words(self) -> list[str]:
        """Return new losses."""
        self._children.poll()
        words = self._children.take_warnings()
        for name in list(self._children.running):
            if not self._children.is_alive(name) and name not in self._lost:
                self._lost.add(name)
                words.append(self._children.describe_death(name))
        return words

    def close(self) -> None:
        """End all processes."""
        for spec in self._children.specs:
            self._children.join(spec.name)


def _make_spec(name: str, controls: list[str]) -> RoleSpec:
    wishes = (name_port(WISHES, name),) if name in controls else ()
    return RoleSpec(
        name=f"observer:{name}",
        module="paprle.hosts.processes.observer",
        reads=(HEARD, NEWS, ORDER),
        writes=(*wishes, name_port(SPENT, name)),
        if_lost=IfLost.WARN,
        shutdown=2.0,  # chosen: as beside a session
    )
