"""The 3-D picture in a browser that draws on the processor."""

from __future__ import annotations

import numpy as np
import pytest
from operator_page import operate

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timed,
    pytest.mark.nightly,
    pytest.mark.timeout(240),
]

LOADED = 6.0  # [s] until shaders are compiled
COUNTED = """(() => {
  const gl = WebGL2RenderingContext.prototype;
  const { linkProgram, fenceSync, deleteSync } = gl;
  window.n_programs = 0;
  window.frames_drawn = [];
  gl.linkProgram = function (...args) {
    window.n_programs += 1;
    return linkProgram.apply(this, args);
  };
  gl.fenceSync = function (...args) {
    this.began = performance.now();
    return fenceSync.apply(this, args);
  };
  gl.deleteSync = function (...args) {
    window.frames_drawn.push([this.began, performance.now()]);
    return deleteSync.apply(this, args);
  };
})();"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """Programs before and while it drives, and times of frames (n, 2), [ms]."""
    folder = tmp_path_factory.mktemp("picture")
    words = ["observers.view.port=18483"]
    with operate(folder, "piper", *words, width=1280, height=720, script=COUNTED) as op:
        op.wait_for_picture()
        op.page.wait_for_timeout(1000 * LOADED)
        frame = op.page.frames[-1]
        before = frame.evaluate("window.n_programs")
        op.drive(["ArrowUp"], 2.0)
        op.drive(["ArrowDown"], 2.0)
        op.let_go()
        after = frame.evaluate("window.n_programs")
        return before, after, np.array(frame.evaluate("window.frames_drawn"))


def test_nothing_is_compiled_while_the_robot_is_driven(watched):
    before, after, _ = watched
    assert before > 0
    assert after == before


def test_drawing_takes_a_third_of_the_time(watched):
    *_, frames = watched
    took = frames[:, 1] - frames[:, 0]
    assert len(took) > 5
    assert np.median(took) > 20.0, "it is slow"
    assert took.sum() < 0.4 * (frames[-1, 1] - frames[0, 0])
