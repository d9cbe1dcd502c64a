"""Follower: several arms, each with its plug-in."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np

from paprle.contracts.errors import DeviceError, PaprleError
from paprle.contracts.kit.followers.limb_devices import check_open, check_target
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    RobotInfo,
    Vec,
    readonly,
)
from paprle.followers.mix.config import MixConfig
from paprle.followers.mix.parts import Part, make_parts

_LOG = logging.getLogger(__name__)

_SILENT_NS = 100_000_000  # [ns] chosen: that of a silent leader; the gate stops later


class MixFollower(Follower):
    """Arms of different makers as one robot.

    A failed ``write`` fails the next ``read``, so that the gate brakes the others.
    """

    config: MixConfig

    def __init__(self, config: MixConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._parts, self._problems = make_parts(config.parts, robot, clock)
        self._opened: list[Part] = []
        self._failed: tuple[Part, Exception] | None = None
        self._q_cmd: Vec | None = None
        self._silent: set[str] = set()
        self._news: list[str] = []

    @property
    def goes_on_unattended(self) -> bool:
        """Whether any arm continues without commands."""
        return any(part.follower.goes_on_unattended for part in self._parts)

    @property
    def notes(self) -> list[str]:
        """Remarks of all arms before the start."""
        return [text for p in self._parts for text in p.name_all(p.follower.notes)]

    @property
    def closing_notes(self) -> list[str]:
        """Remarks of all arms at the end."""
        told = [(p, p.follower.closing_notes) for p in self._parts]
        return [text for part, texts in told for text in part.name_all(texts)]

    @property
    def unchecked(self) -> str:
        """Checks that need open arms."""
        told = [(p, p.follower.unchecked) for p in self._parts]
        return "; ".join(part.name(text) for part, text in told if text)

    def preflight(self) -> list[str]:
        """Report missing envs, shared addresses, and obstacles."""
        if self._problems:
            return self._problems
        return [text for part in self._parts for text in part.preflight()]

    def take_warnings(self) -> list[str]:
        """Return new warnings, and arms that fell silent."""
        told, self._news = self._news, []
        for part in self._opened:
            told += part.name_all(part.follower.take_warnings())
        return told

    def diagnose(self) -> Iterator[tuple[bool, str]] | None:
        """Examine closed arms, if any can be."""
        if self._problems:
            return iter([(False, text) for text in self._problems])
        looks = [(part, part.follower.diagnose()) for part in self._parts]
        if all(look is None for _, look in looks):
            return None
        return (
            (is_well, part.name(text))
            for part, look in looks
            for is_well, text in look or ()
        )

    def open(self) -> FollowerInfo:
        """Return all arms' worst description; on failure none stays open.

        Raises:
            DeviceError: With all arms that do not open, by limb.
        """
        self.close("hold")
        if self._problems:
            raise DeviceError("\n".join(self._problems))
        infos: dict[str, FollowerInfo] = {}
        problems: list[str] = []
        try:
            for part in self._parts:
                self._opened.append(part)
                try:
                    infos[part.limb] = part.follower.open()
                except Exception as err:  # noqa: BLE001 - a driver may raise anything
                    problems += part.name_all(_describe(err).splitlines())
            problems = problems or self._compare(infos)
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close("hold")
            raise
        return self._join(list(infos.values()))

    def read(self) -> FollowerState:
        """Return the joined states, with the oldest stamp.

        Raises:
            DeviceError: If an arm failed to be read or to take a command.
        """
        check_open("mix", self._opened)
        if self._failed is not None:
            part, cause = self._failed
            raise DeviceError(part.name(_describe(cause))) from cause
        states = []
        for part in self._opened:
            try:
                states.append(part.follower.read())
            except Exception as err:
                raise DeviceError(part.name(_describe(err))) from err
            self._note_silence(part, states[-1].stamp_ns)
        return self._join_states(states)

    def write(self, q_cmd: Vec) -> None:
        """Command every arm, even after a failure.

        Raises:
            CommandError: If its shape is wrong, or not finite.
        """
        check_open("mix", self._opened)
        check_target("mix", q_cmd, len(self.robot.joint_names))
        self._q_cmd = readonly(q_cmd)
        for part in self._opened:
            try:
                part.follower.write(q_cmd[list(part.ids)])
            except Exception as err:  # noqa: BLE001 - the other arms have to brake
                self._failed = self._failed or (part, err)

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Close all arms."""
        for part in self._opened:
            try:
                part.follower.close(policy)
            except Exception:  # noqa: BLE001 - one arm must not keep the others open
                _LOG.exception("env 'mix': %s could not be left", part.limb)
        self._opened, self._failed, self._q_cmd = [], None, None
        self._silent.clear()

    def _note_silence(self, part: Part, stamp_ns: int) -> None:
        age = self.clock() - stamp_ns
        if age <= _SILENT_NS:
            self._silent.discard(part.limb)
        elif part.limb not in self._silent:
            self._silent.add(part.limb)
            self._news.append(
                f"{part.limb}: no new state for {1e-9 * age:.2f} [s]; look at its "
                "power and its cable"
            )

    def _compare(self, infos: dict[str, FollowerInfo]) -> list[str]:
        problems = [
            part.name(
                f"expected the joints {', '.join(part.follower.robot.joint_names)}, "
                f"got {', '.join(infos[part.limb].joint_names)}"
            )
            for part in self._opened
            if infos[part.limb].joint_names != part.follower.robot.joint_names
        ]
        rates = {limb: info.rate for limb, info in infos.items()}
        if len(set(rates.values())) > 1:
            told = ", ".join(f"{limb} {rate:g} [Hz]" for limb, rate in rates.items())
            problems.append(
                f"env.rate: expected one rate of all arms, got {told}; set a rate that "
                f"all of them take, such as env.rate={min(rates.values()):g}"
            )
        return problems

    def _join(self, infos: list[FollowerInfo]) -> FollowerInfo:
        is_braked = all(info.power_off == "brakes" for info in infos)
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=infos[0].rate,
            state_rate=min(info.state_rate for info in infos),
            lag=max(info.lag for info in infos),
            sag=max(info.sag for info in infos),
            tool_speed=min(info.tool_speed for info in infos),
            has_effort=any(info.has_effort for info in infos),
            has_unattended_stop=all(info.has_unattended_stop for info in infos),
            power_off="brakes" if is_braked else "falls",
            simulated=all(info.simulated for info in infos),
        )

    def _join_states(self, states: list[FollowerState]) -> FollowerState:
        n = len(self.robot.joint_names)
        q, dq, tau, held = np.full((4, n), np.nan)
        if self._q_cmd is not None:
            held[:] = self._q_cmd
        times, reasons = [], []
        for part, state in zip(self._opened, states, strict=True):
            ids = list(part.ids)
            q[ids], dq[ids] = state.q, state.dq
            tau[ids] = np.nan if state.tau is None else state.tau
            if state.q_held is not None:
                held[ids] = state.q_held
            elif self._q_cmd is None:
                held[ids] = state.q
            times += [] if state.sim_time is None else [state.sim_time]
            reasons += part.name_all([state.stop_reason] if state.stop_reason else [])
        has_held = any(state.q_held is not None for state in states)
        return FollowerState(
            stamp_ns=min(state.stamp_ns for state in states),
            q=readonly(q),
            dq=readonly(dq),
            tau=None if all(s.tau is None for s in states) else readonly(tau),
            sim_time=min(times) if len(times) == len(states) else None,
            stop_reason="; ".join(reasons),
            q_held=readonly(held) if has_held else None,
        )


def _describe(err: Exception) -> str:
    return str(err) if isinstance(err, PaprleError) else f"{type(err).__name__}: {err}"
