"""Leader of a hand's position and wrist orientation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import opening
from paprle.contracts.kit.cue_output import choose_amplitudes
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
)
from paprle.hardware.hand.frames import HandFrame
from paprle.hardware.imu.reader import Attitude
from paprle.hardware.sound.errors import SoundError
from paprle.hardware.sound.speaker import Speaker
from paprle.leaders.hand_imu.config import HandImuConfig
from paprle.leaders.hand_imu.filters import make_filter
from paprle.leaders.hand_imu.gestures import Fist, Pinch
from paprle.leaders.hand_imu.glide import Glide
from paprle.leaders.hand_imu.heading import Heading
from paprle.leaders.hand_imu.place import locate
from paprle.leaders.hand_imu.press import Press
from paprle.leaders.hand_imu.sources import Devices, HandSource, Recorded
from paprle.leaders.hand_imu.track import HandTrack

_LIMB = "hand"
_SOUND = "pip install 'paprle[sound]'"
_RATE = 200.0  # [Hz] chosen: a position between images is told as often as is asked
_SILENT_FRAME = 0.2  # [s] chosen: a tracker needs 50 ms, and one image may be lost
_SILENT_IMU = 0.1  # [s] spec: safety.md A1
_FOLLOWS = (SessionState.ALIGNING, SessionState.ENGAGED)
_HEARS = (*_FOLLOWS, SessionState.WAITING, SessionState.CLUTCHED)


class HandImu(Leader):
    """One bare hand."""

    config: HandImuConfig

    def __init__(self, config: HandImuConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._source: HandSource | None = None
        self._speaker = Speaker()
        self._begin()

    def _begin(self) -> None:
        mount = np.array((0.0, 0.0, 0.0) if self.config.imu is None
                         else self.config.imu.mount_rpy)  # fmt: skip
        self._track, self._glide = HandTrack(), Glide()
        self._filter = make_filter(self.config.filter, self.config.predict)
        self._press, self._heading = (
            Press(self.config.hold),
            Heading(np.asarray(pin.rpy.rpyToMatrix(mount))),
        )
        self._grip = Fist() if self.config.gripper == "fist" else Pinch()
        self._own_fist, self._other_fist = Fist(), Fist()
        self._sample: LeaderSample | None = None
        self._frame_ns = self._run = 0
        self._told: set[str] = set()
        self._was_following = False
        self._said: tuple[object, ...] = ()

    @property
    def info(self) -> LeaderInfo:
        """One hand with a gripper and a measured pose."""
        return LeaderInfo(
            limbs=(_LIMB,),
            is_measured=True,
            is_stamped_on_arrival=True,
            has_deadman=True,
            has_gripper=True,
            has_trigger=True,
            renders=self.config.renders,
            rate=_RATE,
            engage_hint=(
                f"hold your open {self.config.hand} hand still for "
                f"{self.config.hold:g} s"
            ),
        )

    @property
    def notes(self) -> list[str]:
        """Limits of the sensors, and gestures."""
        camera, told = self.config.camera, []
        if not camera.recorded and camera.kind == "webcam":
            told.append(
                "hand_imu: a webcam guesses distance from the size of the hand: a few "
                "centimetres of noise, and as wrong as leader.palm is"
            )
        if self._source is not None and not self._source.has_imu:
            told.append("hand_imu: no sensor on the wrist: position alone is followed")
        if self._filter is not None:
            late = 1e3 * self._filter.find_delay(1.0 / camera.rate)
            told.append(
                f"hand_imu: filter '{self.config.filter}' makes a slow motion "
                + (f"{late:.0f} ms later" if late >= 0.0 else f"{-late:.0f} ms earlier")
                + ", which latencies do not count"
            )
        told.append(
            "hand_imu: show the other hand to let go; its fist ends the episode"
        )
        return told

    @property
    def unchecked(self) -> str:
        """Checks that need images and packets."""
        return "whether the camera sees a hand and the wrist's sensor speaks"

    def preflight(self) -> list[str]:
        """Return missing files, ports and interpreters."""
        camera, imu = self.config.camera, self.config.imu
        paths = {"camera.recorded": camera.recorded}
        if not camera.recorded:
            paths = {"camera.python": camera.python, "camera.model": camera.model}
            paths["imu.port"] = "" if imu is None else imu.port
        missing = [
            f"leader.{key}: expected something at '{path}', got nothing"
            for key, path in paths.items()
            if path and not Path(path).exists()
        ]
        if self.config.predict and self.config.filter != "kalman":
            missing.append(
                "leader.predict: expected filter=kalman, which alone knows a velocity, "
                f"got filter={self.config.filter}"
            )
        return missing

    def open(self) -> None:
        """Connect the camera and the sensor.

        Raises:
            DeviceError: If one is missing.
            MissingDependency: If a package is missing.
        """
        self._begin()
        if self.config.sound > 0.0:
            with opening("leader 'hand_imu'", _SOUND, SoundError):
                self._speaker.open()
        recorded = self.config.camera.recorded
        if recorded:
            self._source = Recorded(recorded, self.clock)
        else:
            self._source = Devices(self.config, self.clock)

    def latest(self) -> LeaderSample | None:
        """Return the newest pose, or None."""
        source = self._source
        if source is None:
            return self._sample
        now_ns = self.clock()
        frame, attitude = source.frame, source.attitude
        # one that is not newer is a repetition, or an old one that comes late
        if frame is not None and frame.stamp_ns > self._frame_ns:
            self._frame_ns = frame.stamp_ns
            self._take(frame, now_ns * 1e-9)
        if frame is None or not (self._track.is_known or self._sample):
            return None
        if not self._is_alive(frame, attitude, now_ns):
            self._press.use_up()
        self._sample = self._make_sample(frame, attitude, now_ns)
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Release the press when the hand does not lead; sound cues."""
        loudness = choose_amplitudes(feedback, self.config.sound, self.clock())
        self._speaker.tell(*loudness)
        follows = feedback.state in _FOLLOWS
        if feedback.state not in _HEARS or (self._was_following and not follows):
            self._press.use_up()
        self._was_following = follows
        if self._source is not None and feedback.state in _HEARS:
            self._source.begin()

    def take_warnings(self) -> list[str]:
        """Return new faults, and their end."""
        faults = set() if self._source is None else set(self._source.faults)
        told = [f"leader 'hand_imu': {text}" for text in sorted(faults - self._told)]
        if self._told and not faults:
            told.append("leader 'hand_imu': hand and wrist are there again")
        self._told = faults
        return told

    @property
    def closing_notes(self) -> list[str]:
        """Counts of lost hands, leaps and packets."""
        counts = () if self._source is None else self._source.counts
        track = self._track
        seen = (
            f"the hand was lost {track.n_lost} times, and leapt {track.n_leaps} times"
        )
        return [f"leader 'hand_imu': {text}" for text in (seen, *counts)]

    def close(self) -> None:
        """Close the devices."""
        self._speaker.close()
        if self._source is not None:
            self._source.close()

    def _take(self, frame: HandFrame, t: float) -> None:
        config, captured = self.config, frame.stamp_ns * 1e-9
        hand = frame.find(config.hand)
        other = frame.find("left" if config.hand == "right" else "right")
        p = None if hand is None else locate(frame, hand, config.point, config.palm)
        was_known = self._track.is_known
        if self._track.update(p, captured):
            p_hand = self._track.p
            if self._track.is_known and not was_known:
                self._glide.begin(p_hand)
                if self._filter is not None:
                    self._filter.begin(p_hand, captured)
            elif self._filter is not None and was_known:
                p_hand = self._filter.update(p_hand, captured)
            self._glide.aim(p_hand, captured, t)
        if not self._track.is_known:
            self._grip.lose()
        if hand is not None:
            self._grip.update(hand.shape, captured)
            self._own_fist.update(hand.shape, captured)
        self._press.take_other(
            is_shown=other is not None,
            is_fist=other is not None
            and self._other_fist.update(other.shape, captured),
            t=captured,
        )
        self._press.update(
            self._track.p if self._track.is_known else None,
            is_open=not self._own_fist.is_closed,
            t=captured,
        )

    def _is_alive(
        self, frame: HandFrame, attitude: Attitude | None, now_ns: int
    ) -> bool:
        if now_ns - frame.stamp_ns > _SILENT_FRAME * 1e9:
            self._track.lose()
        if self._source is None or not self._source.has_imu:
            return self._track.is_known
        if attitude is None or now_ns - attitude.stamp_ns > _SILENT_IMU * 1e9:
            return False
        if attitude.run != self._run:  # its heading is another one
            self._run = attitude.run
            return False
        is_pointing = self._heading.is_known or self._press.is_held
        return self._track.is_known and attitude.is_settled and is_pointing

    def _make_sample(
        self, frame: HandFrame, attitude: Attitude | None, now_ns: int
    ) -> LeaderSample:
        before, press, t = self._sample, self._press, now_ns * 1e-9
        is_valid = self._is_alive(frame, attitude, now_ns)
        stamp_ns = min(round(self._glide.find_capture(t) * 1e9), now_ns)
        R = np.eye(3)
        if attitude is not None:
            R = self._heading.turn(attitude.quat_wxyz, is_fixed=press.is_held)
            stamp_ns = min(stamp_ns, attitude.stamp_ns)
        p, _ = self._glide.at(t)
        is_over = self._source is not None and self._source.is_over
        said = (
            frame.seq, 0 if attitude is None else attitude.seq, p.tobytes(),
            is_valid, press.is_held, press.asks_to_end, is_over,
        )  # fmt: skip
        if before is not None and said == self._said:
            return before
        self._said = said
        return LeaderSample(
            stamp_ns=stamp_ns if before is None else max(stamp_ns, before.stamp_ns),
            seq=1 if before is None else before.seq + 1,
            limbs={
                _LIMB: LimbCommand(
                    T_leader_base_leader_eef=pin.SE3(R, p),
                    opening=float(not self._grip.is_closed)
                    if self._grip.is_known
                    else None,
                )
            },
            engaged=press.is_held,
            valid=is_valid,
            start=press.is_held,
            end=press.asks_to_end or is_over,
            is_exhausted=is_over,
        )
