"""The operator, requests and wanted poses.

One page operates after taking control; all may stop. A change of control, a lost page
or a late message uses up a dead-man press.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from paprle.contracts.operator.requests import Hands, Wishes
from paprle.contracts.reality_levels import (
    EVERYTHING,
    Level,
    Side,
    find_parts,
    is_driven,
)
from paprle.contracts.types import Actions, RobotInfo, Vec, readonly
from paprle.hardware.web.hand import multiply
from paprle.hardware.web.sender_clock import SenderClock
from paprle.observers.view.messages import HandsMessage

_LONGEST_STEP = 0.1  # [s] chosen: what was not heard for longer moves nothing
_FAR = 0.1  # [m] chosen: what a fast arm lags behind, thrice; as rules/windup.py has it
_VAIN_NS = 1_000_000_000  # chosen: a drag is many messages
_LATE_NS = 300_000_000  # chosen: as a phone's messages
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class Panel:
    """Requests of all pages; methods return the reason of a refusal, or "".

    Attributes:
        find_eef: Returns T_base_eef as xyz + quat_xyzw; set by any thread.
        n_vain_drags: Drags without dead-man, one a second at most.
    """

    def __init__(
        self,
        robot: RobotInfo,
        speeds: tuple[float, float],
        clock: Callable[[], int],
        *,
        may_clear: bool,
        side: Side = "off",
    ) -> None:
        """Set full-deflection and slider speeds, [m/s] and [rad/s].

        The clock is in [ns]; ``may_clear`` allows clearing a stop.
        """
        self.wishes = Wishes()
        self.operator: object | None = None
        self.may_clear = may_clear
        self.chosen: frozenset[str] = frozenset()
        self.placeable: tuple[str, ...] = ()
        self.side, self.parts = side, EVERYTHING
        self.level: Level | None = None
        self.clock = SenderClock()
        self.find_eef: Callable[[], Mapping[str, Vec]] = dict
        self.n_vain_drags, self._vain_ns = 0, -_VAIN_NS
        self._speeds, self._now = speeds, clock
        self._limbs = [limb.name for limb in robot.limbs]
        self._joints = np.full(len(robot.joint_names), np.nan)
        self._joint_speeds = np.minimum(speeds[1], robot.dq_max)
        self._poses = {name: _IDENTITY.copy() for name in self._limbs}
        self._dragged: dict[str, Vec] = {}
        self._carried: dict[str, Vec] = {}
        self._is_held, self._press, self._spent = False, -1, -1
        self._n_presses, self._seq, self._stamp_ns = 0, -1, 0

    @property
    def is_held(self) -> bool:
        """Whether the dead-man is held."""
        return self._is_held

    def get_pose(self, limb: str) -> Vec:
        """Return the wanted T_base_hand, xyz + quat_xyzw."""
        return self._poses[limb]

    def resume(self, wishes: Wishes) -> None:
        """Continue the counts, nothing held."""
        hands = wishes.hands
        self._n_presses = 0 if hands is None else hands.n_presses
        self.wishes = wishes._replace(hands=None, is_watched=False)

    def watch(self, *, is_watched: bool) -> None:
        """Note whether any page is open."""
        self.wishes = self.wishes._replace(is_watched=is_watched)

    def press(self, who: object, action: str) -> str:
        """Request an action."""
        if action == "stop":  # from anybody, always
            self._let_go()
        elif who is not self.operator:
            return "take control first"
        elif action == "clear" and not self.may_clear:
            return "a stop is cleared at the robot's computer"
        elif action == "clear" and self._is_held:
            return "let go of the dead-man first"
        counts = self.wishes.actions
        count = getattr(counts, action) + 1
        actions: Actions = counts._replace(**{action: count})
        self.wishes = self.wishes._replace(actions=actions)
        return ""

    @property
    def held_limbs(self) -> list[str]:
        """Names of clutched limbs."""
        return [self._limbs[i] for i in sorted(self.wishes.held)]

    def clutch(self, who: object, limb: str, *, is_held: bool) -> str:
        """Clutch or release a limb."""
        if who is not self.operator:
            return "take control first"
        if limb not in self._limbs:
            return "no such limb"
        place, held = {self._limbs.index(limb)}, self.wishes.held
        held = held | place if is_held else held - place
        self.wishes = self.wishes._replace(held=held)
        return ""

    def choose_level(self, who: object, level: Level, *, has_cues: bool) -> str:
        """Set the level."""
        if who is not self.operator:
            return "take control first"
        if self.side == "off":
            return "this session has no levels: observers.view.levels"
        was_driven = is_driven(self.parts, self.side)
        self.level, self.parts = level, find_parts(level, has_cues=has_cues)
        driven = is_driven(self.parts, self.side)
        if driven != was_driven:
            held = frozenset() if driven else frozenset(range(len(self._limbs)))
            self.wishes = self.wishes._replace(held=held)
        return ""

    def place(self, who: object, name: str, xyz: Sequence[float] | None) -> str:
        """Place an object upright at xyz (3,), world, [m], or remove it."""
        if who is not self.operator:
            return "take control first"
        if name not in self.placeable:
            return "no such object: session.objects"
        placed = {key: row for key, row in self.wishes.placed.items() if key != name}
        if xyz is not None:
            placed[name] = readonly(np.array([*xyz, 0.0, 0.0, 0.0, 1.0]))
        self._carried.pop(name, None)
        self.wishes = self.wishes._replace(placed=placed)
        return ""

    def carry(self, name: str, xyz: Vec) -> None:
        """Record a dragged place; thread-safe."""
        self._carried[name] = xyz

    def put_down(self) -> None:
        """Place the dragged objects."""
        for name, xyz in [*self._carried.items()]:
            self.place(self.operator, name, xyz.tolist())

    @property
    def places(self) -> dict[str, list[float]]:
        """Positions of placed objects, world, [m]."""
        return {name: row[:3].tolist() for name, row in self.wishes.placed.items()}

    def give_task(self, who: object, text: str) -> str:
        """Set the next task."""
        if who is not self.operator:
            return "take control first"
        self.wishes = self.wishes._replace(
            task=_clean(text), n_tasks=self.wishes.n_tasks + 1
        )
        return ""

    def give_note(self, who: object, text: str) -> str:
        """Add a note."""
        if who is not self.operator:
            return "take control first"
        self.wishes = self.wishes._replace(
            note=_clean(text), n_notes=self.wishes.n_notes + 1
        )
        return ""

    def take_control(self, who: object) -> None:
        """Make a client the operator."""
        if who is not self.operator:
            self.leave(self.operator)
            self.operator, self.clock = who, SenderClock()
            self._press = self._seq = self._spent = -1

    def leave(self, who: object) -> None:
        """Release holds and control."""
        if who is self.operator:
            self._let_go()
            self.operator = None

    def drag(self, limb: str, T_base_hand: Vec) -> None:
        """Record a dragged pose; thread-safe."""
        if limb in self._poses and np.isfinite(T_base_hand).all():
            self._dragged[limb] = T_base_hand

    def note_vain_drag(self) -> None:
        """Count a vain drag; thread-safe."""
        now_ns = self._now()
        if now_ns - self._vain_ns >= _VAIN_NS:
            self._vain_ns = now_ns
            self.n_vain_drags += 1

    def take_hands(self, who: object, message: HandsMessage) -> str:
        """Apply the operator's input."""
        if who is not self.operator:
            return ""  # a page that has not heard yet that another one operates
        if message.seq <= self._seq:
            return "order"
        if not message.limbs.keys() <= self._poses.keys():
            return "limbs"
        now_ns = self._now()
        captured = self.clock.find_capture(int(message.t * 1e6), now_ns)
        stamp_ns = now_ns if captured is None else captured
        # by the same clock as the stamps: else jitter on the way would be speed
        step = min(max(stamp_ns - self._stamp_ns, 0) * 1e-9, _LONGEST_STEP)
        self._seq, self._stamp_ns = message.seq, max(stamp_ns, self._stamp_ns)
        self._hold(message, is_late=now_ns - stamp_ns > _LATE_NS)
        self.chosen = frozenset(message.limbs)
        self._follow_sliders(message.joints, step)
        if self._is_held:
            for limb in message.limbs:
                self._poses[limb] = self._dragged.pop(limb, self._poses[limb])
                self._jog(limb, message.limbs[limb].jog, step)
        self._publish(self._stamp_ns, message)
        return ""

    def _hold(self, message: HandsMessage, *, is_late: bool) -> None:
        if self._press < 0 or is_late:  # what was held before counts no more
            self._press = self._spent = message.press
            self._is_held = False
        if message.held and message.press > max(self._press, self._spent):
            self._n_presses += 1
        self._press = max(self._press, message.press)
        self._is_held = message.held and message.press > self._spent
        if not self._is_held:  # so that a press begins where the hand is
            self._dragged.clear()
            self._poses.update(self.find_eef())

    def _jog(self, limb: str, jog: tuple[float, ...], dt: float) -> None:
        speed, turn = self._speeds
        before = self._poses[limb]
        row = before.copy()
        row[:3] += speed * dt * np.array(jog[:3])
        eef = self.find_eef().get(limb)
        if eef is not None:  # no key carries it away from a limb that stands
            row[:3] = _stay_near(row[:3], before[:3], eef[:3])
        w = turn * dt * np.array(jog[3:6])
        angle = float(np.linalg.norm(w))
        if angle > 0.0:
            axis = math.sin(angle / 2) * w / angle
            q = multiply(np.append(axis, math.cos(angle / 2)), row[3:])
            row[3:] = q / np.linalg.norm(q)
        self._poses[limb] = row

    def _follow_sliders(self, sliders: tuple[float, ...], dt: float) -> None:
        if len(sliders) != len(self._joints):
            self._joints[:] = np.nan
        elif self._is_held:
            most = self._joint_speeds * dt
            self._joints += np.clip(np.array(sliders) - self._joints, -most, most)
        else:  # they stand where the robot is
            self._joints[:] = sliders

    def _publish(self, stamp_ns: int, message: HandsMessage) -> None:
        m = len(self._limbs)
        poses, axes = np.full((m, 7), np.nan), np.zeros((m, 7))
        openings = np.full(m, np.nan)
        for i, name in enumerate(self._limbs):
            limb = message.limbs.get(name)
            if limb is not None:
                poses[i], axes[i] = self._poses[name], limb.jog
                openings[i] = np.nan if limb.opening is None else limb.opening
        hands = Hands(
            stamp_ns,
            self._is_held,
            self._n_presses,
            *(readonly(values) for values in (poses, openings, axes, self._joints)),
        )
        self.wishes = self.wishes._replace(hands=hands)

    def _let_go(self) -> None:
        self._is_held, self._spent = False, self._press
        hands = self.wishes.hands
        if hands is not None and hands.is_held:
            let_go = hands._replace(is_held=False, stamp_ns=self._now())
            self.wishes = self.wishes._replace(hands=let_go)


def _clean(text: str) -> str:
    return _UNPRINTABLE.sub(" ", text).strip()


def _stay_near(p: Vec, p_before: Vec, p_eef: Vec) -> Vec:
    """Return a position within ``_FAR``, or no farther than before."""
    most = max(_FAR, float(np.linalg.norm(p_before - p_eef)))
    far = float(np.linalg.norm(p - p_eef))
    return p if far <= most else p_eef + (p - p_eef) * (most / far)
