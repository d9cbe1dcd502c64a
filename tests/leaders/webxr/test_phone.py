"""A phone as a leader: its contract, and what it makes of what the page says."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import replace

import numpy as np
import pytest
from phones import TLS_ADDRESS, wait_until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import Cues, SessionState
from paprle.leaders.webxr.config import AppConfig, WebxrConfig
from paprle.leaders.webxr.leader import Webxr
from paprle.testing import LeaderContract, ManualClock
from paprle.testing.samples import make_feedback
from paprle_emulators.phone.phone import EmulatedPhone

APP = {"x": 0.1, "y": 0.2, "z": 0.3, "qx": 0.0, "qy": 0.0, "qz": 0.0, "qw": 1.0}


def plug_in(leader):
    """Open the leader's page, as somebody who reads its notes."""
    address = leader.notes[0].removeprefix("open ")
    return EmulatedPhone(address, page=f"{time.monotonic_ns()}")


def say(leader, phone, *args, **changes):
    """Send a message and wait until it was heard."""
    device = leader._station.device
    n = device.n_messages
    phone.tell(*args, **changes)
    wait_until(lambda: device.n_messages > n)


class TestPhone(LeaderContract):
    @pytest.fixture(autouse=True)
    def phones(self):
        self.phones, self.y = {}, 0.0
        yield
        for phone in self.phones.values():
            phone.close()

    def make_leader(self, clock):
        return Webxr(WebxrConfig(device="phone"), clock)

    def stimulate(self, leader, clock):  # noqa: ARG002
        if leader not in self.phones:
            self.phones[leader] = plug_in(leader)
            self.phones[leader].hold()
        self.y += 1e-4
        say(leader, self.phones[leader], (0.0, self.y, 0.0))

    def unplug(self, leader):
        self.phones[leader].drop()
        wait_until(lambda: not leader._station.device.state.is_tracked)


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def leader(clock):
    made = Webxr(WebxrConfig(device="phone"), clock)
    made.open()
    yield made
    made.close()


@pytest.fixture
def phone(leader):
    made = plug_in(leader)
    yield made
    made.close()


def test_the_leader_waits_for_its_phone(leader):
    assert leader.latest() is None


def test_the_page_is_a_hand_in_rep103(leader, phone):
    say(leader, phone)
    say(leader, phone, (0.004, 0.0, -0.008), opening=0.25)

    command = leader.latest().limbs["hand"]
    T = command.T_leader_base_leader_eef
    np.testing.assert_allclose(T.translation, [0.008, -0.004, 0.0])
    assert command.opening == 0.25


def test_the_dead_man_is_the_button(leader, phone, clock):
    say(leader, phone)
    assert not leader.latest().engaged
    phone.hold()
    say(leader, phone)
    leader.latest()
    clock.advance(0.03)
    assert leader.latest().engaged
    phone.let_go()
    say(leader, phone)
    assert not leader.latest().engaged


def test_a_release_that_is_over_before_anybody_looks_is_told(leader, phone, clock):
    phone.hold()
    say(leader, phone)
    leader.latest()
    clock.advance(0.03)
    assert leader.latest().engaged

    phone.let_go()
    say(leader, phone)
    phone.hold()
    say(leader, phone, (0.002, 0.0, 0.0))

    seen = []
    for _ in range(8):
        seen.append(leader.latest())
        clock.advance(0.005)
    engaged = [sample.engaged for sample in seen]
    assert engaged[:5] == [False] * 5, "long enough for every tick"
    assert engaged[-1]
    assert seen[-1].seq > seen[0].seq


def test_a_press_while_waiting_starts(leader, phone, clock):
    leader.apply(make_feedback(SessionState.WAITING))
    phone.let_go()
    say(leader, phone)
    phone.hold()
    say(leader, phone)
    leader.latest()
    clock.advance(0.03)
    assert leader.latest().start


def test_buttons_are_counted_once_whatever_happens_to_the_link(leader, phone):
    phone.counts["stop"] = 2
    say(leader, phone)
    phone.counts["next_episode"] = 1
    say(leader, phone)
    assert leader.latest().actions[:4] == (0, 2, 1, 0)

    phone.close()
    address = leader.notes[0].removeprefix("open ")
    wait_until(lambda: leader._station.device._owner is None)
    again = EmulatedPhone(address, page="another loading")
    say(leader, again)
    again.counts["discard"] = 1
    say(leader, again)

    assert leader.latest().actions[:4] == (0, 2, 1, 1)
    again.close()


def test_the_page_is_told_what_the_robot_meets(leader, phone):
    feedback = make_feedback(SessionState.ENGAGED)
    leader.apply(replace(feedback, cues=Cues(contact=0.5), rumble=0.75))

    wait_until(lambda: phone.status.get("state") == "ENGAGED")
    assert phone.status["drives"]
    assert phone.status["rumble"] == 0.75
    assert phone.status["contact"] == 0.5

    leader.apply(replace(feedback, drives=(False,)))
    wait_until(lambda: not phone.status["drives"])
    assert phone.status["state"] == "ENGAGED", "another leader's limbs move"


