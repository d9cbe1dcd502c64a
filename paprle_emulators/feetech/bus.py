"""Servos on one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paprle_emulators.feetech.packets import BROADCAST, Packet, Parser, make_status
from paprle_emulators.feetech.servo import Servo
from paprle_emulators.servo_rig.answer import Answer

# spec: FT-SCS protocol manual and Feetech's SDK (INST.h), instructions
PING, READ, WRITE, REG_WRITE, ACTION = 0x01, 0x02, 0x03, 0x04, 0x05
RECOVER, REBOOT, RESET, SET_PLACE = 0x06, 0x08, 0x0A, 0x0B
SYNC_READ, SYNC_WRITE = 0x82, 0x83
BAUDS = (1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)
"""spec: memory table, values of Baud_Rate."""
PAUSE_NS = 3_000_000  # chosen: within a packet; a spoilt length must not swallow more
DELAY_UNIT = 2e-6  # spec: memory table, Return_Delay_Time [s]
PING_SLOT = 5e-4  # chosen: servos answer a broadcast ping one after another [s]


class Bus:
    """All servos on one port.

    Attributes:
        n_refused: With a wrong checksum.
        n_collisions: Simultaneous answers.
    """

    def __init__(self, servos: Iterable[Servo]) -> None:
        self.servos = list(servos)
        self.connected = list(self.servos)
        self.parser = Parser()
        self.n_packets = 0
        self.n_refused = 0
        self.n_collisions = 0
        self._heard_ns = 0

    def look_ahead(self, ahead: float) -> None:
        """Set the age of angles, [s]."""
        for servo in self.servos:
            servo.ahead = ahead

    def receive(self, data: bytes, now_ns: int, baud: int | None) -> list[Answer]:
        """Return answers to received bytes."""
        if not data:
            return []
        if now_ns - self._heard_ns > PAUSE_NS:
            self.parser.forget()
        self._heard_ns = now_ns
        answers: list[Answer] = []
        for packet in self.parser.feed(data):
            self.n_packets += 1
            if packet.is_whole:
                awake = [s for s in self.connected if listens(s, baud)]
                answers += self._merge(execute(packet, awake))
            else:
                self.n_refused += 1
        return answers

    def _merge(self, answers: Iterable[Answer]) -> Iterator[Answer]:
        held: Answer | None = None
        for one in answers:
            if held is not None and held.servo == one.servo and held.data and one.data:
                self.n_collisions += 1
                delay = min(held.delay, one.delay)
                held = Answer(delay, overlay(held.data, one.data), one.servo)
                continue
            if held is not None:
                yield held
            held = one
        if held is not None:
            yield held


def overlay(first: bytes, second: bytes) -> bytes:
    """Return two senders' mix: zeros win."""
    both = bytes(a & b for a, b in zip(first, second, strict=False))
    return both + max(first, second, key=len)[len(both) :]


def listens(servo: Servo, baud: int | None) -> bool:
    """Return whether a servo is powered at this rate."""
    if servo.voltage <= 0:
        return False
    return baud is None or BAUDS[servo.memory.ram[6] % len(BAUDS)] == baud


def answer(servo: Servo, data: bytes = b"", wait: float = 0.0) -> Answer:
    """Return a status packet after a wait [s]."""
    delay = servo.memory.ram[7] * DELAY_UNIT + wait
    packet = make_status(servo.number, servo.error, data)
    return Answer(delay, b"" if servo.is_silent else packet, servo.number)


def execute(packet: Packet, awake: list[Servo]) -> Iterator[Answer]:
    """Execute a packet; yield answers."""
    if packet.code == SYNC_READ:
        yield from sync_read(packet.params, awake)
    elif packet.code == SYNC_WRITE:
        sync_write(packet.params, awake)
    elif packet.code == PING and packet.servo == BROADCAST:
        for servo in sorted(awake, key=lambda one: one.number):
            yield answer(servo, wait=PING_SLOT)
    else:
        for servo in awake:
            if packet.servo in (BROADCAST, servo.number):
                yield from obey(servo, packet)


def obey(servo: Servo, packet: Packet) -> Iterator[Answer]:
    """Execute a servo's instruction; yield its answer."""
    code, params = packet.code, packet.params
    is_own = packet.servo != BROADCAST
    if code == PING:
        yield answer(servo)
    elif code == READ:
        if is_own and len(params) == 2:
            yield answer(servo, servo.read(params[0], params[1]))
    elif code in CHANGES:
        level, number = servo.memory.ram[8], servo.number
        wait = change(servo, code, params)
        if is_own and level:
            # The answer to a new ID still carries the old one.
            packet_out = make_status(number, servo.error)
            delay = servo.memory.ram[7] * DELAY_UNIT + wait
            yield Answer(delay, b"" if servo.is_silent else packet_out, number)


CHANGES = {WRITE, REG_WRITE, ACTION, RECOVER, REBOOT, RESET, SET_PLACE}


def change(servo: Servo, code: int, params: bytes) -> float:
    """Execute a changing instruction; return the answer's wait, [s]."""
    if code in (WRITE, REG_WRITE) and len(params) >= 2:
        store = servo.write if code == WRITE else servo.register
        return store(params[0], params[1:])
    if code == ACTION:
        servo.act()
    elif code == RECOVER:
        servo.memory.restore_factory()
        servo.power_up()
    elif code == REBOOT:
        servo.power_up()
    elif code == RESET:
        servo.clear_turns()
    elif code == SET_PLACE and len(params) == 2:
        servo.set_middle(int.from_bytes(params, "little"))
    return 0.0


def sync_read(params: bytes, awake: list[Servo]) -> Iterator[Answer]:
    """Yield registers in order of IDs."""
    if len(params) < 3:
        return
    named = by_number(awake)
    for number in params[2:]:
        for servo in named.get(number, ()):
            yield answer(servo, servo.read(params[0], params[1]))


def sync_write(params: bytes, awake: list[Servo]) -> None:
    """Write to many servos, unanswered."""
    if len(params) < 2:
        return
    address, length = params[0], params[1]
    named = by_number(awake)
    for at in range(2, len(params) - length, length + 1):
        data = params[at + 1 : at + 1 + length]
        for servo in named.get(params[at], ()):
            servo.write(address, data)


def by_number(servos: Iterable[Servo]) -> dict[int, list[Servo]]:
    """Return servos by ID."""
    named: dict[int, list[Servo]] = {}
    for servo in servos:
        named.setdefault(servo.number, []).append(servo)
    return named
