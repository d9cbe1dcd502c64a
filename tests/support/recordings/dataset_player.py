"""A session that follows a dataset, and the datasets' shipped configs."""

from __future__ import annotations

import numpy as np
import yaml

from paprle.contracts.types import SessionState
from paprle.ipc.process import WORKSPACE
from paprle.leaders.dataset.config import ColumnSettings, DatasetConfig
from paprle.leaders.dataset.leader import Dataset
from paprle.testing import ManualClock, make_feedback

H = 0.005  # [s]


def load_config(name, **settings):
    """Return the config of a YAML that is shipped."""
    text = (WORKSPACE / "configs" / "leader" / f"{name}.yaml").read_text()
    words = yaml.safe_load(text)
    words.pop("type")
    words["limbs"] = {
        limb: ColumnSettings(
            **{k: tuple(v) if isinstance(v, list) else v for k, v in own.items()}
        )
        for limb, own in words["limbs"].items()
    }
    words["sources"] = tuple(words.get("sources", ("action",)))
    return DatasetConfig(**{**words, **settings})


class Player:
    """A leader and a session that follows it."""

    def __init__(self, config, robot=None):
        self.clock = ManualClock()
        self.leader = Dataset(config, self.clock)
        if robot is not None:
            self.leader.meet(robot)
        self.leader.open()
        self.episode = 0

    def tell(self, state):
        self.leader.apply(
            make_feedback(state, stamp_ns=self.clock(), episode=self.episode)
        )

    def play(self, time=np.inf):
        """Follow until the end of the episode, or for a time [s]; return samples."""
        samples = [self.leader.latest()]
        while not samples[-1].end and len(samples) < time / H:
            self.tell(SessionState.ENGAGED)
            self.clock.advance(H)
            samples.append(self.leader.latest())
        return samples

    def reset(self):
        self.tell(SessionState.RESETTING)
        self.episode += 1
        self.tell(SessionState.WAITING)
        return self.leader.latest()
