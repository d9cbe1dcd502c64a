"""Every leader with an emulated device or a recorded input, for any robot."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import emulated_hands
import numpy as np
from dataset_files import write_aloha, write_lerobot, write_umi
from emulated_hands import PADS, BareHand, KeyHand, MouseHand, PadHand, PuppeteerHand
from hand_films import Stage, write_film
from played import make_pose_rows, write_csv
from ros_memory import MemoryGraph
from streamed_hands import (
    HeadsetHand,
    LinkHand,
    SocketPageHand,
    Speaker,
    SteppedVisionPro,
    TopicHand,
    WebHand,
)

import paprle.leaders.hand_imu.leader
import paprle.leaders.ros.leader
from paprle.config import resolve
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.settings.core import LinkSettings
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.hosts.plan import make_robot
from paprle.leaders.teach.poses import TaughtPose, keep_pose, make_limb_pose
from paprle.link.opening import LEADER, make_link
from paprle.testing.stepped import EmulatedHand, SteppedSession
from paprle_emulators.spacemouse.mouse import EmulatedMouse

ROBOTS = ("piper", "papras_7dof_2arm", "g1_upper", "so101")
ENVS = ("kinematic", "mujoco")
KEY = b"0123456789abcdef"
DRIVES = 5.0  # [s] asked for: of every leader on every robot
SO101 = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
ALOHA = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
JOYCONS = {"left": "Joy-Con (L)", "right": "Joy-Con (R)"}


@dataclass(frozen=True)
class Row:
    """A leader that is ready to be opened.

    Attributes:
        words: Of the command line.
        make_hand: Makes the hand at its open device.
        name: Of the leader that the hand holds, where there are several.
    """

    words: tuple[str, ...]
    make_hand: Callable[..., EmulatedHand]
    name: str = ALONE


class Recorded(EmulatedHand):
    """A leader that plays by itself."""

    def __init__(self, _leader, _clock):
        super().__init__()

    def tick(self):
        pass


@dataclass(frozen=True)
class Bench:
    """What a row is made of.

    Attributes:
        monkeypatch: Puts emulators in the place of devices.
        folder: For recordings.
        robot: Name of the follower.
    """

    monkeypatch: Any
    folder: Any
    robot: str

    def load(self):
        words = ("leader=autopilot", f"follower={self.robot}", "env=kinematic")
        return make_robot(resolve(words))


def play_pad(_):
    emulated_hands.plug_pad()
    return Row(("leader=gamepad", "leader.pads.pad.device=Faulty pad"), PadHand)


class PairHand(EmulatedHand):
    """Both hands at a pair of Joy-Cons."""

    def __init__(self, _leader, _clock):
        super().__init__()
        self.pads = {side: PADS[name] for side, name in JOYCONS.items()}

    def tick(self):
        for side, pad in self.pads.items():
            pad.move(f"{side}shoulder", float(self.is_held))
            pad.move(f"{side}x", 5.0 * self.speed)


def play_joycons(bench):
    PADS.update({name: VirtualPad(name) for name in JOYCONS.values()})
    limbs = zip(bench.load().limbs, JOYCONS, strict=False)  # an arm follows the left
    mapped = (f"retarget.limb_map.{limb}={side}" for limb, side in limbs)
    return Row(("leader=joycons", *mapped), PairHand)


def type_keys(_):
    out, fd = os.pipe()
    words = ("leader=keyboard", f"leader.fd={out}")
    return Row(words, lambda *w: KeyHand(*w, fd))


def hold_puppeteer(bench):
    emulated_hands.step_servos(bench.monkeypatch, "puppeteer_papras_7dof")
    return Row(("leader=puppeteer_papras_7dof",), PuppeteerHand)


def show_hand(bench):
    stage = lambda _, clock: Stage(clock)  # noqa: E731
    bench.monkeypatch.setattr(paprle.leaders.hand_imu.leader, "Devices", stage)
    return Row(("leader=hand_imu", "leader.hold=1.0"), BareHand)


def open_film(bench):
    path = write_film(bench.folder / "film.npz", 8.0, still=1.5)
    words = ("leader=hand_imu", "leader.hold=1.0", f"leader.camera.recorded={path}")
    return Row(words, Recorded)


def open_file(bench):
    rows = make_pose_rows(np.arange(0.0, 3.0, 0.02))
    path = write_csv(bench.folder / "hand.csv", "t,x,y,z,qx,qy,qz,qw", rows)
    return Row(("leader=offline", f"leader.path={path}", "leader.loop=0"), Recorded)


def open_umi(bench):
    path = write_umi(bench.folder / "demo.zarr", [400])
    return Row(("leader=dataset_umi", f"leader.path={path}"), Recorded)


def map_joints(limb, source, joints):
    """Let a dataset's joints move those of a limb about its home, in their order."""
    yield f"retarget.limb_map.{limb.name}={source}"
    for joint, home, of in zip(limb.joint_names, limb.home, joints, strict=False):
        yield f"retarget.joint_map.{joint}.joint={of}"
        yield f"retarget.joint_map.{joint}.offset={home}"


def open_lerobot(bench):
    names = [*(f"{joint}.pos" for joint in SO101), "gripper.pos"]
    path = write_lerobot(bench.folder / "set", [240], names=names)
    limb = next(iter(bench.load().limbs.values()))
    words = ("leader=dataset_lerobot", f"leader.path={path}", "retarget.mode=joints")
    return Row((*words, *map_joints(limb, "arm", SO101)), Recorded)


