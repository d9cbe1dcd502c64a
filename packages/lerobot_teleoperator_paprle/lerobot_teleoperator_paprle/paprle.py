"""LeRobot teleoperator of a session."""

from functools import cached_property

from lerobot.teleoperators import Teleoperator
from lerobot_robot_paprle.session import Connected, read_columns

from lerobot_teleoperator_paprle.config_paprle import PaprleTeleoperatorConfig


class PaprleTeleoperator(Connected, Teleoperator):
    """Joints in degrees, grippers 0 closed … 100 open."""

    config_class = PaprleTeleoperatorConfig
    name = "paprle"

    def __init__(self, config):
        super().__init__(config)
        self.config = config

    @cached_property
    def _names(self):
        words = [w for w in self.config.words if w.startswith(("follower", "env"))]
        return read_columns(self.config.command, words)["action"]

    @property
    def action_features(self):
        """Joints."""
        return dict.fromkeys(self._names, float)

    @property
    def feedback_features(self):
        """None: the session renders feedback."""
        return {}

    def connect(self, calibrate=True):
        """Start the session."""
        self._start("observers.socket.path", self.config.words)

    def get_action(self):
        """Return the session's command.

        Raises:
            DeviceNotConnectedError: If ended or silent.
        """
        return self._meet().read()["action"]

    def send_feedback(self, feedback):
        """Do nothing."""
