"""The emulated unit's bytes beside the maker's SDKs and a decoder of somebody else."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from franka_rig import IMPORTS

from paprle.hardware.franka import messages, sdks
from paprle.hardware.franka.models import MODELS
from paprle_emulators.franka import models
from paprle_emulators.franka import protocol as p
from paprle_emulators.franka.arm import Arm
from paprle_emulators.franka.faults import UnitLine
from paprle_emulators.franka.models import HOME
from paprle_emulators.franka.ports import UnitSession
from paprle_emulators.franka.protocol import Error, Mode
from paprle_emulators.franka.unit import Unit
from paprle_emulators.franka.versions import V10
from paprle_emulators.vendor_arm.server import Server

ADDRESS = "127.31.7.7"  # chosen: of no other emulator
HELD = 8  # chosen: states with one error each, so that the SDK takes one of them
NAMES = {
    Error.JOINT_POSITION_LIMITS: "joint_position_limits_violation",
    Error.SELF_COLLISION: "self_collision_avoidance_violation",
    Error.JOINT_VELOCITY: "joint_velocity_violation",
    Error.JOINT_REFLEX: "joint_reflex",
    Error.CARTESIAN_REFLEX: "cartesian_reflex",
    Error.START_POSE: "joint_position_motion_generator_start_pose_invalid",
    Error.MOTION_POSITION_LIMITS: "joint_motion_generator_position_limits_violation",
    Error.MOTION_VELOCITY_LIMITS: "joint_motion_generator_velocity_limits_violation",
    Error.MOTION_VELOCITY_DISCONTINUITY: (
        "joint_motion_generator_velocity_discontinuity"
    ),
    Error.MOTION_ACCELERATION_DISCONTINUITY: (
        "joint_motion_generator_acceleration_discontinuity"
    ),
    Error.COMMUNICATION: "communication_constraints_violation",
    Error.POWER_LIMIT: "power_limit_violation",
    Error.TAU_J_RANGE: "tau_J_range_violation",
}


class TappedPort:
    """The robot's port, whose packets are kept."""

    number, has_client = p.ROBOT_PORT, False

    def __init__(self, unit):
        self.unit, self.packets, self.answers, self.message = unit, [], [], 0
        self.version = unit.version.number

    def answer(self, request):
        return b"".join(self.unit.answer(request))

    def take_packet(self, data):
        self.packets.append(data)

    def report(self):
        answers, self.answers = b"".join(self.answers), []
        return self.unit.pack_state(self.message), answers

    def forget(self):
        self.unit.forget()


class TappedUnit:
    """The emulator's parts in a thread, whose states and packets a test chooses."""

    def __init__(self, model, change=None):
        self.arm = Arm(np.array(HOME), models.MODELS[model])
        self._change, self._must_end = change, False
        self._port = TappedPort(Unit(self.arm))
        ports = {p.ROBOT_PORT: self._make_session}
        self._server = Server(ADDRESS, ports, UnitLine(), most_clients=1)
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._server.listen()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._must_end = True
        self._thread.join()
        self._server.close()

    @property
    def packets(self):
        """Commands as they came."""
        return self._port.packets

    def _make_session(self, link):
        return UnitSession(link, self._server, self._port)

    def _run(self):
        port, n_seen = self._port, 0
        while not self._must_end:
            self._server.serve(0.001)
            new, n_seen = port.packets[n_seen:], len(port.packets)
            if not port.has_client:
                continue
            command = port.unit.version.unpack_command(new[-1]) if new else None
            if self.arm.mode is Mode.MOVE and command is not None:
                self.arm.step(command.q)
                if command.is_last:
                    port.answers += port.unit.finish()
            port.message += 1
            if self._change is not None:
                self._change(self.arm, port.message)
            self._server.send()


@pytest.fixture(params=MODELS)
def model(request):
    pytest.importorskip(MODELS[request.param].package)
    return request.param


def run_client(model, text):
    """Run a client of the SDK to its end; return its JSON."""
    begin = f"""
        import json
        {IMPORTS[model]}
        robot = sdk.Robot({ADDRESS!r}, sdk.RealtimeConfig.kIgnore)
    """
    script = textwrap.dedent(begin) + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.process
@pytest.mark.long
def test_every_error_bit_has_the_name_that_the_sdk_gives_it(model):
    def change(arm, message):
        arm.errors = bytearray(p.N_ERRORS)
        arm.errors[message // HELD % p.N_ERRORS] = 1

    with TappedUnit(model, change):
        said = run_client(
            model,
            f"""
            found = {{}}
            names = [n for n in dir(sdk.Errors) if not n.startswith("_")]
            for _ in range({4 * HELD * p.N_ERRORS}):
                state = robot.read_once()
                errors = state.current_errors
                bit = round(1e3 * state.time.to_sec()) // {HELD} % {p.N_ERRORS}
                flags = [n for n in names if getattr(errors, n) is True]
                found[bit] = json.loads(str(errors)), flags
                if len(found) == {p.N_ERRORS}:
                    break
            print(json.dumps([names, found]))
            """,
        )

    names, rows = said
    assert {len(row[0]) for row in rows.values()} == {1}, "a bit is one error"
    found = {int(bit): row[0][0] for bit, row in rows.items()}
    assert len(set(found.values())) == p.N_ERRORS
    flags = [flag for row in rows.values() for flag in row[1]]
    assert sorted(flags) == sorted(names), "all flags of the SDK, once each"
    assert {error: found[error] for error in Error} == NAMES


def test_robot_modes_are_those_of_the_sdk(model):
    modes = sdks.load_sdk(MODELS[model]).RobotMode.__members__
    theirs = {name.removeprefix("k"): int(mode) for name, mode in modes.items()}

    assert {name: int(mode) for name, mode in sdks._MODES.items()} == theirs
    assert {mode.name: int(mode) for mode in messages.Mode} == {
        mode.name: int(mode) for mode in Mode
    }


@pytest.mark.process
@pytest.mark.long
def test_another_decoder_reads_our_commands_as_the_emulator_does():
    """``franky-sim`` on PyPI is a simulator that others wrote from the protocol."""
    theirs = pytest.importorskip("franky_sim.franka_robot_protocol").UDPCommand
    pytest.importorskip("pylibfranka")
    with TappedUnit("fr3") as unit:
        run_client(
            "fr3",
            """
            motion = robot.start_joint_position_control(
                sdk.ControllerMode.JointImpedance)
            state, _ = motion.readOnce()
            begin = list(state.q_d)
            for k in range(50):
                command = sdk.JointPositions([x + 1e-9 * k for x in begin])
                command.motion_finished = k == 49
                motion.writeOnce(command)
                if k < 49:
                    motion.readOnce()
            print(json.dumps(begin))
            """,
        )
        packets = list(unit.packets)

    assert len(packets) >= 50
    for data in packets:
        ours, other = V10.unpack_command(data), theirs.from_bytes(data)
        assert theirs.STRUCT.size == len(data) == V10.command.size
        assert ours.message_id == other.message_id
        assert ours.q == pytest.approx(other.q_c, abs=0)
        assert ours.is_last == other.motion_generation_finished
    assert ours.is_last