def test_a_phone_whose_clock_is_an_hour_off_is_as_fresh_as_any(leader, phone, clock):
    phone.skew = 3600.0
    say(leader, phone)
    wait_until(lambda: leader._station.device.clock.offset is not None)
    clock.advance(0.005)
    say(leader, phone)

    assert leader.latest().stamp_ns <= clock()
    assert clock() - leader.latest().stamp_ns < 1e9


def test_garbage_is_counted_and_told_at_the_end(leader, phone):
    phone.send_text("{}")
    phone.send_text(b"\x00")
    say(leader, phone)

    assert leader._station.device.refused["message"] == 2
    leader.close()
    assert "refused: message 2" in "\n".join(leader.closing_notes)


def test_a_stranger_is_told_to_the_operator(leader):
    address = leader.notes[0].removeprefix("open ").split("#")[0]
    with pytest.raises(InvalidStatus):
        EmulatedPhone(f"{address}#guess")

    assert "refused somebody (token: 1)" in "\n".join(leader.take_warnings())
    assert leader.take_warnings() == []


def test_an_address_that_is_not_here_is_an_obstacle_and_an_error():
    leader = Webxr(WebxrConfig(device="phone", listen="nowhere"), ManualClock())

    assert "usb, lan or an address" in leader.preflight()[0]
    with pytest.raises(DeviceError, match="leader 'webxr': listen: expected"):
        leader.open()


def test_the_doctor_says_whether_a_page_could_be_served(tmp_path):
    def diagnose(**settings):
        config = WebxrConfig(device="phone", certificate=str(tmp_path), **settings)
        return list(Webxr(config, ManualClock()).diagnose())

    assert all(is_well for is_well, _ in diagnose(listen=TLS_ADDRESS))
    assert "leader.listen=lan" in diagnose()[1][1]
    assert diagnose(listen="192.0.2.1")[-1][0] is False


class TestApp:
    """ARBot's own protocol."""

    @pytest.fixture
    def port(self):
        with socket.create_server((TLS_ADDRESS, 0)) as probe:
            return probe.getsockname()[1]

    @pytest.fixture
    def leader(self, clock, port):
        app = AppConfig(phone="127.0.0.1", address=TLS_ADDRESS, port=port)
        made = Webxr(WebxrConfig(device="phone", app=app), clock)
        made.open()
        yield made
        made.close()

    def connect(self, port, **options):
        return connect(f"ws://{TLS_ADDRESS}:{port}", proxy=None, **options)

    def test_a_phones_poses_become_samples(self, leader, port):
        device = leader._station.device
        with self.connect(port) as app:
            app.send(json.dumps({"position": APP, "gripper": 0.5}))
            moved = {**APP, "x": 0.105}
            app.send(json.dumps({"position": moved, "gripper": 0.5}))
            wait_until(lambda: device.n_messages == 2)
            sample = leader.latest()

        assert sample.engaged
        assert sample.valid
        assert not sample.start, "the app has no button: the operator starts by a key"
        T = sample.limbs["hand"].T_leader_base_leader_eef
        np.testing.assert_allclose(T.translation, [0.005, 0, 0], atol=1e-12)
        assert sample.limbs["hand"].opening == 0.5

    def test_malformed_messages_move_nothing(self, leader, port):
        device = leader._station.device
        with self.connect(port) as app:
            app.send(json.dumps({"position": APP}))
            for bad in ("", "{", '{"position": {}}', '{"gripper": 1}', "NaN", b"\x01"):
                app.send(bad)
            app.send(json.dumps({"position": {**APP, "qw": 0.0}}))
            wait_until(lambda: device.refused["message"] == 7)
            still = leader.latest()
            app.send(json.dumps({"position": {**APP, "y": 0.205}}))
            wait_until(lambda: device.n_messages == 2)

        assert still.valid
        T = leader.latest().limbs["hand"].T_leader_base_leader_eef
        np.testing.assert_allclose(T.translation, [0, 0.005, 0], atol=1e-12)

    def test_a_page_of_a_browser_may_not_use_it(self, leader, port):
        with pytest.raises(InvalidStatus):
            self.connect(port, origin="http://evil.example")
        assert leader._station.device.state is None

    def test_another_address_may_not_use_it(self, leader, port):
        with pytest.raises(InvalidStatus):
            self.connect(port, source_address=("127.0.0.3", 0))
        assert "app: 1" in "\n".join(leader.take_warnings())

    def test_one_device_commands_at_a_time(self, leader, port):
        device = leader._station.device
        with self.connect(port) as app:
            app.send(json.dumps({"position": APP}))
            wait_until(lambda: device.n_messages == 1)
            with pytest.raises(ConnectionClosed):
                page = plug_in(leader)
                for _ in range(500):
                    page.tell()
                    time.sleep(0.005)
            assert device.n_messages == 1
            app.send(json.dumps({"position": APP}))
            wait_until(lambda: device.n_messages == 2)
