"""The robot: what LeRobot asks for goes through retargeting and gate of a session."""

import base64
from functools import cached_property

import numpy as np
from lerobot.robots import Robot

from lerobot_robot_paprle.config_paprle import PaprleRobotConfig
from lerobot_robot_paprle.session import Session, read_columns

_LEADER = ("leader=policy", "leader.duration=86400", "leader.episodes=0")


class PaprleRobot(Robot):
    """Joints in degrees, grippers 0 closed … 100 open, cameras of the session."""

    config_class = PaprleRobotConfig
    name = "paprle"

    def __init__(self, config):
        super().__init__(config)
        self.config = config
        self._session = None

    @cached_property
    def _columns(self):
        return read_columns(self.config.command, self.config.words)

    @property
    def cameras(self):
        """Sizes of the session's images by name; LeRobot counts them."""
        return self._columns["cameras"]

    @property
    def observation_features(self):
        """Joints, and images of (height, width, 3)."""
        images = {name: tuple(size) for name, size in self._columns["cameras"].items()}
        return {**self.action_features, **images}

    @property
    def action_features(self):
        """Joints."""
        return dict.fromkeys(self._columns["action"], float)

    @property
    def is_connected(self):
        """Whether its session runs."""
        return self._session is not None and self._session.is_alive

    def connect(self, calibrate=True):
        """Start the session."""
        words = [*_LEADER, "session.status=false", *self.config.words]
        self._session = Session(
            self.config.command, "leader.remote", words, self.config.timeout
        )

    @property
    def is_calibrated(self):
        """It is PAPRLE's to calibrate it."""
        return True

    def calibrate(self):
        """Nothing: `paprle calibrate` does."""

    def configure(self):
        """Nothing: the session's YAML does."""

    def get_observation(self):
        """Return what was seen last."""
        told = self._session.read()
        values = zip(self._columns["action"], told["observation.state"], strict=True)
        images = {
            name: _read_image(told[f"observation.images.{name}"])
            for name in self._columns["cameras"]
        }
        return {**dict(values), **images}

    def send_action(self, action):
        """Ask for these joints; the gate decides what is sent."""
        row = [float(action[name]) for name in self._columns["action"]]
        self._session.send({"action": row})
        return action

    def disconnect(self):
        """Let the robot brake, and end the session."""
        if self._session is not None:
            self._session.close()
        self._session = None


def _read_image(told):
    data = base64.b64decode(told["data"])
    return np.frombuffer(data, np.uint8).reshape(told["shape"])
