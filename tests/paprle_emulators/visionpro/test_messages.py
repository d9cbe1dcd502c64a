"""Messages of the emulated headset, read by protobuf."""

from __future__ import annotations

import numpy as np
import pytest

from paprle_emulators.visionpro.messages import Hand, HandUpdate, encode

messages = pytest.importorskip("paprle.hardware.visionpro.messages")


def read(matrix):
    names = [f"m{r}{c}" for r in range(4) for c in range(4)]
    return np.array([getattr(matrix, name) for name in names]).reshape(4, 4)


def test_protobuf_reads_every_number_of_a_message():
    wrist, joint, head = np.random.default_rng(0).normal(size=(3, 4, 4))
    update = HandUpdate(Hand(wrist, [joint] * 25), Hand(head, []), head)

    found = messages.HandUpdate.FromString(encode(update))

    assert read(found.left_hand.wristMatrix) == pytest.approx(wrist, rel=1e-6)
    assert len(found.left_hand.skeleton.jointMatrices) == 25
    last = read(found.left_hand.skeleton.jointMatrices[-1])
    assert last == pytest.approx(joint, rel=1e-6)
    assert read(found.right_hand.wristMatrix) == pytest.approx(head, rel=1e-6)
    assert read(found.Head) == pytest.approx(head, rel=1e-6)


def test_an_absent_field_has_no_bytes():
    assert encode(HandUpdate()) == b""
    assert not messages.HandUpdate.FromString(encode(HandUpdate())).HasField("Head")
