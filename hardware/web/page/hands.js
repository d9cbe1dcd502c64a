// One hand at a headset: a controller, or the hand itself.
//
// Controller: the grip button is held to move, the trigger closes the gripper, A or X ends the
// episode, B or Y stops. Hand: it moves while middle and ring finger are closed, as around a handle;
// thumb and index finger are the gripper.

import { distance } from "./geometry.js";
import { readPose } from "./xr.js";

const NEAR_HEAD = 0.1; // [m] a wrist that seems to be there is a guess of the tracker
const PINCHED = 0.015; // [m] thumb and index finger touch: their tips have a thickness
const SPREAD = 0.1; // [m] as far as they open without effort
const CLOSED = 0.06; // [m] finger tips this near the palm are closed; an open hand has 0.13
const OPENED = 0.085; // [m] this far from it they are open again
let nPresses = 1; // of both hands since the page was loaded: a number never comes again
const NEXT = 4, STOP = 5; // buttons of "xr-standard": A or X, B or Y

export class HandInput {
  constructor(name) {
    this.name = name;
    this.press = 1;
    this.held = false;
    this.last = { p: [0, 0, 0], q: [0, 0, 0, 1] };
    this.counts = { stop: 0, next_episode: 0 };
    this.wasDown = {};
  }

  read(frame, space, source, viewer) {
    const seen = source?.hand
      ? this.readHand(frame, space, source.hand, viewer)
      : this.readController(frame, space, source);
    if (seen.tracked) this.last = { p: seen.p, q: seen.q };
    const held = Boolean(seen.tracked && seen.held);
    if (held && !this.held) this.press = nPresses += 1;
    this.held = held;
    return { ...this.last, ...seen, held, press: this.press };
  }

  readController(frame, space, source) {
    if (!source?.gripSpace) return { tracked: false };
    const pose = readPose(frame.getPose(source.gripSpace, space));
    const buttons = source.gamepad?.buttons ?? [];
    this.count("next_episode", buttons[NEXT]?.pressed);
    this.count("stop", buttons[STOP]?.pressed);
    return { ...pose, held: buttons[1]?.pressed ?? false, opening: 1 - (buttons[0]?.value ?? 0) };
  }

  readHand(frame, space, hand, viewer) {
    const at = (joint) => frame.getJointPose(hand.get(joint), space);
    const wrist = at("wrist");
    const pose = readPose(wrist);
    const tips = ["thumb-tip", "index-finger-tip", "middle-finger-tip", "ring-finger-tip"].map(at);
    const isGuess = viewer && wrist
      && distance(wrist.transform.position, viewer.transform.position) < NEAR_HEAD;
    if (!pose.tracked || isGuess || tips.some((tip) => !tip)) return { tracked: false };
    const [thumb, index, middle, ring] = tips.map((tip) => tip.transform.position);
    const palm = at("middle-finger-metacarpal")?.transform.position ?? wrist.transform.position;
    const reach = Math.max(distance(middle, palm), distance(ring, palm));
    const held = reach < (this.held ? OPENED : CLOSED);
    const opening = (distance(thumb, index) - PINCHED) / (SPREAD - PINCHED);
    return { ...pose, held, opening: Math.min(Math.max(opening, 0), 1) };
  }

  count(name, isDown) {
    if (isDown && !this.wasDown[name]) this.counts[name] += 1;
    this.wasDown[name] = Boolean(isDown);
  }
}
