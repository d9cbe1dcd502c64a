"""The puppeteer against emulated servos: contract, numbers, loss and return."""

import time

import numpy as np
import pytest
from emulated_puppeteers import (
    PuppeteerContract,
    make_config,
    make_limb,
    wait_for,
    wait_for_sample,
)

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import Feedback, SessionState
from paprle.leaders.puppeteer.config import PuppeteerConfig
from paprle.leaders.puppeteer.leader import Puppeteer


class TestPuppeteer(PuppeteerContract):
    @pytest.fixture(autouse=True)
    def start_rig(self, one_arm):
        self.emulated, self.config = one_arm

    def unplug(self, leader):  # noqa: ARG002
        self.emulated.unplug("left")


@pytest.fixture
def opened():
    """Open leaders, and close them."""
    leaders = []

    def start(config):
        leader = Puppeteer(config, time.monotonic_ns)
        leaders.append(leader)
        leader.open()
        return leader

    yield start
    for leader in leaders:
        leader.close()


def feel(leader, tau, *, is_engaged=True, state="ENGAGED"):
    leader.apply(
        Feedback(
            stamp_ns=time.monotonic_ns(),
            state=SessionState[state],
            episode=0,
            is_engaged=is_engaged,
            tau={name: np.asarray(t, dtype=float) for name, t in tau.items()},
        )
    )


def geared(port="a", **rest):
    """A limb in which every servo is mounted in its own way."""
    limb = make_limb(port, reset_q=[0.0, 1.0], **rest)
    limb["servos"]["joint1"] |= {"sign": -1, "offset": 0.5}
    limb["servos"]["joint2"] |= {"gear": 2.0, "offset": -0.2}
    limb["gripper"] |= {"sign": -1, "closed": 0.2, "open": -0.6}
    return limb


def test_joints_are_those_of_its_urdf(rig, opened):
    emulated, config = rig({"left": geared()})
    q = np.array([0.3, 1.2, -0.2])
    for i, angle in enumerate([-1 * 0.3 + 0.5, 2 * 1.2 - 0.2, -1 * -0.2]):
        emulated.servo(i + 1).angle = angle
    leader = opened(config)

    sample = wait_for_sample(leader)

    assert sample.limbs["left"].q == pytest.approx(q[:2], abs=2e-3)
    assert sample.limbs["left"].opening == pytest.approx(0.5, abs=5e-3)
    assert sample.leader_state.joint_names == (
        "left/joint1",
        "left/joint2",
        "left/gripper",
    )
    assert sample.leader_state.q == pytest.approx(q, abs=2e-3)
    assert sample.leader_state.tau is not None


@pytest.mark.parametrize("turns", [-2, 1], ids=str)
def test_whole_turns_of_a_servo_do_not_count(rig, opened, turns):
    """After power came back, a servo has forgotten how often it went round."""
    emulated, config = rig({"left": geared()})
    emulated.servo(1).angle = 0.2 + 2 * np.pi * turns
    emulated.servo(1)._turns = turns
    leader = opened(config)

    assert wait_for_sample(leader).limbs["left"].q[0] == pytest.approx(0.3, abs=2e-3)


def test_torque_turns_the_servo_as_the_joint_wants(rig, opened):
    emulated, config = rig({"left": geared()})
    leader = opened(config)
    wait_for_sample(leader)

    def goals():
        feel(leader, {"left": [0.1, 0.5, -0.02]})
        return [emulated.servo(i).table.get("Goal Current") for i in (1, 2, 3)]

    expected = [-1470 * (0.1 / 0.52) ** 2, 0.25 * 2.3 / 4.1 / 2.69e-3]
    expected.append(1470 * (0.02 / 0.215) ** 2)
    wait_for(lambda: goals() == pytest.approx(expected, abs=1.5), "torque")


@pytest.mark.parametrize(
    ("tau", "state"), [({}, "ENGAGED"), ({"left": [0.1, 0.1, 0.01]}, "STOPPED")]
)
def test_the_arm_goes_limp_without_torques_and_on_stop(one_arm, opened, tau, state):
    emulated, config = one_arm
    leader = opened(config)
    is_on = lambda: emulated.servo(1).table.get("Torque Enable") == 1  # noqa: E731

    def press():
        feel(leader, {"left": [0.1, 0.1, 0.01]})
        return is_on()

    wait_for(press, "torque on")
    feel(leader, tau, state=state)
    (bus,) = leader.buses.values()

    assert bus._command.is_release == (state == "STOPPED")  # else it falls in 20 ms
    wait_for(lambda: not is_on(), "torque off")


