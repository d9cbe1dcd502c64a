// One hand at a headset: a controller, or the hand itself.
//
// Controller: the grip button is held to move, the trigger closes the gripper, A or X ends the
// episode, B or Y stops. Hand: it moves while middle and ring finger are closed, as around a handle;
// thumb and index finger are the gripper; how far apart they are goes out, too: pinches of all hands end
// the episode (end_sign.py).

import { distance, readPose } from "./geometry.js";

const NEAR_HEAD = 0.1; // [m] a wrist that seems to be there is a guess of the tracker
const PINCHED = 0.015; // [m] thumb and index finger touch: their tips have a thickness
const SPREAD = 0.1; // [m] as far as they open without effort
const CLOSED = 0.7; // of a finger's length from its root to its tip; a fist has 0.55
const OPENED = 0.85; // straight fingers have 0.98
const BONES = ["phalanx-proximal", "phalanx-intermediate", "phalanx-distal", "tip"];
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
    // what is not known has not changed: neither a grip nor a release is made of lost tracking
    const held = seen.held ?? this.held;
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
    return { ...pose, held: buttons[1]?.pressed ?? false, opening: 1 - (buttons[0]?.value ?? 0), gap: null };
  }

  readHand(frame, space, hand, viewer) {
    const at = (joint) => frame.getJointPose(hand.get(joint), space);
    const place = (joint) => at(joint)?.transform.position;
    const wrist = at("wrist");
    const pose = readPose(wrist);
    const isGuess = viewer && wrist
      && distance(wrist.transform.position, viewer.transform.position) < NEAR_HEAD;
    const [thumb, index] = ["thumb-tip", "index-finger-tip"].map(place);
    const fingers = ["middle", "ring"].map((name) => BONES.map((bone) => place(`${name}-finger-${bone}`)));
    if (!pose.tracked || isGuess || ![thumb, index, ...fingers.flat()].every(Boolean)) {
      return { tracked: false };
    }
    const held = Math.max(...fingers.map(straighten)) < (this.held ? OPENED : CLOSED);
    const gap = distance(thumb, index);
    const opening = (gap - PINCHED) / (SPREAD - PINCHED);
    return { ...pose, held, opening: Math.min(Math.max(opening, 0), 1), gap };
  }

  count(name, isDown) {
    if (isDown && !this.wasDown[name]) this.counts[name] += 1;
    this.wasDown[name] = Boolean(isDown);
  }
}

// How straight a finger is: from its root to its tip, as share of its length.
function straighten(joints) {
  const length = joints.slice(1).reduce((sum, joint, i) => sum + distance(joint, joints[i]), 0);
  return distance(joints[0], joints.at(-1)) / length;
}
