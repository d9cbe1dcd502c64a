// Where a browser has no AR (iPhone): the phone's orientation, and pads that move it.

import { IDENTITY, findHeading, multiply, rotate, turnAbout } from "./geometry.js";

const STEP = 0.0003; // [m] a pixel: twice as far as the finger
const RAD = Math.PI / 180;
const OUT_OF_THE_BACK = turnAbout([1, 0, 0], -Math.PI / 2);

export class TouchSource {
  constructor(limb, onFrame) {
    this.limb = limb;
    this.onFrame = onFrame;
    this.p = [0, 0, 0];
    this.q = IDENTITY;
    this.forward = 0;
    this.wasReset = false;
  }

  // To be called from a tap: iPhones ask the operator for leave then.
  async start(plane, height) {
    const asks = globalThis.DeviceOrientationEvent?.requestPermission;
    if (asks) await DeviceOrientationEvent.requestPermission().catch(() => "denied");
    window.addEventListener("deviceorientation", (event) => this.turn(event));
    listen(plane, (dx, dy) => this.slide([dx, 0, dy]));
    listen(height, (dx, dy) => this.slide([0, -dy, 0]));
    const step = (t) => {
      this.onFrame(Math.min(t, performance.now()), { [this.limb]: this.read() });
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  face() {
    this.forward = findHeading(this.q);
    this.wasReset = true;
  }

  read() {
    const tracked = !this.wasReset;
    this.wasReset = false;
    const back = turnAbout([0, 1, 0], -this.forward);
    return { p: [...this.p], q: multiply(back, this.q), tracked };
  }

  slide(pixels) {
    const away = rotate(turnAbout([0, 1, 0], findHeading(this.q) - this.forward), pixels);
    this.p = this.p.map((value, i) => value + STEP * away[i]);
  }

  // Z-X′-Y″ of the device's own axes, z up, to y up; then out of the back of the phone.
  turn({ alpha, beta, gamma }) {
    if (alpha === null || beta === null || gamma === null) return;
    const angle = (screen.orientation?.angle ?? 0) * RAD;
    const yaw = turnAbout([0, 1, 0], alpha * RAD);
    const pitch = turnAbout([1, 0, 0], beta * RAD);
    const roll = turnAbout([0, 0, 1], -gamma * RAD);
    const level = multiply(multiply(yaw, pitch), roll);
    this.q = multiply(multiply(level, OUT_OF_THE_BACK), turnAbout([0, 0, 1], -angle));
  }
}

function listen(pad, onSlide) {
  let last = null;
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    last = [event.clientX, event.clientY];
  });
  pad.addEventListener("pointermove", (event) => {
    if (last === null) return;
    onSlide(event.clientX - last[0], event.clientY - last[1]);
    last = [event.clientX, event.clientY];
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
    pad.addEventListener(name, () => { last = null; });
  }
}
