// A WebXR session as a source of poses: the phone itself, or the hands at a headset.

import { findHeading, readPose, turnAbout } from "./geometry.js";
import { HandInput } from "./hands.js";

export class XrSource {
  // onFrame(t, poses): poses by name, {p, q, tracked, held?, press?, opening?, actions?}
  constructor(kind, limbs, onFrame, onEnd) {
    this.kind = kind;
    this.limbs = limbs;
    this.onFrame = onFrame;
    this.onEnd = onEnd;
    this.inputs = new Map(limbs.map((name) => [name, new HandInput(name)]));
    this.wasReset = false;
    this.picture = null; // what the robot's camera sees, where there is one
    this.panel = null; // the session's state, where the page is not seen
  }

  static async findMode(kind) {
    const modes = kind === "phone" ? ["immersive-ar"] : ["immersive-ar", "immersive-vr"];
    for (const mode of modes) {
      if (await navigator.xr?.isSessionSupported(mode).catch(() => false)) return mode;
    }
    return null;
  }

  async start(mode, overlay, canvas) {
    const gl = canvas.getContext("webgl", { xrCompatible: true });
    const session = await navigator.xr.requestSession(mode, {
      requiredFeatures: ["local"],
      optionalFeatures: ["dom-overlay", "hand-tracking"],
      domOverlay: { root: overlay },
    });
    this.session = session;
    session.addEventListener("end", () => this.onEnd());
    session.addEventListener("visibilitychange", () => {
      if (session.visibilityState !== "visible") this.onHidden?.();
    });
    session.updateRenderState({ baseLayer: new XRWebGLLayer(session, gl) });
    this.gl = gl;
    this.setSpace(await session.requestReferenceSpace("local"));
    this.base = this.space;
    session.requestAnimationFrame((t, frame) => this.step(t, frame));
  }

  get hasOverlay() {
    return Boolean(this.session?.domOverlayState);
  }

  setSpace(space) {
    this.space = space;
    space.addEventListener("reset", () => { this.wasReset = true; });
  }

  // From here on the way in which the device looks is forward.
  face() {
    if (!this.heading && this.heading !== 0) return;
    const [x, y, z, w] = turnAbout([0, 1, 0], this.heading);
    const turned = new XRRigidTransform({}, { x, y, z, w });
    this.setSpace(this.base.getOffsetReferenceSpace(turned));
    this.wasReset = true;
  }

  step(t, frame) {
    const session = frame.session;
    session.requestAnimationFrame((next, at) => this.step(next, at));
    this.gl.bindFramebuffer(this.gl.FRAMEBUFFER, session.renderState.baseLayer.framebuffer);
    this.gl.clearColor(0, 0, 0, 0);
    this.gl.clear(this.gl.COLOR_BUFFER_BIT);
    const viewer = frame.getViewerPose(this.space);
    if (this.wasReset) this.picture?.forget();
    this.picture?.note(t, viewer);
    this.picture?.draw(this.gl, session.renderState.baseLayer, viewer);
    this.panel?.draw(this.gl, session.renderState.baseLayer, viewer);
    this.noteHeading(frame);
    const poses = this.kind === "phone"
      ? { [this.limbs[0]]: readPose(viewer) }
      : this.readHands(frame, viewer);
    if (this.wasReset || session.visibilityState !== "visible") {
      for (const pose of Object.values(poses)) pose.tracked = false;
      this.wasReset = false;
    }
    const now = performance.now();
    this.onFrame(Math.abs(now - t) < 1000 ? Math.min(t, now) : now, poses);
  }

  noteHeading(frame) {
    const pose = frame.getViewerPose(this.base);
    if (!pose) return;
    const { x, y, z, w } = pose.transform.orientation;
    this.heading = findHeading([x, y, z, w]);
  }

  readHands(frame, viewer) {
    const poses = {};
    for (const [name, input] of this.inputs) {
      const source = [...frame.session.inputSources].find((one) => one.handedness === name);
      poses[name] = input.read(frame, this.space, source, viewer);
    }
    return poses;
  }

  pulse(strength) {
    for (const source of this.session?.inputSources ?? []) {
      source.gamepad?.hapticActuators?.[0]?.pulse(strength, 60);
    }
  }
}
