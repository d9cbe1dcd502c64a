"""An operator who does what ``paprle new-leader`` asks, on emulated servos."""

from __future__ import annotations

import re
import time

import numpy as np

PAUSE = 0.08  # [s] several periods of the wizard's samples


class Operator:
    """Mounts servos by chance, and shows the postures that are asked for.

    Attributes:
        signs, offsets: Of the servos, unknown to the product, [rad].
        error: By which each joint is off in a posture, shape (n,), [rad].
    """

    def __init__(self, leader, servos, twins, rng):
        self.leader, self.servos, self.twins = leader, servos, twins
        n = len(servos)
        self.signs = rng.choice([-1, 1], n)
        self.offsets = rng.uniform(-2.5 * np.pi, 2.5 * np.pi, n)
        self.offsets[:2] = np.pi - 2e-3, -np.pi + 2e-3  # at the encoder's turn
        self.gears = np.array([leader.gears.get(i, 1.0) for i in range(n)])
        self.error = np.zeros(n)
        self.home = np.append(leader.home, [0.0] * (n - leader.n))
        self.asked = []
        self.answers = {}
        self.still = ()  # joints that are forgotten in the second posture
        self.show(self.home)
        self.power_up()

    @property
    def has_gripper(self):
        return len(self.servos) > self.leader.n

    def power_up(self):
        """Encoders count from their one turn."""
        for servo in [*self.servos, *self.twins.values()]:
            servo.reboot()

    def show(self, q):
        """Put the joints at q, the gripper's last, [rad]."""
        self.q = np.array(q, dtype=float)
        angles = self.signs * self.gears * self.q + self.offsets
        for i, (servo, angle) in enumerate(zip(self.servos, angles, strict=True)):
            servo.angle = float(angle)
            if i in self.twins:
                self.twins[i].angle = -float(angle)

    def answer(self, question):
        """Do what a question asks, and return the answer."""
        self.asked.append(question)
        assert len(self.asked) < 10, self.asked[-2:]
        for text, answer in self.answers.items():
            if re.search(text, question):
                return answer(question) if callable(answer) else answer
        if "first posture" in question:
            self.show(self.home + self.error)
        elif "second posture" in question:
            self.show_second(question)
        elif "to and fro" in question:
            self.sweep()
        time.sleep(PAUSE)
        return ""

    def show_second(self, question):
        """Turn each joint by what it says; which way, its words and the truth say."""
        q = self.home.copy()
        rows = re.findall(r"^  (\w+): by (\d+) \[deg\], so that (.*)$", question, re.M)
        for i, (_, degrees, words) in enumerate(rows):
            q[i] += np.radians(float(degrees)) * self.find_sense(i, words)
        if self.has_gripper:
            q[-1] = 0.9
        q[list(self.still)] = self.home[list(self.still)]
        self.show(q - self.error)

    def find_sense(self, i, words):
        """Return the sense in which a joint's turn does what the words say."""
        senses = [sense for sense in (1, -1) if self.does(i, sense, words)]
        assert len(senses) == 1, (i, words, senses)
        return senses[0]

    def does(self, i, sense, words):
        """Return whether the true hand moves as the words say."""
        n = self.leader.n
        q = self.home[:n].copy()
        before = self.leader.find_pose(q)
        q[i] += sense * 0.01
        after = self.leader.find_pose(q)
        moved = (after[:3, 3] - before[:3, 3]) / 0.01
        ways = {
            "forward": moved[0], "back": -moved[0], "to its left": moved[1],
            "to its right": -moved[1], "up": moved[2], "down": -moved[2],
        }  # fmt: skip
        for word, far in ways.items():
            if words.endswith(f"moves {word}"):
                return far > 0.7 * np.linalg.norm(moved) / np.sqrt(2) > 0.0
        turn = after[:3, :3] @ before[:3, :3].T
        axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0],
                         turn[1, 0] - turn[0, 1]])  # fmt: skip
        away = before[:3, 3] - self.leader.find_frames(self.home[:n])[i][:3, 3]
        assert "as seen from the arm" in words
        return (axis @ away > 0.0) != ("counter" in words)

    def sweep(self, order=None):
        """Turn each joint to and fro, from the base to the hand."""
        self.show(self.home)
        time.sleep(PAUSE)
        for i in order or range(len(self.servos)):
            for away in (0.6, 0.0, -0.6 if i < self.leader.n else 0.3, 0.0):
                q = self.home.copy()
                q[i] += away
                self.show(q)
                time.sleep(PAUSE)


def talk(dialogue, operator):
    """Lead a dialogue to its end; return its result."""
    try:
        question = next(dialogue)
        while True:
            question = dialogue.send(operator.answer(question))
    except StopIteration as end:
        return end.value
