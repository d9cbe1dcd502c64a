"""The network that was trained, judged by trials that it was not trained on."""

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from benchmarks.shared_control.learn import DEMOS, N_FREEDOMS, NETWORK, judge, read
from paprle.advisors.learned.columns import Columns
from paprle.hardware.onnx.network import Network

RNG = np.random.default_rng(19)


def test_the_first_column_is_what_users_did_in_trials_the_network_does_not_know():
    _, unseen = read(DEMOS)
    network, firsts, motions = Network(NETWORK), [], unseen.motion[::3]
    for state in unseen.state[::3]:
        covariance, mean = network({"state": state.astype(np.float32)})
        D, _ = Columns(0.2).step(covariance.astype(float), mean.astype(float))
        firsts.append(D[:, 0])
    cosine = np.sum(firsts * motions, axis=1)
    by_chance = np.sum(RNG.permutation(firsts) * motions, axis=1)

    assert len(cosine) > 200
    assert np.median(cosine) > 0.95
    assert np.mean(cosine > 0.8) > 0.7
    assert np.mean(by_chance > 0.8) < 0.3, "it looks at the scene"


def test_the_slope_of_the_loss_is_that_of_differences():
    out, motion = RNG.normal(size=(3, 4 * N_FREEDOMS)), RNG.normal(size=(3, N_FREEDOMS))
    _, slope = judge(out, motion)

    for k in RNG.integers(0, out.size, 12):
        step = np.zeros(out.size)
        step[k] = 1e-6
        step = step.reshape(out.shape)
        rise = judge(out + step, motion)[0] - judge(out - step, motion)[0]
        assert slope.ravel()[k] == pytest.approx(rise / 2e-6, rel=1e-4, abs=1e-6)
