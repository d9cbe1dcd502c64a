"""Training of ``advisors/learned`` in NumPy.

python -m benchmarks.shared_control.demonstrations DEMOS.npz
python -m benchmarks.shared_control.learn [--demos DEMOS.npz] [--out grasp.onnx]

Motions are draws of N(0, Σ(state)), Σ = L Lᵀ + ε I; the loss is their negative
log-likelihood: AdaptiX's Mahalanobis distance, with Σ bounded. A second head learns the
mean motion, for signs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from paprle.contracts.axes import N_FREEDOMS
from paprle.contracts.types import Vec

FOLDER = Path(__file__).parent
DEMOS = FOLDER / "demonstrations.npz"
NETWORK = FOLDER.parents[1] / "advisors" / "learned" / "grasp.onnx"
N_STATE = 11
EPSILON = 0.01  # spec: AdaptiX, its loss; no axis varies less than a tenth
_RANK = 3  # chosen: a motion, another, and what is between them
_HIDDEN = (64, 64)  # chosen: trained in a minute
_STEPS, _BATCH, _RATE = 8_000, 128, 2e-3  # chosen: the loss falls no more
_HELD_OUT = 5  # chosen: every fifth trial judges
_NOISE = 0.002  # [m], [1] chosen: a hand that is off sees nearly the same
_DECAY = 1e-5  # chosen: of the weights, a step


class Split(NamedTuple):
    """Training or test moments.

    Attributes:
        state: (n, 11).
        motion: Of length 1, (n, 7).
    """

    state: Vec
    motion: Vec


def read(path: Path) -> tuple[Split, Split]:
    """Return training and test moments."""
    with np.load(path) as file:
        state, motion = file["state"].astype("f8"), file["motion"].astype("f8")
        judges = file["trial"] % _HELD_OUT == 0
    return Split(state[~judges], motion[~judges]), Split(state[judges], motion[judges])


class Learner:
    """Network from state to covariance factor and mean."""

    def __init__(self, data: Split, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._data = data
        self.mean = data.state.mean(axis=0)
        self.scale = data.state.std(axis=0) + 1e-3
        sizes = (N_STATE, *_HIDDEN, N_FREEDOMS * (_RANK + 1))
        pairs = list(zip(sizes, sizes[1:], strict=False))
        self.weights = [self._rng.normal(0, np.sqrt(2 / a), (a, b)) for a, b in pairs]
        self.biases = [np.zeros(b) for _, b in pairs]

    def train(self) -> float:
        """Train; return the last hundred batches' mean loss."""
        values = [*self.weights, *self.biases]
        first = [np.zeros_like(v) for v in values]
        second = [np.zeros_like(v) for v in values]
        losses = []
        for step in range(1, _STEPS + 1):
            loss, slopes = self._differentiate()
            losses.append(loss)
            rate = _RATE * 0.5 * (1 + np.cos(np.pi * step / _STEPS))
            for k, slope in enumerate(slopes):  # Adam
                first[k] += 0.1 * (slope - first[k])
                second[k] += 0.001 * (slope * slope - second[k])
                size = np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8
                values[k] -= rate * first[k] / (1 - 0.9**step) / size
                values[k] -= _DECAY * values[k]
        return float(np.mean(losses[-100:]))

    def run(self, state: Vec) -> list[Vec]:
        """Return layers of states, (n, ·); the last is the output."""
        layers = [(state - self.mean) / self.scale]
        for k, (W, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            out = layers[-1] @ W + b
            layers.append(np.maximum(out, 0) if k < len(_HIDDEN) else out)
        return layers

    def _differentiate(self) -> tuple[float, list[Vec]]:
        pick = self._rng.integers(len(self._data.state), size=_BATCH)
        noise = _NOISE * self._rng.normal(size=(_BATCH, N_STATE))
        layers = self.run(self._data.state[pick] + noise)
        loss, slope = judge(layers[-1], self._data.motion[pick])
        by_weights, by_biases = [], []
        for k in reversed(range(len(self.weights))):
            by_weights.insert(0, layers[k].T @ slope)
            by_biases.insert(0, slope.sum(axis=0))
            slope = (slope @ self.weights[k].T) * (layers[k] > 0)
        return loss, [*by_weights, *by_biases]

    def save(self, path: Path) -> None:
        """Write it: state in, Σ and mean out."""
        f32, n = onnx.TensorProto.FLOAT, N_FREEDOMS
        W0 = self.weights[0] / self.scale[:, None]
        weights = [W0, *self.weights[1:]]
        biases = [self.biases[0] - self.mean @ W0, *self.biases[1:]]
        consts = {
            "factor_shape": np.array([1, n, _RANK]),
            "least": EPSILON * np.eye(n, dtype=np.float32)[None],
            "ends": np.array([n * _RANK, n]),
        }
        nodes, last = [], "state"
        for k, (W, b) in enumerate(zip(weights, biases, strict=True)):
            consts |= {f"W{k}": W.astype(np.float32), f"b{k}": b.astype(np.float32)}
            nodes.append(helper.make_node("Gemm", [last, f"W{k}", f"b{k}"], [f"g{k}"]))
            last = f"g{k}"
            if k < len(_HIDDEN):
                nodes.append(helper.make_node("Relu", [last], [f"h{k}"]))
                last = f"h{k}"
        nodes += [
            helper.make_node("Split", [last, "ends"], ["flat", "mean"], axis=1),
            helper.make_node("Reshape", ["flat", "factor_shape"], ["L"]),
            helper.make_node("Transpose", ["L"], ["Lt"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["L", "Lt"], ["LLt"]),
            helper.make_node("Add", ["LLt", "least"], ["covariance"]),
        ]
        graph = helper.make_graph(
            nodes,
            "motions",
            [helper.make_tensor_value_info("state", f32, [1, N_STATE])],
            [
                helper.make_tensor_value_info("covariance", f32, [1, n, n]),
                helper.make_tensor_value_info("mean", f32, [1, n]),
            ],
            [numpy_helper.from_array(v, name) for name, v in consts.items()],
        )
        opset = [helper.make_opsetid("", 17)]
        onnx.save(
            helper.make_model(graph, opset_imports=opset, ir_version=9), str(path)
        )


def judge(out: Vec, motion: Vec) -> tuple[float, Vec]:
    """Return loss and slope of outputs, (n, 28)."""
    n = len(out)
    L = out[:, : N_FREEDOMS * _RANK].reshape(n, N_FREEDOMS, _RANK)
    S = L @ L.transpose(0, 2, 1) + EPSILON * np.eye(N_FREEDOMS)
    inverse = np.linalg.inv(S)
    v = np.einsum("nij,nj->ni", inverse, motion)
    error = out[:, N_FREEDOMS * _RANK :] - motion
    distance = np.einsum("ni,ni->n", motion, v) + np.sum(error**2, axis=1)
    loss = 0.5 * float(np.mean(distance + np.linalg.slogdet(S)[1]))
    by_factor = (inverse - v[:, :, None] * v[:, None, :]) @ L
    slope = np.hstack([by_factor.reshape(n, -1), error]) / n
    return loss, slope


def measure(out: Vec, motion: Vec) -> Vec:
    """Return the first column's cosine, (n,)."""
    n = len(out)
    L = out[:, : N_FREEDOMS * _RANK].reshape(n, N_FREEDOMS, _RANK)
    column = np.linalg.eigh(L @ L.transpose(0, 2, 1))[1][:, :, -1]
    along = np.sign(np.einsum("ni,ni->n", column, out[:, N_FREEDOMS * _RANK :]))
    cosine: Vec = along * np.einsum("ni,ni->n", column, motion)
    return cosine


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Train suggestions.")
    parser.add_argument("--demos", type=Path, default=DEMOS)
    parser.add_argument("--out", type=Path, default=NETWORK)
    args = parser.parse_args()
    known, unseen = read(args.demos)
    learner = Learner(known)
    loss = learner.train()
    learner.save(args.out)
    out = learner.run(unseen.state)[-1]
    told, of = judge(out, unseen.motion)[0], len(out)
    cosine = measure(out, unseen.motion)
    chance = measure(out[np.random.default_rng(0).permutation(of)], unseen.motion)
    sys.stdout.write(
        f"loss {loss:.2f}, of unseen trials {told:.2f}; first column and motion of "
        f"{of} unseen moments: median cosine {np.median(cosine):.3f}, above 0.8 in "
        f"{np.mean(cosine > 0.8):.0%}; by chance, what it says at others of them: "
        f"{np.median(chance):.3f}, {np.mean(chance > 0.8):.0%}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
