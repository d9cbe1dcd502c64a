"""What a user sees of AdaptiX's scenario, told by an observer of a live session."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Ge, Unit, doc

from benchmarks.shared_control.users import Scene, point_of
from paprle.contracts.plugins import Observer, PluginSpec
from paprle.contracts.settings.base import settings
from paprle.contracts.urdf.link_poses import LinkPoses

PLUGIN = PluginSpec(
    summary="Writes what a user sees.",
    config="scenario_eye:EyeConfig",
    factory="scenario_eye:Eye",
)
ADVISOR, POINT = "helper", (-0.02, 0.0, 0.0)
_INFO = "scenario_eye-1.0.dist-info"


@settings
class EyeConfig:
    path: Annotated[str, Unit("path"), doc("File that it is written to.")]
    rate: Annotated[float, Ge(1), Unit("Hz"), doc("How often it looks.")] = 200.0


class Eye(Observer):
    """Writes a line for each view: the scene, and how old the advice is."""

    def open(self):
        self._links = LinkPoses(self.robot)
        self._limb = self.robot.limbs[0]
        self._joint = self.robot.joint_names.index(self._limb.gripper.joint)
        path = Path(self.config.path)
        self._file = path.open("w", encoding="utf-8")

    def observe(self, view):
        advice = view.advice.get(ADVISOR)
        if advice is None or not {"block", "target"} <= set(view.objects):
            return
        said = advice.record
        self._links.update(view.q)
        place = self._links.place(self._limb.eef_link)
        p, forward = point_of(place, np.array(POINT), 0)
        told = {
            "t_ns": time.monotonic_ns(),
            "is_engaged": view.is_engaged,
            "p": p.tolist(),
            "forward": forward.tolist(),
            "block": view.objects["block"][:3].tolist(),
            "target": view.objects["target"][:3].tolist(),
            "opening": self._limb.gripper.measure(float(view.q[self._joint])),
            "is_held": bool(said["is_held"]),
            "difference": float(said["difference"]) if said["valid"] else None,
            "is_shown": bool(said["is_shown"]),
            "age": advice.age,
            "said_ns": int(said["stamp_ns"]),
            "based_on_ns": int(said["based_on_ns"]),
        }
        self._file.write(json.dumps(told) + "\n")
        self._file.flush()

    def close(self):
        if getattr(self, "_file", None) is not None:
            self._file.close()


class Watcher:
    """Reads what the observer writes.

    Attributes:
        told: All that it has told.
        words, env: What a session is started with, so that it is there.
    """

    def __init__(self, folder):
        self._path = folder / "seen.jsonl"
        self._tail, self._file, self.told = "", None, []
        info = folder / "plugin" / _INFO
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: scenario-eye\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(
            "[paprle.observers]\neye = scenario_eye:PLUGIN\n"
        )
        here = str(Path(__file__).parent)
        paths = [str(info.parent), here, os.environ.get("PYTHONPATH", "")]
        self.env = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self.words = [f"observers.eye.path={self._path}"]

    def look(self):
        """Return the newest scene and whether it is driven; None: nothing is seen."""
        if self._file is None and self._path.exists():
            self._file = self._path.open(encoding="utf-8")
        if self._file is not None:
            *lines, self._tail = (self._tail + self._file.read()).split("\n")
            self.told += map(json.loads, lines)
        if not self.told:
            return None
        now = self.told[-1]
        rows = [np.array(now[k]) for k in ("p", "forward", "block", "target")]
        difference = np.nan if now["difference"] is None else now["difference"]
        rest = now["opening"], now["is_held"], difference, now["is_shown"]
        return Scene(now["t_ns"] * 1e-9, *rows, *rest), now["is_engaged"]

    def close(self):
        if self._file is not None:
            self._file.close()
