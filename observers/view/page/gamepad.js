// A game controller of the browser. Its dead-man, L1, counts once it was seen released, and an
// axis, trigger or button once it was seen at rest: also after it was unplugged.

const DEAD_ZONE = 0.15; // of a stick: worn ones rest within it
const L1 = 4;
const AXES = [1, 0, 3, 2]; // forward, left, up, yaw: each the other way round
const PAIRS = [[15, 14], [12, 13], [6, 7]]; // roll, pitch, gripper: plus and minus

export class Gamepad {
  constructor(deadMan) {
    this.deadMan = deadMan;
    this.forget();
  }

  forget() {
    this.id = null;
    this.isHeld = false;
    this.wasReleased = false;
    this.rested = new Set();
  }

  // Return the controller's name, empty without one, and its deflections of a limb.
  read(isOperator) {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((one) => one?.mapping === "standard");
    const id = pad ? `${pad.index} ${pad.id}` : null;
    if (id !== this.id) {
      if (this.isHeld) this.deadMan.release();
      this.forget();
      this.id = id;
    }
    if (!pad) return ["", []];
    this.press(pad.buttons[L1]?.pressed ?? false, isOperator);
    const [forward, left, up, yaw] = AXES.map((i) => -this.take(`axis ${i}`, pad.axes[i] ?? 0));
    const [roll, pitch, gripper] = PAIRS.map((pair) => {
      const [plus, minus] = pair.map((i) => this.take(`button ${i}`, pad.buttons[i]?.value ?? 0));
      return plus - minus;
    });
    return [pad.id, [forward, left, up, roll, pitch, yaw, gripper]];
  }

  press(isDown, isOperator) {
    this.wasReleased ||= !isDown;
    const isHeld = isDown && this.wasReleased;
    if (isHeld === this.isHeld) return;
    if (isHeld && isOperator) this.deadMan.hold();
    else this.deadMan.release();
    this.isHeld = isHeld;
  }

  take(name, value) {
    const isAtRest = Math.abs(value) <= DEAD_ZONE;
    if (isAtRest) this.rested.add(name);
    return isAtRest || !this.rested.has(name) ? 0 : value;
  }
}
