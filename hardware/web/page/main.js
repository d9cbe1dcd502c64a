// The page: what the operator does goes out with every frame, what the robot meets comes back.

import { DeadMan } from "./deadman.js";
import { Link, makeName, takeToken } from "./link.js";
import { Panel } from "./panel.js";
import { Picture } from "./picture.js";
import { read, show, showLink, showRefusal } from "./shown.js";
import { TouchSource } from "./touch.js";
import { XrSource } from "./xr.js";

const $ = (id) => document.getElementById(id);
const ANSWERED = 400; // [ms] long enough to be seen
const counts = { stop: 0, next_episode: 0, discard: 0 };
let kind = "phone", limbs = ["hand"], mode = "all";
let source = null, battery = null, picture = null;
let opening = null; // of the gripper, once somebody moved its slider; null leaves it as it is
const GOES_ITSELF = ["INIT", "HOMING", "RESETTING", "CLOSING", "STOPPED"]; // nobody moves it by hand
let last = { t: 0, poses: makeNowhere() };

const deadMan = new DeadMan(() => {
  $("hold").classList.toggle("held", deadMan.isHeld);
  $("hold").textContent = deadMan.isHeld ? "moving" : "hold to move";
  send(true);
});
const device = navigator.userAgent.slice(0, 300);
const link = new Link("/leader", takeToken(), { page: makeName(), device });

// What is sent before there is a pose, so that a Stop never waits for one.
function makeNowhere() {
  const nowhere = { p: [0, 0, 0], q: [0, 0, 0, 1], tracked: false, held: false, press: 0 };
  return Object.fromEntries(limbs.map((name) => [name, { ...nowhere }]));
}

// A release leaves at once, with the pose of the last frame and its time.
function send(mustLeave = false) {
  const made = {};
  for (const name of limbs) made[name] = makeHand(last.poses[name]);
  const scale = Number($("scale").value);
  link.sayNewest({ type: "sample", t: last.t, limbs: made, scale, mode, actions: addCounts(), battery }, mustLeave);
}

function makeHand(pose) {
  const { p = [0, 0, 0], q = [0, 0, 0, 1], tracked } = pose;
  if (kind === "headset") {
    const { held, press, gap = null } = pose;
    return { p, q, tracked: tracked && !document.hidden, held, press, opening: pose.opening ?? null, gap };
  }
  return { p, q, tracked, held: deadMan.isHeld, press: deadMan.press, opening };
}

function addCounts() {
  const sum = { ...counts };
  for (const input of source?.inputs?.values() ?? []) {
    sum.stop += input.counts.stop;
    sum.next_episode += input.counts.next_episode;
  }
  return sum;
}

function onFrame(t, poses) {
  for (const name of limbs) poses[name] = { ...last.poses[name], ...poses[name] };
  last = { t, poses };
  const isTracked = limbs.every((name) => poses[name].tracked);
  if (!isTracked) deadMan.release();
  $("tracking").textContent = isTracked ? "tracking" : "no tracking";
  $("tracking").classList.toggle("lost", !isTracked);
  send();
}

function onEnd() {
  deadMan.release();
  onFrame(performance.now(), makeNowhere());
  source = null;
  prepare();
}

async function prepare() {
  const found = await XrSource.findMode(kind);
  $("enter").disabled = !found;
  const word = kind === "phone" ? "Start AR" : "Start";
  $("enter").textContent = found ? word : "No AR in this browser";
  $("touch").hidden = kind !== "phone";
  document.body.dataset.kind = kind;
  $("begin").hidden = source !== null;
}

$("enter").onclick = async () => {
  const made = new XrSource(kind, limbs, onFrame, onEnd);
  made.onHidden = () => deadMan.release();
  made.picture = picture;
  made.panel = kind === "headset" ? new Panel(read) : null;
  try {
    await made.start(await XrSource.findMode(kind), $("overlay"), $("canvas"));
  } catch (error) {
    showRefusal(error.message);
    return;
  }
  showRefusal("");
  source = made;
  $("begin").hidden = true;
  holdByScreen(made);
  navigator.wakeLock?.request("screen").catch(() => {});
};

// Without an overlay the page is not seen in AR: then a finger on the screen is the dead-man.
function holdByScreen(made) {
  if (made.hasOverlay || kind !== "phone") {
    $("overlay").addEventListener("beforexrselect", (event) => event.preventDefault());
    return;
  }
  made.session.addEventListener("selectstart", () => deadMan.hold());
  made.session.addEventListener("selectend", () => deadMan.release());
}

$("touch").onclick = async () => {
  source = new TouchSource(limbs[0], onFrame);
  $("pads").hidden = false;
  $("begin").hidden = true;
  await source.start($("plane"), $("height"));
};

deadMan.attach($("hold"));
$("scale").oninput = () => { $("scale-shown").textContent = Number($("scale").value).toFixed(1); };
$("gripper").oninput = () => { opening = Number($("gripper").value); };
const showOpening = () => { $("gripper-shown").textContent = opening === null ? "–" : `${Math.round(100 * opening)} %`; };
$("gripper").addEventListener("input", showOpening);
$("forward").onclick = () => source?.face();
for (const button of document.querySelectorAll("#modes button")) {
  button.onclick = () => {
    mode = button.dataset.mode;
    for (const other of document.querySelectorAll("#modes button")) {
      other.classList.toggle("chosen", other === button);
    }
  };
}
function press(button, name) {
  counts[name] += 1;
  if (name === "stop") deadMan.release();
  send(true);
  button.classList.add("answered");
  setTimeout(() => button.classList.remove("answered"), ANSWERED);
}

// A press counts at once; a click without a pointer is a key's or a screen reader's.
for (const [id, name] of [["stop", "stop"], ["next", "next_episode"], ["discard", "discard"]]) {
  $(id).addEventListener("pointerdown", ({ currentTarget }) => { if (!currentTarget.disabled) press(currentTarget, name); });
  $(id).addEventListener("click", (event) => { if (event.detail === 0) press(event.currentTarget, name); });
}

link.onMessage = (message) => {
  if (message.type === "welcome") {
    ({ kind, limbs } = message);
    if (message.pictures) picture ??= new Picture(link.token, (late) => { $("sight").textContent = late; });
    if (!limbs.every((name) => name in last.poses)) last.poses = makeNowhere();
    send(true);
    prepare();
  } else if (message.type === "status") {
    if (GOES_ITSELF.includes(message.state)) opening = null;
    showOpening();
    show(message, source, deadMan.isHeld);
  }
};
link.onChange = (isOpen, why) => {
  if (!isOpen) deadMan.release();
  showLink(isOpen, why);
};
navigator.getBattery?.().then((cell) => {
  const note = () => {
    battery = cell.level;
    $("battery").textContent = `${Math.round(100 * cell.level)} %`;
  };
  cell.addEventListener("levelchange", note);
  note();
});
link.connect();
