// The operator's hands at the page: a dead-man, keys, buttons, sliders and a game controller.
//
// A limb moves while the dead-man is held and not otherwise; whatever takes the page from the
// operator's eyes lets go (deadman.js).

import { DeadMan } from "./deadman.js";
import { fill, make } from "./elements.js";
import { Gamepad } from "./gamepad.js";
import { say } from "./toast.js";

const $ = (id) => document.getElementById(id);
const FREEDOMS = ["x", "y", "z", "roll", "pitch", "yaw", "gripper"];
const KEYS = {
  ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [1, 1], ArrowRight: [1, -1], PageUp: [2, 1], PageDown: [2, -1],
  u: [3, -1], o: [3, 1], i: [4, 1], k: [4, -1], j: [5, 1], l: [5, -1], "]": [6, 1], "[": [6, -1],
};
export const MOVES = {
  ArrowUp: ["forward", "↑"], ArrowDown: ["back", "↓"], ArrowLeft: ["left", "←"], ArrowRight: ["right", "→"], PageUp: ["up", "PgUp"],
  PageDown: ["down", "PgDn"], u: ["roll −", "u"], o: ["roll +", "o"], i: ["pitch +", "i"], k: ["pitch −", "k"], j: ["yaw +", "j"],
  l: ["yaw −", "l"],
};
export const VAIN = "The robot moves only while the dead-man is held: hold the button (m), and drag or press.";
const GRIPPER = 1.0; // [1/s] openings a second, by keys
const FRAME = 1000 / 60;
const GOES_ITSELF = ["INIT", "HOMING", "RESETTING", "CLOSING", "STOPPED"]; // nobody moves it by hand
const N_STEPS = 500; // of a slider: a key's step is then what a pixel is to a pointer
const OF_SLIDERS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"];

// Whether a slider that has the focus takes this key itself.
export function isOfSlider(key, target) {
  return target?.type === "range" && OF_SLIDERS.includes(key);
}

function describe(q, joint) {
  return `${q.toFixed(joint.is_sliding ? 3 : 2)} ${joint.is_sliding ? "m" : "rad"}`;
}

function showOpening(input, isKnown) {
  input.nextElementSibling.textContent = isKnown ? `${Math.round(100 * Number(input.value))} %` : "–";
}

export class Hands {
  constructor(link) {
    this.link = link;
    this.down = new Set();
    this.chosen = new Set();
    this.openings = {};
    this.joints = null;
    this.measured = [];
    this.sliders = [];
    this.emits = this.state = "";
    this.isOperator = this.isStanding = false;
    this.last = performance.now();
    this.deadMan = new DeadMan(() => this.showHold(), () => !document.hasFocus());
    this.deadMan.attach($("hold"));
    this.pad = new Gamepad(this.deadMan);
    // drawing may stop in a page that nobody sees; then there is silence, and the robot brakes
    setInterval(() => this.step(), FRAME);
  }

  // Offer what the leader is moved by: handles in the picture and keys, or joint sliders.
  offer(state) {
    const leader = state.news?.leader ?? {};
    const hands = leader.hands ?? [];
    this.isOperator = state.control === "you";
    this.state = state.state;
    $("move").hidden = hands.length === 0;
    const key = JSON.stringify([hands, leader.emits, state.joints.map((one) => one.name)]);
    if (hands.length && key !== this.key) {
      this.key = key;
      this.emits = leader.emits;
      this.build(hands, state);
    }
    this.measured = state.joints;
    this.takeJoints();
    this.takeOpenings(state);
    if (!this.isOperator) {
      this.deadMan.release();
      this.down.clear();
    }
    this.showAllowed();
    const isSpent = this.deadMan.isHeld && !["ENGAGED", "ALIGNING", "WAITING"].includes(state.state);
    this.isStanding = isSpent; // keys would carry the handle away from a robot that stands
    $("hold").classList.toggle("spent", isSpent);
    if (!isSpent) return;
    const isStopped = state.state === "STOPPED";
    $("hold").firstChild.textContent = isStopped ? "stopped – let go, then Release " : "paused – let go, then hold again ";
  }