def two(one_port):
    right = make_limb("a" if one_port else "b", first=11 if one_port else 1)
    return {"left": make_limb("a"), "right": right}


@pytest.mark.parametrize("one_port", [True, False], ids=["one_port", "two_ports"])
def test_two_arms_on_one_port_or_two(rig, opened, one_port):
    emulated, config = rig(two(one_port))
    emulated.rig.limbs["left"].servos[0].angle = 0.1
    emulated.rig.limbs["right"].servos[0].angle = 0.2
    leader = opened(config)

    sample = wait_for_sample(leader)

    assert len(leader.buses) == (1 if one_port else 2)
    assert sample.limbs["left"].q[0] == pytest.approx(0.1, abs=2e-3)
    assert sample.limbs["right"].q[0] == pytest.approx(0.2, abs=2e-3)


@pytest.mark.parametrize("on_loss", ["stop", "go_on"])
def test_lost_arm_is_left_out_until_nothing_is_driven(rig, opened, on_loss):
    emulated, config = rig(two(one_port=False), on_loss=on_loss)
    leader = opened(config)
    wait_for_sample(leader)
    feel(leader, {"left": [0.1] * 3, "right": [0.1] * 3})

    emulated.unplug("right")
    sample = wait_for_sample(leader, lambda s: s.limbs.keys() == {"left"})
    assert sample.valid == (on_loss == "go_on")
    # the left one goes on being felt; of the right one nothing is asked
    assert sample.leader_state.q.size == 6
    assert {name.split("/")[0] for name in sample.limp_joints} == {"right"}
    feel(leader, {"left": [0.1] * 3, "right": [0.1] * 3})
    posted = {p: o._command.tau for p, o in leader.buses.items()}
    assert posted[config.limbs["left"].port] == pytest.approx([0.1] * 3)
    assert not posted[config.limbs["right"].port].any()

    emulated.plug("right")
    wait_for(lambda: leader.buses[config.limbs["right"].port].latest().is_open)
    assert "right" not in leader.latest().limbs
    feel(leader, {}, is_engaged=False)
    assert wait_for_sample(leader, lambda s: "right" in s.limbs).valid


def test_silent_servo_loses_only_its_arm(rig, opened):
    emulated, config = rig(two(one_port=True))
    leader = opened(config)
    wait_for_sample(leader)

    emulated.cause("silent", limb="right", joint="joint2")

    sample = wait_for_sample(leader, lambda s: set(s.limbs) == {"left"})
    assert not sample.valid


def test_grip_starts_and_ends(one_arm, opened, monkeypatch):
    monkeypatch.setattr("paprle.contracts.kit.gestures.signals.HOLD_NS", 50_000_000)
    emulated, config = one_arm
    leader = opened(config)
    gripper = emulated.servo(3)
    for is_engaged in (False, True):
        state = "ENGAGED" if is_engaged else "WAITING"
        feel(leader, {}, is_engaged=is_engaged, state=state)
        gripper.angle = 0.8
        wait_for_sample(leader, lambda s: s.limbs["left"].opening > 0.9)
        assert not leader.latest().start
        gripper.angle = 0.0

        name = "end" if is_engaged else "start"
        wait_for_sample(leader, lambda s, name=name: getattr(s, name))


def test_open_says_what_is_wrong_on_all_ports(rig):
    emulated, config = rig(two(one_port=False))
    emulated.cause("silent", limb="left", joint="joint1")
    emulated.cause("silent", limb="right", joint="gripper")

    with pytest.raises(DeviceError) as caught:
        Puppeteer(config, time.monotonic_ns).open()

    assert "servo 1" in str(caught.value)
    assert "servo 3" in str(caught.value)


