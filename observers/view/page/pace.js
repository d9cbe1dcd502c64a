// The pace of the 3-D picture: drawing takes about a third of the time.
//
// Where the processor draws, a picture at the screen's rate would take the turns of the page's dead-man and of the
// session's processes. A frame is finished when its fence is passed; the next one begins after twice that time.

const IDLE = 2; // times the duration of a frame
const FRAME = 1000 / 60; // [ms] a frame that fits in a third of this is followed at once
const LONGEST = 500; // [ms] between frames, also after a slower one
const POLL = 4; // [ms]

let gl = null;
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (...args) {
  const context = getContext.apply(this, args);
  if (context instanceof WebGL2RenderingContext) gl = context;
  return context;
};

const waiting = new Map(); // requests by their number
const request = window.requestAnimationFrame.bind(window);
let n = 0, isPlanned = false;

function plan(delay) {
  isPlanned = true;
  if (delay > 0) setTimeout(() => request(draw), delay);
  else request(draw);
}

function draw(t) {
  const now = [...waiting.values()];
  waiting.clear();
  for (const callback of now) callback(t);
  const begin = performance.now(), fence = gl?.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  if (fence) {
    gl.flush();
    settle(fence, begin);
  } else finish(0);
}

function settle(fence, begin) {
  const took = performance.now() - begin;
  if (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED && took < LONGEST) {
    setTimeout(() => settle(fence, begin), POLL);
    return;
  }
  gl.deleteSync(fence);
  finish(Math.min(Math.max(IDLE * took - FRAME, 0), LONGEST));
}

function finish(delay) {
  isPlanned = false;
  if (waiting.size) plan(delay);
  else setTimeout(() => { if (!isPlanned && waiting.size) plan(0); }, delay);
}

window.requestAnimationFrame = (callback) => {
  waiting.set(++n, callback);
  if (!isPlanned) plan(0);
  return n;
};
window.cancelAnimationFrame = (number) => waiting.delete(number);
