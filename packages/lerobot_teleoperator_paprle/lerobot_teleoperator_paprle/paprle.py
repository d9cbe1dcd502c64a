"""The teleoperator: what a session sends to its robot is what it asks of LeRobot's."""

from functools import cached_property

from lerobot.teleoperators import Teleoperator
from lerobot_robot_paprle.session import Session, read_columns

from lerobot_teleoperator_paprle.config_paprle import PaprleTeleoperatorConfig


class PaprleTeleoperator(Teleoperator):
    """Joints in degrees, grippers 0 closed … 100 open."""

    config_class = PaprleTeleoperatorConfig
    name = "paprle"

    def __init__(self, config):
        super().__init__(config)
        self.config = config
        self._session = None

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
        """None: what is felt is rendered by the session."""
        return {}

    @property
    def is_connected(self):
        """Whether its session runs."""
        return self._session is not None and self._session.is_alive

    def connect(self, calibrate=True):
        """Start the session."""
        words = ["session.status=false", *self.config.words]
        self._session = Session(
            self.config.command, "observers.socket.path", words, self.config.timeout
        )

    @property
    def is_calibrated(self):
        """It is PAPRLE's to calibrate its leaders."""
        return True

    def calibrate(self):
        """Nothing: `paprle calibrate` does."""

    def configure(self):
        """Nothing: the session's YAML does."""

    def get_action(self):
        """Return what the session sends to its robot."""
        return self._session.read()["action"]

    def send_feedback(self, feedback):
        """Nothing is felt of LeRobot's robot."""

    def disconnect(self):
        """End the session."""
        if self._session is not None:
            self._session.close()
        self._session = None
