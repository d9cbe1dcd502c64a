"""Servos on one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paprle_emulators.dynamixel.packets import (
    BROADCAST,
    STATUS,
    Packet,
    Parser,
    make_fast_status,
    make_status,
)
from paprle_emulators.dynamixel.servo import Servo
from paprle_emulators.servo_rig.answer import Answer

PING, READ, WRITE, REG_WRITE, ACTION = (
    0x01,
    0x02,
    0x03,
    0x04,
    0x05,
)  # spec: protocol 2.0
FACTORY_RESET, REBOOT, CLEAR = 0x06, 0x08, 0x10  # spec: protocol 2.0
SYNC_READ, SYNC_WRITE, FAST_SYNC_READ = 0x82, 0x83, 0x8A  # spec: protocol 2.0
BULK_READ, BULK_WRITE, FAST_BULK_READ = 0x92, 0x93, 0x9A  # spec: protocol 2.0
CLEAR_KEY = b"\x44\x58\x4c\x22"  # spec: protocol 2.0, fixed parameters of CLEAR
RESULT_FAIL, INSTRUCTION_ERROR, CRC_ERROR = 1, 2, 3  # spec: protocol 2.0
RANGE_ERROR, LENGTH_ERROR, ACCESS_ERROR = 4, 5, 7  # spec: protocol 2.0

BAUDS = (9600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000)
"""spec: e-manual, values of the Baud Rate register."""
PAUSE_NS = (
    3_000_000  # chosen: within a packet; a spoilt length must not swallow the next
)
DELAY_UNIT = 2e-6  # spec: e-manual, Return Delay Time [s]

NO_SECOND = 253  # spec: e-manual, register 12: from here on there is none


class Bus:
    """All servos on one port."""

    def __init__(self, servos: Iterable[Servo]) -> None:
        self.servos = list(servos)
        self.parser = Parser()
        self.n_packets = 0
        self.n_refused = 0
        self._heard_ns = 0

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
            awake = [s for s in self.servos if listens(s, baud)]
            answers += self._execute(packet, awake, now_ns)
        return answers

    def look_ahead(self, ahead: float) -> None:
        """Set the age of angles, [s]."""
        for servo in self.servos:
            servo.ahead = ahead

    def _execute(self, packet: Packet, awake: list[Servo], now: int) -> list[Answer]:
        if packet.code == STATUS:
            return []
        if not packet.is_whole:
            self.n_refused += 1
            return self._refuse(packet, awake, CRC_ERROR)
        for servo in awake:
            if packet.servo in (BROADCAST, servo.number, servo.second_number):
                servo.heard_ns = now
        group = GROUPS.get(packet.code)
        if group is not None:
            return list(group(self, packet, awake, now))
        code, params = packet.code, packet.params
        answers = []
        for servo in awake:
            is_own = packet.servo == servo.number
            if not is_own and packet.servo not in (BROADCAST, servo.second_number):
                continue
            error, data = execute(servo, code, params, now)
            is_heard = is_own or (packet.servo == BROADCAST and code == PING)
            if is_heard and servo.answers(code):
                answers.append(answer(servo, error, data))
        return answers

    def _refuse(self, packet: Packet, awake: list[Servo], error: int) -> list[Answer]:
        return [
            answer(servo, error, b"")
            for servo in awake
            if servo.number == packet.servo and servo.answers(packet.code)
        ]

    def sync_read(
        self, packet: Packet, awake: list[Servo], now: int
    ) -> Iterator[Answer]:
        """Answer in the packet's order."""
        address, length, ids = take_sync(packet.params)
        for servo in in_order(ids, awake):
            yield read_one(servo, address, length, now)

    def bulk_read(
        self, packet: Packet, awake: list[Servo], now: int
    ) -> Iterator[Answer]:
        """Answer in the packet's order."""
        for number, address, length in take_bulk(packet.params):
            for servo in in_order(bytes((number,)), awake):
                yield read_one(servo, address, length, now)

    def fast_sync_read(
        self, packet: Packet, awake: list[Servo], now: int
    ) -> Iterator[Answer]:
        """Answer all in one packet."""
        address, length, ids = take_sync(packet.params)
        yield from fast([(n, address, length) for n in ids], awake, now)

    def fast_bulk_read(
        self, packet: Packet, awake: list[Servo], now: int
    ) -> Iterator[Answer]:
        """Answer all in one packet."""
        yield from fast(list(take_bulk(packet.params)), awake, now)

    def sync_write(
        self, packet: Packet, awake: list[Servo], now: int
    ) -> Iterator[Answer]:
        """Write to many servos, unanswered."""
        del now
        if len(packet.params) < 4:
            return
        address = int.from_bytes(packet.params[:2], "little")
        length = int.from_bytes(packet.params[2:4], "little")
        by_id = {s.number: s for s in awake}
        doubles = len(by_id) < len(awake)
        shadows = [s for s in awake if s.second_number < NO_SECOND]
        for at in range(4, len(packet.params) - length, length + 1):
            number = packet.params[at]
            data = packet.params[at + 1 : at + 1 + length]
            found = in_order(bytes((number,)), awake) if doubles else ()
            for servo in found or filter(None, (by_id.get(number),)):
                servo.write(address, data)
            for servo in shadows:
                if servo.second_number == number:
                    servo.write(address, data)
        yield from ()

    def bulk_write(
        self, packet: Packet, awake: list[Servo], now: int
    ) -> Iterator[Answer]:
        """Write each servo's own registers."""
        del now
        params, at = packet.params, 0
        while at + 5 <= len(params):
            number = params[at]
            address = int.from_bytes(params[at + 1 : at + 3], "little")
            length = int.from_bytes(params[at + 3 : at + 5], "little")
            data = params[at + 5 : at + 5 + length]
            at += 5 + length
            if len(data) == length:
                for servo in in_order(bytes((number,)), awake):
                    servo.write(address, data)
        yield from ()


