"""The robots of this workspace."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from paprle.contracts.settings.core import RobotSettings
from paprle.robot import RobotModel

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def load_robot():
    """Return a function from a robot's name to its model."""

    def load(name):
        path = ROOT / "configs" / "follower" / f"{name}.yaml"
        values = json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")))
        settings = TypeAdapter(RobotSettings).validate_json(values)
        return RobotModel.from_settings(settings, name, ROOT)

    return load