  // The link is gone.
  lose() {
    this.deadMan.release();
    this.isOperator = false;
    this.showAllowed();
  }

  build(hands, state) {
    this.chosen = new Set(hands.slice(0, 1)); // more of them are chosen, never got by accident
    fill($("limbs"), [...hands.map((limb) => this.makeChoice(limb)), make("p", "Ticked limbs move.", "quiet")]);
    $("limbs").hidden = hands.length < 2;
    const hasJog = this.emits !== "joints";
    fill($("jog"), hasJog ? Object.entries(MOVES).map(([key, [text, cap]]) => this.makeJog(key, text, cap)) : []);
    const grippers = state.grippers.filter((limb) => hands.includes(limb) && this.emits === "pose");
    fill($("openings"), grippers.map((limb) => this.makeOpening(limb, grippers.length)));
    this.sliders = hasJog ? [] : state.joints.map((one, i) => this.makeSlider(one, i));
    this.sliders = this.sliders.filter((one) => hands.includes(one.limb));
    fill($("sliders"), this.sliders.map((one) => one.label));
    this.showAllowed();
  }

  // A page without control moves nothing; a slider of a limb that is not to move would promise what it does not do.
  showAllowed() {
    $("hold").disabled = !this.isOperator;
    for (const one of $("move").querySelectorAll("#limbs input, #jog button, #openings input")) one.disabled = !this.isOperator;
    for (const { input, label, limb } of this.sliders) {
      input.disabled = !this.isOperator || !this.chosen.has(limb);
      label.classList.toggle("unticked", !this.chosen.has(limb));
    }
  }

  makeChoice(limb) {
    const label = make("label", ""), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = this.chosen.has(limb);
    box.onchange = () => {
      this.deadMan.release(); // what moves changes between presses alone
      if (box.checked) this.chosen.add(limb);
      else this.chosen.delete(limb);
      this.showAllowed();
    };
    label.append(box, ` ${limb}`);
    return label;
  }