def open_aloha(bench):
    path = write_aloha(bench.folder / "aloha", [400])
    words = ["leader=dataset_aloha", f"leader.path={path}", "retarget.mode=joints"]
    limbs = bench.load().limbs.values()
    for limb, source in zip(limbs, ("left", "right"), strict=False):
        words += map_joints(limb, source, ALOHA)
    return Row(tuple(words), Recorded)


def teach_poses(bench):
    robot, path = bench.load(), bench.folder / "poses.yaml"
    for offset in (0.15, -0.15, 0.15):
        q = robot.info.home + offset
        limbs = {
            name: make_limb_pose(
                dict(zip(limb.joint_names, limb.take(q).tolist(), strict=True)),
                limb.fk(limb.take(q)),
                None if limb.gripper is None else 0.5,
            )
            for name, limb in robot.limbs.items()
        }
        pose = TaughtPose(name=f"pose {offset}", limbs=limbs)
        keep_pose(path, bench.robot, pose)
    words = ("leader=teach", f"leader.path={path}", "leader.episodes=0")
    return Row(words, Recorded)


class Sways:
    """A policy that turns all joints to and fro about where they began, [deg]."""

    def reset(self):
        self.k, self.begin = 0, None

    def __call__(self, observation):
        seen = observation["observation.state"].astype(float)
        self.begin = seen if self.begin is None else self.begin
        self.k += 1
        return self.begin + 5.0 * np.sin(0.1 * self.k)


def ask_policy(_):
    words = ("leader=policy", "leader.function=leader_rows:Sways")
    return Row(words, Recorded)


def wear_headset(_):
    headset = SteppedVisionPro()
    words = ("leader=visionpro", "leader.host=127.0.0.1")
    make_hand = lambda *w: HeadsetHand(*w, headset)  # noqa: E731
    return Row((*words, f"leader.port={headset.port}"), make_hand)


def publish(bench):
    graph = MemoryGraph()
    speaker = Speaker(graph)
    graph.stepped.append(speaker.say_first)
    bench.monkeypatch.setattr(
        paprle.leaders.ros.leader, "open_bus", lambda *_: graph.join("leader")
    )
    words = ("leader=ros", "leader.joy.deadman=1", "leader.joy.gripper_axis=0")
    return Row(words, lambda *w: TopicHand(*w, speaker))


def open_page(bench):
    return Row(("leader=web",), partial(WebHand, robot=bench.load().info))


def link_hosts(bench):
    path = bench.folder / "link.key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    domain = 1 + os.getpid() % 100  # not choose_domain: a domain has one network
    settings = LinkSettings(peer="127.0.0.1", key=str(path), domain=domain)
    link = make_link(settings, LEADER, is_leader=True)
    link.open()
    words = ("link.peer=127.0.0.1", f"link.key={path}", f"link.domain={domain}",
             "leader.trigger=true")  # fmt: skip
    make_hand = lambda *w: LinkHand(*w, link, KEY)  # noqa: E731
    return Row(("leader=remote", *words), make_hand)


def mix_two(bench):
    """A pad moves a limb while its dead-man is held, else an autopilot."""
    limb = next(iter(bench.load().limbs))
    pad = play_pad(bench)
    device = pad.words[1].replace("leader.", "leaders.pad.")
    words = (
        "leader=mix",
        *("leaders.auto.type=autopilot", "leaders.auto.laps=20"),
        *("leaders.pad.type=gamepad", device),
        f"retarget.limbs.{limb}.from=[pad.hand,auto.hand]",
    )
    return Row(words, PadHand, "pad")


class LentMouse(MouseHand):
    """A hand that takes its mouse away with it."""

    def close(self):
        self.mouse.unplug()


def push_mouse(bench):
    """A mouse whose reader needs the library of ``build_shim`` (``preloaded``)."""
    path = bench.folder / "mouse"
    make_hand = partial(LentMouse, mouse=EmulatedMouse(path))
    return Row(("leader=spacemouse", f"leader.path={path}"), make_hand)


ROWS = {
    "arpose": lambda _: Row(("leader=arpose",), SocketPageHand),
    "webxr": lambda _: Row(("leader=webxr",), SocketPageHand),
    "gamepad": play_pad,
    "joycons": play_joycons,
    "keyboard": type_keys,
    "puppeteer": hold_puppeteer,
    "hand_imu": show_hand,
    "hand_imu recorded": open_film,
    "offline": open_file,
    "dataset_umi": open_umi,
    "dataset_lerobot": open_lerobot,
    "dataset_aloha": open_aloha,
    "autopilot": lambda _: Row(("leader=autopilot", "leader.laps=20"), Recorded),
    "teach": teach_poses,
    "policy": ask_policy,
    "visionpro": wear_headset,
    "ros": publish,
    "web": open_page,
    "remote": link_hosts,
    "mix": mix_two,
    "spacemouse": push_mouse,
}


def drive(leader, bench, env):
    """Let a leader drive a robot for 5 s and end; the oracle judges it."""
    row = ROWS[leader](bench)
    target = (f"follower={bench.robot}", f"env={env}")
    session = SteppedSession(row.words, row.make_hand, target, name=row.name)
    try:
        if row.make_hand is Recorded:
            session.until("ENGAGED")
        else:
            session.engage()
        session.hand.speed = 0.06
        since = len(session.commands)
        session.step(DRIVES)
        session.hand.speed, session.hand.is_held = 0.0, False
        reach = session.find_reach(since)
        actions = session.session.actions
        session.session.actions = actions._replace(quit=actions.quit + 1)
        while not session.session.is_over:
            session.step()
    finally:
        session.close()
        for pad in PADS.values():
            pad.unplug()
    session.judge()
    assert reach > 0.01
    assert session.session.core.end_reason == "quit"
