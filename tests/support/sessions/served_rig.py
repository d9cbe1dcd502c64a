"""An emulated rig of servos in a thread of the test, which can reach into it."""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from contextlib import contextmanager

PATIENCE = 5.0  # [s] generous: other processes share the machine


def wait_for(condition, what="it"):
    """Wait for something that another thread does."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.002)
    return found


class ServedRig:
    """A rig, served on pseudo-terminals.

    Attributes:
        faults: A second set, for causes from the test's thread.
    """

    def __init__(self, rig, faults, make_orders, make_server):
        self.rig, self.faults = rig, faults
        self._answers = queue.Queue()
        self.server = make_server(make_orders(self._answers.put))
        reading, self._writing = os.pipe()
        self.server.listen(reading)
        self._pipe = (reading, self._writing)

    def port(self, limb):
        return self.server.describe()["ports"][limb]

    def servo(self, servo_id, limb=None):
        limbs = [limb] if limb else list(self.rig.limbs)
        found = [
            s for n in limbs for s in self.rig.limbs[n].servos if s.number == servo_id
        ]
        return found[0]

    def order(self, **order):
        """Give an order to the emulator's own thread, and wait for its answer."""
        os.write(self._writing, json.dumps(order).encode() + b"\n")
        answer = json.loads(self._answers.get(timeout=PATIENCE))
        assert answer["ok"], answer
        return answer

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
def serving(emulated):
    """Serve a rig in a thread for the length of a block, then close it."""
    thread = threading.Thread(target=emulated.server.run, name="emulator")
    thread.start()
    try:
        yield emulated
    finally:
        emulated.server.stop()
        thread.join()
        emulated.close()
