"""Printed leaders of others, as truth: products of transforms, and their servos.

Nothing here is the product's: no URDF, no words. Figures are those of the makers'
Denavit-Hartenberg tables and of joint origins, at a printed scale.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def rotate(axis, angle):
    """Rotation about a unit axis by Rodrigues' formula, shape (4, 4)."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return T


def move(x, y, z):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def standard_dh(rows, base=None):
    """Frames of the joints and of the hand by rows (a, alpha, d)."""

    def find_frames(q):
        frames = [np.eye(4) if base is None else base]
        for (a, alpha, d), angle in zip(rows, q, strict=True):
            T = frames[-1] @ rotate((0, 0, 1), angle) @ move(a, 0, d)
            frames.append(T @ rotate((1, 0, 0), alpha))
        return frames

    return find_frames


def modified_dh(rows, end):
    """Frames of the joints by Craig's rows (a, alpha, d), and the hand along z."""

    def find_frames(q):
        frames, T = [], np.eye(4)
        for (a, alpha, d), angle in zip(rows, q, strict=True):
            T = T @ rotate((1, 0, 0), alpha) @ move(a, 0, 0)
            frames.append(T)
            T = T @ rotate((0, 0, 1), angle) @ move(0, 0, d)
        return [*frames, T @ move(0, 0, end)]

    return find_frames


def exponentials(places, axes, hand):
    """Frames of joints at places [m] with axes at zero, and of the hand."""

    def find_frames(q):
        frames, T = [], np.eye(4)
        for place, axis, angle in zip(places, axes, q, strict=True):
            frames.append(T @ move(*place))
            T = T @ move(*place) @ rotate(axis, angle) @ move(*(-np.array(place)))
        return [*frames, T @ move(*hand)]

    return find_frames


@dataclass
class PrintedLeader:
    """A leader as it stands on a table.

    Attributes:
        words: Options of ``new-leader`` that describe it.
        models: Of the servos, the gripper's last.
        twins: Id of the second servo by the place of a joint.
        gears: Of the joints that have another gear than 1, by place.
        home: First posture, [rad].
    """

    find_frames: object
    options: dict
    models: list
    home: list
    twins: dict = field(default_factory=dict)
    gears: dict = field(default_factory=dict)
    ids: list = field(default_factory=list)
    baud: int = 1_000_000

    @property
    def n(self):
        return len(self.home)

    def find_pose(self, q):
        """Return the pose of the hand, shape (4, 4)."""
        return self.find_frames(q)[-1]


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
HALF = np.pi / 2
SMALL, MEDIUM, BIG = "xl330-m288", "xc330-t288", "xm430-w210"


def scaled(rows, scale):
    return [(scale * a, alpha, scale * d) for a, alpha, d in rows]


UR5E = [
    (0, HALF, 0.1625),
    (-0.425, 0, 0),
    (-0.3922, 0, 0),
    (0, HALF, 0.1333),
    (0, -HALF, 0.0997),
    (0, 0, 0.0996),
]
PANDA = [
    (0, 0, 0.333),
    (0, -HALF, 0),
    (0, HALF, 0.316),
    (0.0825, HALF, 0),
    (-0.0825, -HALF, 0.384),
    (0, HALF, 0),
    (0.088, HALF, 0),
]
XARM7 = [
    (0, 0, 0.267),
    (0, -HALF, 0),
    (0, HALF, 0.293),
    (0.0525, HALF, 0),
    (0.0775, HALF, 0.3425),
    (0, HALF, 0),
    (0.076, -HALF, 0.097),
]
BENT = [0, 0, 0, -HALF, 0, HALF, 0]


def _degrees(q):
    return tuple(np.degrees(q).tolist())


