"""Emulated puppeteers in a thread of the test, so that it can reach into the servos."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

import yaml
from served_rig import ServedRig, before_others, serving, wait_for

from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.leaders.puppeteer.config import (
    GripperServoSettings,
    PuppeteerConfig,
    PuppetSettings,
    ServoSettings,
)
from paprle.leaders.puppeteer.leader import Puppeteer
from paprle.testing import LeaderContract
from paprle_emulators.dynamixel.config import read_rig
from paprle_emulators.dynamixel.faults import RigFaults
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.server import Server
from paprle_emulators.servo_rig.orders import Orders


def step_motors(limb):
    """Let motors make their torque, and nothing move."""

    def step(_t, dt):
        for servo in limb.servos:
            servo.step(dt)

    return step


class EmulatedPuppeteers(ServedRig):
    """A rig, served on pseudo-terminals; its servos stay where a test puts them."""

    def __init__(self, rig, link_dir):
        for limb in rig.limbs.values():
            limb.step = step_motors(limb)
            for servo in limb.servos:
                servo.angle = 0.0
        super().__init__(
            rig,
            RigFaults(rig),
            partial(Orders, rig, RigFaults(rig)),
            partial(Server, rig, link_dir),
        )

    def servos(self, limb):
        return tuple(
            ServoSpec(spec.number, spec.model)
            for spec in self.rig.limbs[limb].spec.servos
        )


@contextmanager
def run_emulated(tmp_path, tree):
    """Serve the rig of a leader's YAML."""
    with before_others(), _serve_emulated(tmp_path, tree) as emulated:
        yield emulated


@contextmanager
def _serve_emulated(tmp_path, tree):
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "rig.yaml"
    path.write_text(yaml.safe_dump(tree))
    with serving(
        EmulatedPuppeteers(Rig(read_rig(str(path))), tmp_path / "dev")
    ) as emulated:
        yield emulated


class PuppeteerContract(LeaderContract):
    """The contract of a leader against emulated servos; ``config`` is the rig's."""

    def make_leader(self, clock):
        return Puppeteer(self.config, clock)

    def stimulate(self, leader, clock):
        """Wait for a reading of this moment: the bus runs in real time."""
        now_ns = clock()

        def is_read():
            snapshots = [bus.latest() for bus in leader.buses.values()]
            return all(s and s.reading.stamp_ns >= now_ns for s in snapshots)

        wait_for(is_read, "a reading")


def make_limb(port, first=1, models=("xl330-m288", "xm430-w350"), **rest):
    """A limb without links: two joints and a trigger."""
    servos = {
        f"joint{i + 1}": {"id": first + i, "model": model}
        for i, model in enumerate(models)
    }
    grip = {"joint": "gripper", "id": first + len(models), "model": "xl330-m077"}
    return {
        "port": port,
        "servos": servos,
        "gripper": {**grip, "closed": 0.0, "open": 0.8},
        **rest,
    }


URDF = {"urdf": "arm.urdf", "base_link": "base", "eef_link": "hand"}


def make_config(tree, port_of=lambda limb: limb, **rest):
    """The config of a rig that ``make_limb`` describes."""
    limbs = {}
    for name, limb in tree["limbs"].items():
        values = {k: v for k, v in limb.items() if k not in {"servos", "gripper"}}
        values["port"] = port_of(name)
        if "reset_q" in values:
            values["reset_q"] = tuple(values["reset_q"])
        gripper = limb.get("gripper")
        limbs[name] = PuppetSettings(
            **{**URDF, **values},
            servos={j: ServoSettings(**s) for j, s in limb["servos"].items()},
            gripper=GripperServoSettings(**gripper) if gripper else None,
        )
    return PuppeteerConfig(limbs=limbs, timeout=0.03, **rest)


def wait_for_sample(leader, condition=lambda sample: True):  # noqa: ARG005
    """Wait for a sample of which something holds."""
    return wait_for(
        lambda: (s := leader.latest()) is not None and condition(s) and s, "a sample"
    )
