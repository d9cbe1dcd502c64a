"""A package that is missing is told with the extra that brings it, by every leader.

One process tries all of them (``without_sdks``): the leaders' own YAMLs, one missing
package after the other, and what else was looked for by the way.
"""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest
import yaml
from without_sdks import SDKS

from paprle.ipc.process import WORKSPACE
from paprle.plugins import list_plugins

CONFIGS = WORKSPACE / "configs/leader"
PAGE = ("websockets", "cryptography", "segno")


class Need(NamedTuple):
    """What a leader needs.

    Attributes:
        extra: The extra that brings it.
        packages: What it imports, in that order.
        words: Of the command line, beside its name.
    """

    extra: str
    packages: tuple[str, ...]
    words: tuple[str, ...] = ()


IMU = ("leader.imu.port=/dev/null", "leader.imu.packet=inertial")
HEADSET = ("leader.host=127.0.0.1", "leader.timeout=0.1")
DATASET = ("leader.path=tests",)  # a folder: what reads it comes before what is in it
NEEDS = {
    "arpose": Need("quest", PAGE),
    "webxr": Need("quest", PAGE),
    "web": Need("page", ("websockets",)),
    "gamepad": Need("gamepad", ("pygame",)),
    "joycons": Need("gamepad", ("pygame",)),
    "spacemouse": Need("spacemouse", ("hidraw",)),
    "visionpro": Need("vision-pro", ("grpc", "google"), HEADSET),
    "hand_imu": Need("hand-imu", ("serial", "vqf"), IMU),
    "ros": Need("ros2", ("cyclonedds",), ("leader.transport=dds",)),
    "policy": Need("policy", ("onnxruntime",), ("leader.path=Makefile",)),
    "dataset_lerobot": Need("data", ("pyarrow",), DATASET),
    "dataset_umi": Need("data", ("zarr",), DATASET),
    "dataset_aloha": Need("data", ("h5py",), DATASET),
}
"""Leaders by their YAML."""
NEEDS |= {
    path.stem: Need("dynamixel", ("dynamixel_sdk", "serial"))
    for path in CONFIGS.glob("puppeteer_*.yaml")
}
PLAIN = {
    "autopilot": (),
    "keyboard": ("leader.fd={fd}",),
    "offline": ("leader.path=none.csv",),
    "remote": (),
    "teach": ("leader.path=none.json",),
}
"""Leaders that need nothing, and words for them."""
REFUSALS = [
    *(
        (name, need, missing)
        for name, need in NEEDS.items()
        for missing in need.packages
    ),
    (
        "keyboard",
        Need("sound", ("pygame",), ("leader.fd={fd}", "leader.sound=0.3")),
        "pygame",
    ),
]


@pytest.fixture(scope="module")
def told():
    """Return what each leader says, and looked for, by name and what is missing."""
    cases = [(name, need.words, [missing]) for name, need, missing in REFUSALS]
    cases += [(name, words, sorted(SDKS)) for name, words in PLAIN.items()]
    out, into = os.pipe()
    asked = [
        [[f"leader={name}", *(word.format(fd=out) for word in words)], missing]
        for name, words, missing in cases
    ]
    done = subprocess.run(
        [sys.executable, "tests/support/runs/without_sdks.py"],
        input=json.dumps(asked),
        check=False,
        cwd=WORKSPACE,
        env=os.environ | {"PYTHONPATH": str(WORKSPACE)},
        pass_fds=(out,),
        capture_output=True,
        text=True,
        timeout=300,
    )
    os.close(out)
    os.close(into)
    assert done.returncode == 0, done.stderr
    keys = [(name, tuple(missing)) for name, _, missing in cases]
    return dict(zip(keys, json.loads(done.stdout), strict=True))


pytestmark = [pytest.mark.process, pytest.mark.nightly, pytest.mark.timeout(400)]


@pytest.mark.parametrize(
    ("name", "need", "missing"),
    REFUSALS,
    ids=[f"{name} without {missing}" for name, _, missing in REFUSALS],
)
def test_a_missing_package_is_told_with_its_extra(told, name, need, missing):
    case = told[name, (missing,)]

    assert f"pip install 'paprle[{need.extra}]'" in case["said"]
    assert missing in case["said"]
    assert set(case["tried"]) <= set(need.packages), "nothing else was looked for"


@pytest.mark.parametrize("name", PLAIN)
def test_a_leader_without_an_sdk_looks_for_none(told, name):
    case = told[name, tuple(sorted(SDKS))]

    assert case["tried"] == []
    assert "pip install" not in case["said"]


def test_every_leader_is_among_them():
    """A new one is added here; ``mix`` is made of others."""
    yamls = {path.stem for path in CONFIGS.glob("*.yaml")}
    types = {resolve_type(name) for name in NEEDS}

    assert {*NEEDS, *PLAIN, "mix"} == yamls
    assert types == {
        name for name, spec in list_plugins("leader").items() if spec.install
    }


def resolve_type(name):
    """Return the plug-in of a YAML."""
    values = yaml.safe_load((CONFIGS / f"{name}.yaml").read_text())
    return values.get("type", name)