def make_printed():
    """Return the leaders by name."""
    return {
        "gello_ur5e": PrintedLeader(
            standard_dh(scaled(UR5E, 0.55), rotate(Z, np.pi)),
            {
                "words": "up 89.375, pan yaw; lift pitch; forward 233.75; elbow pitch; "
                "forward 215.71, wrist pitch, left 73.315, turn yaw right, "
                "down 54.835, last pitch, left 54.78, gripper",
                "home": (0, -90, 90, -90, -90, 0),
            },
            [SMALL] * 6 + ["xl330-m077"],
            [0, -HALF, HALF, -HALF, -HALF, 0],
            baud=57600,
        ),
        "gello_panda": PrintedLeader(
            modified_dh(scaled(PANDA, 0.5), 0.0535),
            {
                "words": "up 166.5, yaw, pitch, up 158, yaw, forward 41.25, pitch up, "
                "back 41.25 up 192, yaw, pitch up, forward 44, yaw right, down 53.5, "
                "gripper",
                "home": _degrees(BENT),
            },
            [SMALL] * 7 + ["xl330-m077"],
            BENT,
        ),
        "gello_xarm7": PrintedLeader(
            modified_dh(scaled(XARM7, 0.48), 0.0),
            {"like": "gello_xarm7", "scale": 0.48},
            [SMALL] * 7,
            [0, 0, 0, HALF, 0, HALF, 0],
            gears={0: 2.0},
        ),
        "factr": PrintedLeader(
            modified_dh(scaled(PANDA, 0.6), 0.6 * 0.107),
            {"like": "factr", "scale": 0.6},
            [BIG, BIG] + [MEDIUM] * 6,
            BENT,
            baud=4_000_000,
        ),
        "koch": PrintedLeader(
            exponentials(
                [
                    (0, 0, 0.0549),
                    (0, 0, 0.0866),
                    (0.0148, 0, 0.1949),
                    (0.1152, 0, 0.2033),
                    (0.1605, 0, 0.2033),
                ],
                [Z, Y, Y, Y, X],
                (0.2391, 0, 0.2033),
            ),
            {
                "words": "up 54.9, shoulder_pan yaw, up 31.7, shoulder_lift pitch, "
                "up 108.3 forward 14.8, elbow_flex pitch, forward 100.4 up 8.4, "
                "wrist_flex pitch, forward 45.3, wrist_roll roll, forward 78.6, gripper"
            },
            ["xl330-m077"] * 6,
            [0.0] * 5,
        ),
        "aloha": PrintedLeader(
            exponentials(
                [
                    (0, 0, 0.072),
                    (0, 0, 0.11065),
                    (0.04975, 0, 0.36065),
                    (0.22475, 0, 0.36065),
                    (0.29975, 0, 0.36065),
                    (0.36475, 0, 0.36065),
                ],
                [Z, Y, Y, X, Y, X],
                (0.40775, 0, 0.36065),
            ),
            {
                "words": "up 72, waist yaw, up 38.65, shoulder pitch up, "
                "up 250 forward 49.75, elbow pitch, forward 175, forearm roll left, "
                "forward 75, wrist pitch, forward 65, rotate roll, forward 43, gripper"
            },
            ["xm430-w350"] * 4 + ["xl430-w250"] * 3,
            [0.0] * 6,
            twins={1: 3, 2: 5},
            ids=[1, 2, 4, 6, 7, 8, 9],
        ),
        "omx_l": PrintedLeader(
            exponentials(
                [
                    (-0.0095, 0, 0.042),
                    (-0.0095, 0, 0.0755),
                    (0.0315, 0, 0.1893),
                    (0.1935, 0, 0.1893),
                    (0.2535, 0, 0.1893),
                ],
                [Z, Y, Y, Y, X],
                (0.3283, 0.004, 0.1893),
            ),
            {
                "words": "up 42 back 9.5, yaw gear 2.2, up 33.5, pitch, up 113.8 "
                "forward 41, pitch, forward 162, pitch, forward 60, roll, "
                "forward 74.8 left 4, gripper"
            },
            [SMALL] * 5 + ["xl330-m077"],
            [0.0] * 5,
            gears={0: 2.2, 2: 0.5},
            ids=[1, 2, 3, 4, 5, 6],
        ),
    }