GROUPS = {
    SYNC_READ: Bus.sync_read,
    BULK_READ: Bus.bulk_read,
    FAST_SYNC_READ: Bus.fast_sync_read,
    FAST_BULK_READ: Bus.fast_bulk_read,
    SYNC_WRITE: Bus.sync_write,
    BULK_WRITE: Bus.bulk_write,
}


def listens(servo: Servo, baud: int | None) -> bool:
    """Return whether a servo is powered at this rate."""
    if servo.voltage <= 0:
        return False
    return baud is None or BAUDS[servo.table.memory[8]] == baud


def in_order(ids: bytes, awake: list[Servo]) -> list[Servo]:
    """Return the servos of IDs."""
    named: dict[int, list[Servo]] = {}
    for servo in awake:
        named.setdefault(servo.table.memory[7], []).append(servo)
    return [servo for number in ids for servo in named.get(number, ())]


def delay_of(servo: Servo) -> float:
    """Return the return delay, [s]."""
    return servo.table.memory[9] * DELAY_UNIT


def answer(servo: Servo, error: int, data: bytes) -> Answer:
    """Return a servo's status packet."""
    packet = make_status(servo.number, error | servo.error, data)
    return Answer(delay_of(servo), packet, servo.number)


def read_one(servo: Servo, address: int, length: int, now: int) -> Answer:
    """Return a servo's part of a read."""
    if not servo.answers(READ):
        return Answer(0.0, b"", servo.number)
    data = servo.read(address, length, now)
    return answer(servo, ACCESS_ERROR if data is None else 0, data or b"")


def fast(
    asked: list[tuple[int, int, int]], awake: list[Servo], now: int
) -> Iterator[Answer]:
    """Yield a fast read's packet."""
    blocks: list[tuple[int, int, bytes]] = []
    delay, is_cut = 0.0, False
    named = {servo.number: servo for servo in reversed(awake)}
    for number, address, length in asked:
        servo = named.get(number)
        data = servo.read(address, length, now) if servo is not None else None
        if servo is None or data is None or not servo.answers(READ):
            is_cut = True
            break
        delay = max(delay, delay_of(servo))
        blocks.append((servo.error, number, data))
    if not blocks:
        return
    packet = make_fast_status(blocks)
    if is_cut:
        # The first servo announces the length of all; the rest never comes.
        whole = 1 + sum(length + 4 for _, _, length in asked)
        packet = packet[:5] + whole.to_bytes(2, "little") + packet[7:]
    yield Answer(delay, packet, BROADCAST)


def take_sync(params: bytes) -> tuple[int, int, bytes]:
    """Return a sync read's address, length and IDs."""
    address = int.from_bytes(params[:2], "little")
    return address, int.from_bytes(params[2:4], "little"), params[4:]


def take_bulk(params: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield a bulk read's IDs, addresses and lengths."""
    for at in range(0, len(params) - 4, 5):
        address = int.from_bytes(params[at + 1 : at + 3], "little")
        yield params[at], address, int.from_bytes(params[at + 3 : at + 5], "little")


def execute(servo: Servo, code: int, params: bytes, now: int) -> tuple[int, bytes]:
    """Execute an instruction; return error and data."""
    if code == PING:
        memory = servo.table.memory
        return 0, bytes((memory[0], memory[1], memory[6]))
    if code == READ:
        return read(servo, params, now)
    if code in (WRITE, REG_WRITE):
        if len(params) < 3:
            return LENGTH_ERROR, b""
        address = int.from_bytes(params[:2], "little")
        store = servo.write if code == WRITE else servo.register
        return store(address, params[2:]), b""
    return command(servo, code, params), b""


def read(servo: Servo, params: bytes, now: int) -> tuple[int, bytes]:
    """Execute READ."""
    if len(params) != 4:
        return LENGTH_ERROR, b""
    address = int.from_bytes(params[:2], "little")
    data = servo.read(address, int.from_bytes(params[2:], "little"), now)
    return (ACCESS_ERROR, b"") if data is None else (0, data)


def command(servo: Servo, code: int, params: bytes) -> int:
    """Execute an instruction; return the error number."""
    if code == ACTION:
        servo.act()
        return 0
    if code == REBOOT:
        servo.reboot()
        return 0
    if code == CLEAR:
        if params != b"\x01" + CLEAR_KEY:
            return RANGE_ERROR
        return 0 if servo.clear_turns() else RESULT_FAIL
    # A factory reset would leave a rig that no configuration describes.
    return RESULT_FAIL if code == FACTORY_RESET else INSTRUCTION_ERROR