def test_missing_port_is_told_with_those_there_are():
    config = make_config({"limbs": {"left": make_limb("/dev/no_such_port")}})

    with pytest.raises(DeviceError, match="expected a serial device, got none; plug"):
        Puppeteer(config, time.monotonic_ns).open()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"reset_q": [0.0]}, "expected 2 values, one per joint, got 1"),
        ({"models": ("xl330-m288", "xm430")}, "unknown model 'xm430'; models: xl330"),
        ({"gripper": None}, ""),
    ],
    ids=["reset_q", "model", "no_gripper"],
)
def test_config_is_judged_before_anything_is_opened(change, text):
    config = make_config(
        {"limbs": {"left": {**make_limb("a"), **make_limb("a", **change)}}}
    )

    if not text:
        assert not Puppeteer(config, time.monotonic_ns).info.has_gripper
        return
    with pytest.raises(ConfigError, match=text):
        Puppeteer(config, time.monotonic_ns)


def test_same_id_twice_on_a_port_is_refused():
    config = make_config(
        {"limbs": {"left": make_limb("a"), "right": make_limb("a")}}, lambda _: "a"
    )

    with pytest.raises(ConfigError, match="got id 1 on 'a' for left/joint1, right/jo"):
        Puppeteer(config, time.monotonic_ns)


def test_no_arms_are_refused():
    with pytest.raises(ConfigError, match="expected at least one arm"):
        Puppeteer(PuppeteerConfig(), time.monotonic_ns)


def test_servos_without_current_are_not_rendered_on():
    config = make_config({"limbs": {"left": make_limb("a", models=("xl430-w250",))}})

    assert Puppeteer(config, time.monotonic_ns).info.renders == "torque"  # the trigger
    no_grip = {**make_limb("a", models=("xl430-w250",)), "gripper": None}
    config = make_config({"limbs": {"left": no_grip}})
    assert Puppeteer(config, time.monotonic_ns).info.renders == "none"


def test_a_servo_fault_is_reported_once_by_its_joint(one_arm, opened):
    emulated, config = one_arm
    leader = opened(config)
    wait_for_sample(leader)
    emulated.cause("overload", id=2)

    told = wait_for(leader.take_warnings, "a warning")

    port = config.limbs["left"].port
    assert told == [
        f"left/joint2 (servo 2 on '{port}'): overloaded; paprle doctor tells the remedy"
    ]
    assert leader.take_warnings() == []
    emulated.servo(2).reboot()
    assert "well again" in wait_for(leader.take_warnings, "news")[0]


def test_closing_notes_count_what_a_bus_got_over(one_arm, opened):
    emulated, config = one_arm
    leader = opened(config)
    emulated.cause("corrupted", p=0.2)
    wait_for(lambda: leader.buses[config.limbs["left"].port].n_failed["corrupt"] > 3)
    leader.close()

    (words,) = leader.closing_notes
    assert " readings, " in words
    assert " 0 damaged packets" not in words


def press(emulated, leader):
    """Ask for torque until servos render it."""

    def is_on():
        feel(leader, {"left": [0.1, 0.1, 0.01]})
        return emulated.servo(3).table.get("Torque Enable") == 1

    wait_for(is_on, "torque on")


def test_closing_notes_name_a_servo_that_may_still_hold_torque(one_arm, opened):
    emulated, config = one_arm
    leader = opened(config)
    press(emulated, leader)
    emulated.servo(2).write = lambda _address, _data: 0
    leader.close()

    [last] = [words for words in leader.closing_notes if "servo 2" in words]
    assert "torque off is not verified; nobody speaks any more, so its own" in last


def test_a_servo_that_lets_go_under_torque_is_named_in_samples(one_arm, opened):
    emulated, config = one_arm
    leader = opened(config)
    press(emulated, leader)
    assert leader.latest().limp_joints == ()
    emulated.cause("overload", id=2)

    def is_named():
        feel(leader, {"left": [0.1, 0.1, 0.01]})
        return leader.latest().limp_joints == ("left/joint2",)

    wait_for(is_named, "a limp joint")


def test_each_joint_has_the_stall_torque_of_its_servo():
    tree = {"limbs": {"left": make_limb("a")}}
    tree["limbs"]["left"]["servos"]["joint2"] |= {"gear": 2.0, "twin": 9}

    info = Puppeteer(make_config(tree), time.monotonic_ns).info

    # spec: e-manual, stall torque of the three models, in N·m
    assert info.arms["left"].tau_max.tolist() == [0.52, 4.1 * 2 * 2, 0.215]
    assert info == Puppeteer(make_config(tree), time.monotonic_ns).info


def test_the_start_tells_of_watchdogs_that_do_not_stop_their_motors(one_arm, opened):
    leader = opened(one_arm[1])

    assert any("does not stop their motors" in note for note in leader.notes)
