"""ROS leader: a sample of the newest messages."""

from __future__ import annotations

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import LeaderInfo, LeaderSample
from paprle.hardware.ros.bus import Bus, BusError
from paprle.hardware.ros.messages import MessageError
from paprle.hardware.ros.transports.choice import open_bus
from paprle.leaders.ros.config import JoyConfig, RosLeaderConfig
from paprle.leaders.ros.device import RosDevice

_LISTENED = 0.5  # [s] chosen: five messages of a publisher at 10 Hz
_TELL_NS = 10_000_000_000  # [ns] chosen: a clutch is pressed many times


class RosLeader(Leader):
    """Subscribes to a device's topics."""

    config: RosLeaderConfig

    def __init__(self, config: RosLeaderConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._bus: Bus | None = None
        self._begin()

    def _begin(self) -> None:
        self._device = RosDevice(self.config, self.clock)
        self._sample: LeaderSample | None = None
        self._said: tuple[object, ...] = ()
        self._failure, self._is_failure_told = "", False
        self._seq = 0
        self._told_ns = -_TELL_NS

    @property
    def info(self) -> LeaderInfo:
        """Description by the config."""
        config = self.config
        names = {limb: c.joints for limb, c in config.limbs.items() if c.joints}
        joy = config.joy or JoyConfig()
        has_axis = joy.gripper_axis is not None
        return LeaderInfo(
            limbs=tuple(config.limbs),
            emits="joints" if names else "pose",
            joint_names=names,
            is_absolute=config.is_absolute and not names,
            is_human=config.is_human,
            is_measured=not names and config.is_human,
            has_deadman=config.is_human and joy.deadman is not None,
            has_trigger=has_axis,
            has_gripper=has_axis or any(c.gripper for c in config.limbs.values()),
            is_stamped_on_arrival=True,
            rate=config.rate,
            reposture=config.reposture,
        )

    @property
    def n_refused(self) -> int:
        """Unusable messages."""
        return self._device.n_refused

    @property
    def unchecked(self) -> str:
        """Checks that need the graph."""
        return "whether its topics are sent, and in which frames their poses are"

    @property
    def notes(self) -> list[str]:
        """Frame of each limb's poses."""
        return self._device.frames.notes

    def open(self) -> None:
        """Join the graph and wait for every topic.

        Raises:
            DeviceError: If a topic is silent, or there is no limb.
        """
        config = self.config
        if not config.limbs:
            raise DeviceError(
                "leader.limbs: expected topics by limb, got none; see docs/ros2.md"
            )
        self._begin()
        try:
            self._bus = open_bus(config, "paprle_leader")
            self._device.subscribe(self._bus)
            self._bus.wait_until(lambda: not self._device.find_silent(), config.timeout)
            if self.info.joint_names:  # a second publisher shows by its values
                self._bus.wait_until(self._is_refused, _LISTENED)
        except (BusError, MessageError) as err:
            self.close()
            raise DeviceError(f"leader 'ros': {err}") from err
        self._check_heard(self._bus)

    def latest(self) -> LeaderSample | None:
        """Return the newest commands; invalid while a topic is silent.

        After a middleware failure it grows old.
        """
        if self._bus is None:
            return None
        if not self._failure:
            try:
                self._bus.poll()
            except BusError as err:
                self._failure = str(err)
        if not self._failure and not self._device.find_silent():
            self._sample = self._make_sample()
        return self._sample

    def take_warnings(self) -> list[str]:
        """Return middleware failures and lost dead-men."""
        warnings = []
        if self._failure and not self._is_failure_told:
            self._is_failure_told = True
            warnings.append(
                f"leader 'ros': {self._failure}; the leader is lost: end the session "
                "and start it again"
            )
        warnings += [f"leader 'ros': {why}" for why in self._device.take_warnings()]
        joy = self.config.joy
        if joy is not None and self._has_lost_deadman(joy):
            warnings.append(
                f"{joy.topic}: no Joy for {self.config.max_age:g} [s] while the "
                "dead-man was held, so it counts as let go; a joy_node speaks while "
                "nothing changes only with autorepeat_rate, 50 [Hz] or more"
            )
        return warnings

    def close(self) -> None:
        """Leave the graph."""
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def _is_refused(self) -> bool:
        return bool(self._device.find_refused())

    def _make_sample(self) -> LeaderSample:
        device, joy = self._device, self.config.joy or JoyConfig()
        arrived_ns = device.arrived_ns
        limbs = device.make_commands()
        engaged = device.is_pressed(joy.deadman, otherwise=True)
        start = device.is_pressed(joy.start, otherwise=False)
        end = device.is_pressed(joy.end, otherwise=False)
        is_heard = self.clock() - min(arrived_ns) <= self.config.max_age * 1e9
        # a dead-man that falls silent while it is held has not been released
        valid = is_heard and not self._is_deadman_silent(joy)
        openings = tuple(command.opening for command in limbs.values())
        said = (arrived_ns, openings, engaged, start, end, valid)
        if said != self._said:  # asked again, a device that is silent grows old (A1)
            self._said = said
            self._seq += 1
        return LeaderSample(
            stamp_ns=device.captured_ns,
            seq=self._seq,
            limbs=limbs,
            engaged=engaged,
            valid=valid,
            start=start,
            end=end,
        )

    def _is_deadman_silent(self, joy: JoyConfig) -> bool:
        device = self._device
        if joy.deadman is None or device.is_joy_fresh():
            return False
        return device.is_down(joy.deadman)

    def _has_lost_deadman(self, joy: JoyConfig) -> bool:
        now_ns = self.clock()
        if not self._is_deadman_silent(joy) or now_ns - self._told_ns < _TELL_NS:
            return False
        self._told_ns = now_ns
        return True

    def _check_heard(self, bus: Bus) -> None:
        silent = {*self._device.find_silent(), *self._device.find_refused()}
        if not silent:
            return
        expected = [self._device.describe_silence(name) for name in sorted(silent)]
        found = [f"{topic} [{kind}]" for topic, kind in bus.list_topics().items()]
        self.close()
        raise DeviceError(
            f"leader 'ros': expected {'; '.join(expected)}; found: "
            f"{', '.join(sorted(found)) or 'no topics'}"
        )
