"""LeRobot robot of a session."""

import base64
from functools import cached_property

import numpy as np
from lerobot.robots import Robot

from lerobot_robot_paprle.config_paprle import PaprleRobotConfig
from lerobot_robot_paprle.session import Connected, read_columns

_LEADER = ("leader=policy", "leader.duration=86400", "leader.episodes=0")
_OBJECTS = "observation.environment_state"  # spec: LeRobot's OBS_ENV_STATE


class PaprleRobot(Connected, Robot):
    """Joints in degrees, grippers 0 closed … 100 open, cameras."""

    config_class = PaprleRobotConfig
    name = "paprle"

    def __init__(self, config):
        super().__init__(config)
        self.config = config

    @cached_property
    def _columns(self):
        return read_columns(self.config.command, self.config.words)

    @property
    def cameras(self):
        """Image sizes by name."""
        return self._columns["cameras"]

    @property
    def observation_features(self):
        """Joints and images (height, width, 3)."""
        images = {name: tuple(size) for name, size in self._columns["cameras"].items()}
        return {**self.action_features, **images}

    @property
    def environment_features(self):
        """Data-set column of simulated objects, [m] and rotation vector [rad].

        It stays out of ``observation.state``, which LeRobot makes of all numbers of
        ``observation_features``.
        """
        names = self._columns["objects"]
        column = {"dtype": "float32", "shape": (len(names),), "names": names}
        return {_OBJECTS: column} if names else {}

    @property
    def action_features(self):
        """Joints."""
        return dict.fromkeys(self._columns["action"], float)

    def connect(self, calibrate=True):
        """Start the session."""
        self._start("leader.remote", [*_LEADER, *self.config.words])

    def get_observation(self):
        """Return the newest observation.

        Raises:
            DeviceNotConnectedError: If ended or silent.
        """
        told = self._meet().read()
        names, objects = self._columns["action"], self._columns["objects"]
        values = dict(zip(names, told["observation.state"], strict=True))
        if objects:
            values |= zip(objects, told[_OBJECTS], strict=True)
        images = {
            name: _read_image(told[f"observation.images.{name}"])
            for name in self._columns["cameras"]
        }
        return {**values, **images}

    def send_action(self, action):
        """Request joint positions, which the gate checks, and return them.

        Raises:
            DeviceNotConnectedError: If the session ended.
            ValueError: If a joint is missing.
        """
        names = self._columns["action"]
        if missing := [name for name in names if name not in action]:
            raise ValueError(f"action: expected {names}, got none of {missing}")
        row = [float(action[name]) for name in names]
        self._meet().send({"action": row})
        return action


def _read_image(told):
    data = base64.b64decode(told["data"])
    return np.frombuffer(data, np.uint8).reshape(told["shape"])
