"""Session in virtual time with an emulated device."""
# ruff: noqa: S101 - part of a test suite

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter
from typing import ClassVar

import numpy as np

from paprle.config import resolve
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import Vec
from paprle.hosts.virtual import VirtualSession
from paprle.oracle import JudgedLimits, check_commands

H = 0.005  # [s] chosen: the default period of a session
_SAID = 8 * H  # [s] chosen: a device of 30 Hz has told of its dead-man by then


class EmulatedHand(ABC):
    """Person at an emulated device; tests set the attributes.

    Attributes:
        faults: ``off``, silence; ``late``, held until the fault ends; ``delayed`` by
            0.3 s; ``garbage``; ``leap``; ``lost`` tracking; ``repeats``; ``lapse``,
            lost tracking with a new press number; ``reconnect``.
        speed: Of the hand, [m/s], or deflection of its first axis.
        opening: Gripper trigger, 0 closed … 1 open.
    """

    faults: ClassVar[frozenset[str]] = frozenset({"off"})
    n_refused: int | None = None

    def __init__(self) -> None:
        self.speed = 0.0
        self.is_held = False
        self.opening = 1.0
        self.fault = ""

    @abstractmethod
    def tick(self) -> None:
        """Send the hand's motion of ``H``."""

    def close(self) -> None:  # noqa: B027 - most have nothing
        """Close the device."""


class SteppedSession:
    """Session with its hand and its robot's commands.

    Attributes:
        commands: Gate commands, shape (n,) each.
        times: Computing times, [s].
    """

    def __init__(
        self,
        words: tuple[str, ...],
        make_hand: Callable[[Leader, Clock], EmulatedHand],
        robot: tuple[str, ...] = ("follower=piper", "env=kinematic"),
        name: str = ALONE,
    ) -> None:
        fixed = ("session.clock=virtual", "record.dir=null")
        resolved = resolve((*words, *robot, *fixed))
        self.session = VirtualSession(resolved, has_operator=True)
        self.leader = self.session.plan.leaders[name]
        self.hand = make_hand(self.leader, self.session.clock)
        self.commands: list[Vec] = []
        self.states: list[str] = []
        self.times: list[float] = []

    @property
    def state(self) -> str:
        """The session's state."""
        return self.session.core.state.name

    @property
    def q_cmd(self) -> Vec:
        """The newest command."""
        return np.array(self.session.status["q_cmd"])

    def step(self, time: float = H) -> SteppedSession:
        """Advance by a time, [s]."""
        session = self.session
        end_ns = session.next_tick_ns + round(time * 1e9)
        while session.next_tick_ns < end_ns:
            self.hand.tick()
            before_ns, began = session.next_tick_ns, perf_counter()
            while session.next_tick_ns == before_ns:
                self._go_on()
            self.times.append(perf_counter() - began)
            self.states.append(self.state)
        return self

    def _go_on(self) -> None:
        before_ns = self.session.next_gate_ns
        self.session.step()
        if self.session.next_gate_ns != before_ns:
            self.commands.append(self.q_cmd)

    def until(self, state: str, time: float = 20.0) -> SteppedSession:
        """Advance until a state, ``time`` [s] at most."""
        for _ in range(round(time / H)):
            if self.state == state:
                return self
            self.step()
        raise AssertionError(f"never {state}: {self.state}, {self.session.core.note}")

    def engage(self) -> SteppedSession:
        """Regrip the device and press start."""
        self.hand.is_held = False
        if self.states:
            self.step(0.5)
        else:
            self.until("WAITING").step(0.2)  # the release crosses a link
        self.hand.is_held = True
        self.step(_SAID)
        needs_key = not self.leader.info.engage_hint  # where holding on is no press
        if needs_key and self.state in {"WAITING", "CLUTCHED"}:
            self.press_enter()
        return self.until("ENGAGED")

    def press_enter(self) -> None:
        """Press the keyboard's engage key."""
        actions = self.session.actions
        self.session.actions = actions._replace(engage=actions.engage + 1)

    @property
    def n_engaged(self) -> int:
        """Number of motion starts."""
        states = np.array(["", *self.states])
        return int(((states[1:] == "ENGAGED") & (states[:-1] != "ENGAGED")).sum())

    def find_reach(self, since: int = 0) -> float:
        """Return the largest joint displacement, [rad]."""
        q = np.array(self.commands[since:])
        return float(np.abs(q - q[0]).max())

    def judge(self) -> None:
        """Check all commands by the oracle."""
        info = self.session.plan.robot.info
        limits = JudgedLimits.of(info, 1e-9 * self.session.gate_ns)
        verdict = check_commands(
            np.array(self.commands), limits, q_start=self.commands[0]
        )
        assert verdict.is_ok, str(verdict)

    def close(self) -> None:
        """Close the session and the device."""
        self.session.close()
        self.hand.close()
