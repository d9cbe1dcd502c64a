"""Small network, cloned in NumPy and written as ONNX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pyarrow.parquet as pq
from onnx import helper, numpy_helper

STATE, BLOCK = "observation.state", "observation.environment_state"
CHUNK = 16  # chosen: half a second, longer than the demonstrator stands still
_HIDDEN = (128, 128)  # chosen: trained in half a minute
_STEPS, _BATCH, _RATE = 6_000, 128, 1e-3  # chosen: the loss falls no more
_NOISE = 0.7  # [deg, 0-100] chosen: an arm that is off learns the way back
_BLOCK_NOISE = 0.001  # [m] chosen: likewise
_DECAY = 1e-5  # chosen: of the weights, a step


def read_pairs(root: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return observations and actions of driven frames.

    Returns:
        Joints and block, (n, 10); ``CHUNK`` next actions, (n, CHUNK, 7), last repeated.
    """
    table = pq.read_table(sorted((root / "data").rglob("*.parquet")))
    rows = {
        name: np.array(table[name].to_pylist()) for name in (STATE, BLOCK, "action")
    }
    episodes = np.array(table["episode_index"].to_pylist())
    driven = np.array(table["driven"].to_pylist(), dtype=bool).ravel()
    seen, done = [], []
    for episode in np.unique(episodes):
        own = np.flatnonzero((episodes == episode) & driven)
        actions = rows["action"][own]
        seen.append(np.hstack([rows[STATE][own], rows[BLOCK][own, :3]]))
        ahead = np.arange(len(own))[:, None] + np.arange(CHUNK)
        done.append(actions[np.minimum(ahead, len(own) - 1)])
    return np.concatenate(seen), np.concatenate(done)


class Network:
    """Network from joints and block to motions."""

    def __init__(self, seen: np.ndarray, done: np.ndarray, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._seen, self._done = seen.astype(np.float32), done.astype(np.float32)
        self._n = done.shape[2]
        ways = done - seen[:, None, : self._n]
        self.mean, self.scale = seen.mean(axis=0), seen.std(axis=0) + 1e-6
        self.way_mean = ways.mean(axis=0).ravel()
        self.way_scale = ways.std(axis=0).ravel() + 0.1
        sizes = (seen.shape[1], *_HIDDEN, CHUNK * self._n)
        self.weights = [
            self._rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32)
            for a, b in zip(sizes, sizes[1:], strict=False)
        ]
        self.biases = [np.zeros(b, np.float32) for b in sizes[1:]]

    def train(self) -> float:
        """Train; return the last hundred batches' mean error, in deviations."""
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

    def _differentiate(self) -> tuple[float, list[np.ndarray]]:
        pick = self._rng.integers(len(self._seen), size=_BATCH)
        noise = np.full(self._seen.shape[1], _NOISE)
        noise[self._n :] = _BLOCK_NOISE
        seen = self._seen[pick] + noise * self._rng.normal(size=(_BATCH, len(noise)))
        ways = (self._done[pick] - seen[:, None, : self._n]).reshape(_BATCH, -1)
        layers = [(seen - self.mean) / self.scale]
        for k, (W, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            out = layers[-1] @ W + b
            layers.append(np.maximum(out, 0) if k < len(_HIDDEN) else out)
        error = layers[-1] - (ways - self.way_mean) / self.way_scale
        slope = 2 * error / error.size
        by_weights, by_biases = [], []
        for k in reversed(range(len(self.weights))):
            by_weights.insert(0, layers[k].T @ slope)
            by_biases.insert(0, slope.sum(axis=0))
            slope = (slope @ self.weights[k].T) * (layers[k] > 0)
        return float(np.sqrt(np.mean(error**2))), [*by_weights, *by_biases]

    def save(self, path: Path) -> None:
        """Write it for ``leader.path``, with scales."""
        n, f32 = self._n, onnx.TensorProto.FLOAT
        W0 = self.weights[0] / self.scale[:, None]
        Wn = self.weights[-1] * self.way_scale
        weights = [W0, *self.weights[1:-1], Wn]
        biases = [self.biases[0] - self.mean @ W0, *self.biases[1:-1]]
        biases.append(self.biases[-1] * self.way_scale + self.way_mean)
        consts = {"three": np.array([3], np.int64), "zero": np.array([0], np.int64)}
        consts |= {"one": np.array([1], np.int64)}
        consts |= {"chunk": np.array([1, CHUNK, n]), "row": np.array([1, 1, n])}
        nodes = [
            helper.make_node("Slice", [BLOCK, "zero", "three", "one"], ["place"]),
            helper.make_node("Concat", [STATE, "place"], ["h0"], axis=1),
        ]
        for k, (W, b) in enumerate(zip(weights, biases, strict=True)):
            consts |= {f"W{k}": W.astype(np.float32), f"b{k}": b.astype(np.float32)}
            nodes.append(
                helper.make_node("Gemm", [f"h{k}", f"W{k}", f"b{k}"], [f"g{k}"])
            )
            if k < len(_HIDDEN):
                nodes.append(helper.make_node("Relu", [f"g{k}"], [f"h{k + 1}"]))
        nodes += [
            helper.make_node("Reshape", [f"g{len(_HIDDEN)}", "chunk"], ["ways"]),
            helper.make_node("Reshape", [STATE, "row"], ["now"]),
            helper.make_node("Add", ["ways", "now"], ["action"]),
        ]
        graph = helper.make_graph(
            nodes,
            "reach_grasp",
            [
                helper.make_tensor_value_info(STATE, f32, [1, n]),
                helper.make_tensor_value_info(BLOCK, f32, [1, 6]),
            ],
            [helper.make_tensor_value_info("action", f32, [1, CHUNK, n])],
            [numpy_helper.from_array(v, name) for name, v in consts.items()],
        )
        opset = [helper.make_opsetid("", 17)]
        onnx.save(
            helper.make_model(graph, opset_imports=opset, ir_version=9), str(path)
        )
