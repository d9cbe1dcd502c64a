"""Fetch others' recordings and URDFs for tests, into ``shared/data``.

usage: make data, or python checks/fetch_data.py [FOLDER] with pooch installed

Files are fixed by commit and digest. Licences: CONTRIBUTING.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

FOLDER = Path(__file__).resolve().parents[1] / "shared" / "data"


class Origin(NamedTuple):
    """Repository, commit, path and SHA-256 of a file."""

    repository: str
    path: str
    digest: str


COMMITS = {
    "Improbable-AI/VisionProTeleop": "4c549905c2a8b214d79f7cd88e535101a1ce32af",
    "cake-lab/arbot-website": "2af3d2dc74b2e74a8ffd6738c04d6c81ca7623c6",
    "dexsuite/dex-retargeting": "3f56141bc8bd2760d5e452e382937269554ebb21",
    "dlaidig/broad": "7e2f8189bb4a3ac91eae32c69b6bc87f08a6e2ad",
    "leapmotion/leapjs-playback": "4ff4b5b3730fcf3c99e14129b76d65cac8ce2651",
    "mdqinc/SDL_GameControllerDB": "42f28e22d20761e7004e8db91c4ad86402fdf600",
    "uiuckimlab/PAPRLE": "2ac86630a0e8965d17b809d781e23f7a764332d5",
    "uwgraphics/relaxed_ik_core": "d58c494b4b7519c1ec25fb21c9569ccc4d904d1b",
    "whot/evemu-devices": "3fa30580b542017098a48ec3c8a65bc2a5ba67b3",
    "xioTechnologies/Fusion": "d69784c8f7058a6545802b8852d26d6fcfd5e119",
}
"""Commit of each repository on GitHub."""

ARBOT = {
    "H1": "644a616bdc3f8f1dcb176622b9141ef18dceb6d095f15700440026a9d5631d7a",
    "H2": "ced4b9c0aa12dd465da1906c1bbadd9896455758824c1e21e2980b585e408def",
    "H3": "c3826fc51bcacbe6c92514bbb14c0eb6560958b1ae6457f06700247bbea40604",
    "robot_1": "966653fb302069b540f5a5f20e8683d4a2c0f40cacd2f8b161a11e7b043b2362",
    "robot_2": "3654bbb1997a993cda14921b8194ab27c0da08e9ced98ca0e28ce318cacca0d9",
    "robot_3": "c9542a697e3cb2e4c728a82a88ba9f6d0023b3a32acb228c58f7668581ddb22f",
    "robot_4": "2dacee3f04f4af7fdd225358f82a38d7d9afb26a77869fc3439387fad80c500d",
    "robot_5": "1c719f12ae1f40c29c8a7b6c648961d883b211d62efd4126bf0b6a4c85cfdfc4",
}
"""SHA-256 of ARBot's recordings, by name."""

