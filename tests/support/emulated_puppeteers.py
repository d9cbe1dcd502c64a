"""Emulated puppeteers in a thread of the test, so that it can reach into the servos."""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from contextlib import contextmanager

import yaml

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
from paprle_emulators.dynamixel.orders import Orders
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.server import Server

PATIENCE = 5.0  # [s] generous: other processes share the machine


def wait_for(condition, what="it"):
    """Wait for something that another thread does."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.002)
    return found


def step_motors(limb):
    """Let motors make their torque, and nothing move."""

    def step(_t, dt):
        for servo in limb.servos:
            servo.step(dt)

    return step


class EmulatedPuppeteers:
    """A rig, served on pseudo-terminals; its servos stay where a test puts them."""

    def __init__(self, rig, link_dir):
        self.rig = rig
        for limb in rig.limbs.values():
            limb.step = step_motors(limb)
            for servo in limb.servos:
                servo.angle = 0.0
        self._answers = queue.Queue()
        orders = Orders(rig, self._answers.put)
        self.server = Server(rig, link_dir, orders)
        reading, self._writing = os.pipe()
        self.server.listen(reading)
        self._pipe = (reading, self._writing)
        self.faults = RigFaults(rig)

    def port(self, limb):
        return self.server.describe()["ports"][limb]

    def servo(self, servo_id, limb=None):
        limbs = [limb] if limb else list(self.rig.limbs)
        found = [
            s for n in limbs for s in self.rig.limbs[n].servos if s.number == servo_id
        ]
        return found[0]

    def servos(self, limb):
        return tuple(
            ServoSpec(spec.number, spec.model)
            for spec in self.rig.limbs[limb].spec.servos
        )

    def order(self, **order):
        """Give an order to the emulator's own thread, and wait for its answer."""
        os.write(self._writing, json.dumps(order).encode() + b"\n")
        answer = json.loads(self._answers.get(timeout=PATIENCE))
        assert answer["ok"], answer

    def unplug(self, limb):
        self.order(cmd="unplug", bus=limb)

    def plug(self, limb):
        self.order(cmd="replug", bus=limb)

    def close(self):
        self.server.close()
        for end in self._pipe:
            os.close(end)

    def cause(self, fault, **rest):
        self.faults.cause({"fault": fault, **rest})


@contextmanager
def before_others():
    """Run this thread, and those that it starts, before what else is tested.

    As in a session, whose threads are real-time: servos that do not answer for 0.15 s
    are lost, and a busy machine leaves a thread of the others waiting for longer.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


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
    emulated = EmulatedPuppeteers(Rig(read_rig(str(path))), tmp_path / "dev")
    thread = threading.Thread(target=emulated.server.run, name="emulator")
    thread.start()
    try:
        yield emulated
    finally:
        emulated.server.stop()
        thread.join()
        emulated.close()


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
