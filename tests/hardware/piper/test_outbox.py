import threading

import pytest

can = pytest.importorskip("can")

from paprle.hardware.piper.outbox import Outbox  # noqa: E402


class StuckBus(can.BusABC):
    """Waits in ``send`` until it is let go."""

    def __init__(self):
        self.channel_info = "stuck"
        self.sent, self.go = [], threading.Event()
        super().__init__(channel=None)

    def send(self, msg, timeout=None):  # noqa: ARG002 - as any bus
        self.go.wait(5.0)
        self.sent.append(msg.arbitration_id)

    def _recv_internal(self, timeout):  # noqa: ARG002 - as any bus
        return None, False


def message(can_id):
    return can.Message(arbitration_id=can_id, data=bytes(8), is_extended_id=False)


def test_sends_in_order_and_before_it_ends():
    bus = StuckBus()
    bus.go.set()
    outbox = Outbox(bus)

    for can_id in range(5):
        outbox.send(message(can_id))
    outbox.shutdown()

    assert bus.sent == list(range(5))
    assert bus._is_shutdown


def test_a_stuck_bus_makes_nobody_wait_and_keeps_little():
    bus = StuckBus()
    outbox = Outbox(bus)

    with pytest.raises(can.CanOperationError, match="full"):
        for can_id in range(100):
            outbox.send(message(can_id))

    bus.go.set()
    outbox.shutdown()
    assert len(bus.sent) < 20