FILES = {
    "gamepad/gamecontrollerdb.txt": Origin(
        "mdqinc/SDL_GameControllerDB",
        "gamecontrollerdb.txt",
        "02eea6f9845be40d84c43949b747c4ee07b4876577512d43ae658eedc149857a",
    ),
    "gamepad/xbox360.desc": Origin(
        "whot/evemu-devices",
        "joysticks/Microsoft X-Box 360 pad.desc",
        "bbb9fdf3e6b74fd6930ee5b0a9cca98f62b327040b94ab2cea9ffc73d5740aa9",
    ),
    "hand/dex_human_hand_video.mp4": Origin(
        "dexsuite/dex-retargeting",
        "example/vector_retargeting/data/human_hand_video.mp4",
        "d306af128862940fc6e3c737a42ec6b00a137fff1c37b10805fe2c143c62ddb8",
    ),
    "hand/leap_grab.json.lz": Origin(
        "leapmotion/leapjs-playback",
        "recorder/recordings/grab.json.lz",
        "f6ed1a4df7787bbcae66751baf6eb2cb8f1edd4a9b6e26f6d6fc7023cd198a9f",
    ),
    "imu/broad_03_slow_rotation_C.hdf5": Origin(
        "dlaidig/broad",
        "data_hdf5/03_undisturbed_slow_rotation_C.hdf5",
        "389e1ff9dae1f6f9e2703bf136e12475dcf498be0edc8eae533bd263c7b61e05",
    ),
    "imu/xio_sensor_data.csv": Origin(
        "xioTechnologies/Fusion",
        "Examples/Python/sensor_data.csv",
        "a2833a207b4c0c51d52ee62e42069d1a11cf94b1aca1cd46a54d5e8fce577dcd",
    ),
    **{
        f"motion/arbot_rectangle_{name}.csv": Origin(
            "cake-lab/arbot-website", f"static/dataset/{name}.csv", digest
        )
        for name, digest in ARBOT.items()
    },
    "motion/avp_franka_ep0.npz": Origin(
        "Improbable-AI/VisionProTeleop",
        "assets/mujoco_demos/logs/ep0.npz",
        "ac19212973f482e3c4ea25fb51c1e15ca3f54cd4baea7e5cffffa2ab837bf225",
    ),
    "motion/tum_fr1_xyz.txt": Origin(
        "https://cvg.cit.tum.de/rgbd/dataset/freiburg1",
        "rgbd_dataset_freiburg1_xyz-groundtruth.txt",
        "aac0319a6ef4e1cdf61e779d2152b95aa7e9f7b1749d6d18717b43ddabffede2",
    ),
    "network/avp_wireless-mono.json": Origin(
        "Improbable-AI/VisionProTeleop",
        "benchmarks/wireless-mono.json",
        "e3de0d23a3028b8ca5ca354d5255adf1cbea98a4047f24f1f83e35437411f61f",
    ),
    "urdf/g1_29dof.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/humanoids/unitree_g1/g1_29dof.urdf",
        "5cf26ec5c61a4c09831f6f41afaca6a78064fbe0a4e546dff79725adfadcc9bb",
    ),
    "urdf/g1_baby.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/leaders/g1_baby.urdf",
        "4e59b1c36ab618672cf369902870c93ad6aadca18720a9a8f7b831d884083fa0",
    ),
    "urdf/open_manipulator_y_follower.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/open_manipulator_y/open_manipulator_y_follower.urdf",
        "0aeb214d2daad441bda26c95f7159249ce204400890ee225cc20102c25317088",
    ),
    "urdf/open_manipulator_y_leader.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/open_manipulator_y/open_manipulator_y_leader.urdf",
        "e43bdf2a09a60e42ebefbc1726dfdff2d5a418bef2cdaf7e0a01ca625c868221",
    ),
    "urdf/papras_6dof.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/PAPRAS/papras_6dof/papras_6dof.urdf",
        "af994160e2fd8410b89d633bd950512d2c1f5d23e3f490e6d9f333871e56df4e",
    ),
    "urdf/papras_7dof.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/PAPRAS/papras_7dof/papras_7dof.urdf",
        "204977730a138fd1dfd9910c546ba83c33f4351d23ef07791494fac4d4806318",
    ),
    "urdf/papras_7dof_2arm_table.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/PAPRAS/papras_7dof_2arm_table/papras_7dof_2arm_table.urdf",
        "7ff49798d3fcbd33c5fc7518696f27c4b523e509f77ba405ab30fde6757997e2",
    ),
    "urdf/papras_7dof_leader.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/leaders/papras_7dof_leader.urdf",
        "1bcbcc102b367217c69c43490cf8c22de2ff87139df99acfe171d7c60093a0da",
    ),
    "urdf/piper.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/piper/piper/piper.urdf",
        "3aeddda1ea5c556787324896a9522710f059b6367d28345d8372d0d3faa034d9",
    ),
    "urdf/piper_2arm_gripper_table.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/piper/piper_table/piper_2arm_gripper_table.urdf",
        "142b6a0dead5b728f72cfcbcde17636574f1f08d9d21694c1d551f3eee8e597d",
    ),
    "urdf/ur5_leader.urdf": Origin(
        "uiuckimlab/PAPRLE",
        "models/leaders/ur5_leader.urdf",
        "acda52e7b1f636c46a430b54136c1bc327721fdccd378ed0eb91f323f6420fb4",
    ),
    "urdf/ur5e.urdf": Origin(
        "uwgraphics/relaxed_ik_core",
        "configs/urdfs/ur5e.urdf",
        "2074f404fb80f4eae9c28cad33e05bb2308ba6aaa7fda9423ba0085146d0353a",
    ),
}
"""Origin of each file, by its path in the folder."""


def make_address(origin: Origin) -> str:
    """Return a file's address; without a commit, the repository is one."""
    commit = COMMITS.get(origin.repository)
    if commit is None:
        return f"{origin.repository}/{quote(origin.path)}"
    repository = f"https://raw.githubusercontent.com/{origin.repository}/{commit}"
    return f"{repository}/{quote(origin.path)}"


def main(words: list[str]) -> int:
    """Fetch missing files; return the number of failures."""
    import pooch  # noqa: PLC0415 - make data installs it

    store = pooch.create(
        path=words[0] if words else FOLDER,
        base_url="",
        registry={name: origin.digest for name, origin in FILES.items()},
        urls={name: make_address(origin) for name, origin in FILES.items()},
    )
    n_failed = 0
    for name in FILES:
        try:
            print(store.fetch(name))
        except (OSError, ValueError) as err:  # no connection; another content
            n_failed += 1
            print(f"{name}: {err}")
    return n_failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