  makeJog(key, text, cap) {
    const button = make("button", `${text} `);
    button.append(make("kbd", cap));
    button.dataset.key = key;
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      button.setPointerCapture(event.pointerId);
      this.down.add(key);
      if (!this.deadMan.isHeld) this.sayVain();
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      button.addEventListener(name, () => this.down.delete(key));
    }
    return button;
  }

  makeOpening(limb, n) {
    this.openings[limb] = null;
    const label = make("label", n > 1 ? `gripper of ${limb} ` : "gripper "), input = document.createElement("input");
    Object.assign(input, { type: "range", min: 0, max: 1, step: 0.01, value: 1 });
    input.setAttribute("aria-label", `gripper of ${limb}, 0 closed, 1 open`);
    const shown = make("output", "");
    input.oninput = () => {
      this.openings[limb] = Number(input.value);
      showOpening(input, true);
    };
    input.onpointerup = () => input.blur(); // or the next arrow key would move it, and not the robot
    input.dataset.limb = limb;
    if (n === 1) label.append(make("kbd", "["), make("kbd", "]"));
    label.append(input, shown);
    return label;
  }

  makeSlider(joint, i) {
    const label = make("label", ""), input = document.createElement("input"), shown = make("output", "");
    const min = joint.low ?? -Math.PI, max = joint.high ?? Math.PI;
    Object.assign(input, { type: "range", min, max, step: (max - min) / N_STEPS, value: joint.q ?? 0 });
    input.oninput = () => {
      if (this.joints) this.joints[i] = Number(input.value);
      shown.textContent = describe(Number(input.value), joint);
    };
    label.append(make("span", joint.name), input, shown);
    return { i, limb: joint.limb, label, input, shown, joint };
  }

  // While nothing is held the sliders stand where the robot is.
  takeJoints() {
    if (this.emits !== "joints" || this.deadMan.isHeld) return;
    this.joints = this.measured.map((one) => one.q ?? 0);
    for (const { i, input, shown, joint } of this.sliders) {
      input.value = this.joints[i];
      shown.textContent = describe(this.joints[i], joint);
    }
  }

  // A gripper's slider stands where the gripper is until somebody moves it; then it is a wish, until the
  // dead-man is let go of or the robot moves by itself. No wish leaves the gripper as it is.
  takeOpenings(state) {
    if (GOES_ITSELF.includes(state.state)) this.forgetOpenings();
    for (const input of $("openings").querySelectorAll("input")) {
      const { limb } = input.dataset, measured = state.openings[limb];
      if (this.openings[limb] === null && measured !== null) input.value = measured;
      showOpening(input, this.openings[limb] !== null || measured !== null);
    }
  }

  forgetOpenings() {
    for (const limb of Object.keys(this.openings)) this.openings[limb] = null;
  }

  // A key that moves: true when it is one of ours.
  press(key, isDown) {
    if (key === "m") {
      if (isDown && this.isOperator && !$("move").hidden) this.deadMan.hold();
      else if (isDown && !$("move").hidden) say("Take control first.");
      else if (!isDown) this.deadMan.release();
      return true;
    }
    if (!(key in KEYS)) return false;
    if (isDown) this.down.add(key);
    else this.down.delete(key);
    $("jog").querySelector(`[data-key="${CSS.escape(key)}"]`)?.classList.toggle("pressed", isDown && this.deadMan.isHeld);
    const isMoving = this.isOperator && !$("move").hidden && this.emits !== "joints";
    if (isDown && isMoving && !this.deadMan.isHeld) this.sayVain();
    return this.deadMan.isHeld;
  }

  sayVain() {
    if (this.state === "STOPPED") say("Stopped: release it first.");
    else if (GOES_ITSELF.includes(this.state)) say("The robot goes by itself: wait for it.");
    else say(VAIN);
  }

  readJog() {
    const jog = FREEDOMS.map(() => 0);
    for (const key of this.down) jog[KEYS[key][0]] += KEYS[key][1];
    this.readPad().forEach((value, i) => { jog[i] += value; });
    return jog.map((value) => Math.min(Math.max(value, -1), 1));
  }

  // The left stick is forward and left, the right one up and yaw; a shoulder button is the dead-man.
  readPad() {
    const [name, deflections] = this.pad.read(this.isOperator);
    $("pad").textContent = name && `Game controller: ${name}; hold L1 to move`;
    return deflections;
  }

  step() {
    const now = performance.now(), dt = Math.min(now - this.last, 100) / 1000;
    this.last = now;
    if (!this.isOperator || $("move").hidden) return;
    const jog = this.readJog().map((value) => (this.isStanding && this.deadMan.isHeld ? 0 : value));
    const limbs = {};
    for (const limb of this.chosen) {
      limbs[limb] = { jog, opening: this.stepOpening(limb, this.deadMan.isHeld ? jog[6] * GRIPPER * dt : 0) };
    }
    const joints = this.emits === "joints" ? this.joints ?? [] : [];
    const { isHeld, press } = this.deadMan;
    const hands = { type: "hands", t: now, held: isHeld, press, limbs, joints };
    this.link.sayHands(hands);
  }

  stepOpening(limb, by) {
    if (!(limb in this.openings)) return null;
    if (by) {
      const input = $("openings").querySelector(`[data-limb="${CSS.escape(limb)}"]`);
      input.value = Number(input.value) + by;
      this.openings[limb] = Number(input.value);
      showOpening(input, true);
    }
    return this.openings[limb];
  }

  showHold() {
    const { isHeld } = this.deadMan;
    $("hold").classList.toggle("held", isHeld);
    $("hold").firstChild.textContent = isHeld ? "moving – let go to hold " : "hold to move ";
    if (!isHeld) {
      for (const button of $("jog").querySelectorAll(".pressed")) button.classList.remove("pressed");
      this.down.clear();
      this.forgetOpenings();
    }
    this.takeJoints(); // another press begins where the robot is, however soon it comes
    this.step();
  }
}
