// The page of a session: what it does, and what one operator asks of it.

import { ACTIONS, FIELDS, answer, disableButtons, makeButtons, showButtons } from "./buttons.js";
import { showPicture, showPictureAges } from "./cameras.js";
import { fill, make } from "./elements.js";
import { keepStrips, onReport } from "./episodes.js";
import { fitPage } from "./fit.js";
import { Hands, VAIN, isOfSlider } from "./hands.js";
import { toggleHelp } from "./help.js";
import { makeName, takeToken } from "./link.js";
import { showObjects } from "./objects.js";
import { makePicture } from "./picture.js";
import { show, showLink } from "./shown.js";
import { prepareSpeech, toggleSpeech } from "./speech.js";
import { ThreadedLink } from "./threaded_link.js";
import { say } from "./toast.js";

const $ = (id) => document.getElementById(id);
const ANSWER = 1000; // [ms] until then a state may have been told before it heard of a choice
const token = takeToken();
const page = makeName();
const link = new ThreadedLink("/console", token, { page });
const hands = new Hands(link);
let control = "nobody", wantsControl = true, levelSaid = -ANSWER, vainDrags = null;

function press(action) {
  if (action === "stop") hands.deadMan.release();
  link.say({ type: "press", action });
  answer(action);
}

makeButtons(press);
fitPage();
prepareSpeech();
$("control").onclick = () => link.say({ type: "control", wanted: control !== "you" });
$("task-form").onsubmit = (event) => {
  event.preventDefault();
  link.say({ type: "task", text: $("task").value });
  $("task").blur();
};
$("note-form").onsubmit = (event) => {
  event.preventDefault();
  const text = $("note").value.trim();
  if (text) link.say({ type: "note", text });
  $("note").value = "";
  $("note").blur();
};

// In a field only Escape and the field's own keys count; everywhere else Space is STOP.
function isTyping(target) {
  return target?.tagName === "INPUT" && target.type !== "range" && target.type !== "checkbox";
}

// Who types holds nothing: a key that is let go of in a field would be missed.
document.addEventListener("focusin", ({ target }) => {
  if (isTyping(target)) hands.deadMan.release();
});

function onKey(event, isDown) {
  const { key, target } = event;
  if (isTyping(target)) {
    if (key === "Escape") target.blur();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (key === "?" || (key === "Escape" && $("keys").open)) {
    take(event);
    if (isDown) toggleHelp();
    return;
  }
  if (key === "v") {
    take(event);
    if (isDown && !event.repeat) toggleSpeech();
    return;
  }
  if (isDown && isOfSlider(key, target)) return;
  if (hands.press(key, isDown)) {
    take(event);
    return;
  }
  const isOnButton = key === "Enter" && target?.tagName === "BUTTON";
  if (key === " " || (key in ACTIONS && !isOnButton)) {
    take(event); // Space is never a click on what has the focus
    if (isDown && !event.repeat) press(ACTIONS[key]);
  } else if (key in FIELDS && isDown) {
    event.preventDefault();
    $(FIELDS[key]).focus();
  }
}

// A key that moves the robot turns no picture; of what was let go the picture hears.
function take(event) {
  event.preventDefault();
  if (event.type === "keydown") event.stopPropagation();
}

function listenTo(place) {
  place.addEventListener("keydown", (event) => onKey(event, true), true);
  place.addEventListener("keyup", (event) => onKey(event, false), true);
}

// Keys that are pressed in the picture reach us, since it is on our port.
function openPicture() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const frame = makePicture(`${scheme}://${location.host}/scene/${token}?${page}`);
  frame.onload = () => {
    listenTo(frame.contentWindow);
    hands.deadMan.watch(frame.contentWindow);
  };
  $("no-picture").replaceWith(frame);
  $("reset-view").disabled = false;
  $("reset-view").onclick = () => { frame.src = `${frame.src}`; };
}

$("help").onclick = toggleHelp;
$("full-screen").hidden = !document.documentElement.requestFullscreen;
$("full-screen").onclick = () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen();
};

// A handle that is dragged without the dead-man moves nothing.
function showVainDrags(state) {
  const isNew = vainDrags !== null && state.vain_drags > vainDrags;
  if (isNew && control === "you") say(VAIN);
  vainDrags = state.vain_drags;
}

// A limb that is led from elsewhere has a clutch here; those moved at the page are ticked in their place.
function showClutches(state) {
  const { led = [], hands: own = [] } = state.news?.leader ?? {};
  const limbs = led.filter((limb) => !own.includes(limb));
  if ($("clutches").dataset.key !== limbs.join()) {
    $("clutches").dataset.key = limbs.join();
    fill($("clutches"), limbs.map((limb) => {
      const button = make("button", "");
      button.onclick = () => link.say({ type: "clutch", limb, held: button.ariaPressed !== "true" });
      return button;
    }));
  }
  limbs.forEach((limb, i) => {
    const button = $("clutches").children[i], isHeld = (state.held_limbs ?? []).includes(limb);
    button.ariaPressed = String(isHeld);
    button.textContent = isHeld ? `${limb} is held: let it follow` : `hold ${limb}`;
    button.disabled = control !== "you";
  });
}

function showLevel(state) {
  $("levels").hidden = !state.has_levels;
  $("level").disabled = $("cues").disabled = control !== "you";
  if (document.activeElement === $("level") || performance.now() < levelSaid + ANSWER) return;
  $("level").value = String(state.level ?? "");
}

for (const id of ["level", "cues"]) {
  $(id).onchange = () => {
    levelSaid = performance.now();
    if ($("level").value) link.say({ type: "level", level: Number($("level").value), cues: $("cues").checked });
  };
}

function showControl(state) {
  control = state.control;
  $("control").textContent = control === "you" ? "Give back control" : "Take control";
  document.body.dataset.control = control;
  showButtons(state);
  for (const form of [$("task-form"), $("note-form")]) {
    for (const element of form.elements) element.disabled = control !== "you";
  }
  $("control").title = control === "another" ? "another page operates" : "";
  showClutches(state);
  showLevel(state);
  showObjects(state, control === "you", (name, xyz) => link.say({ type: "place", name, xyz }));
}

link.onMessage = (message) => {
  if (message.type === "state" && message.word) {
    if (wantsControl && message.control === "nobody") link.say({ type: "control", wanted: true });
    wantsControl = false; // the first page that opens operates; everybody else asks
    showControl(message);
    showVainDrags(message);
    show(message);
    showPictureAges();
    hands.offer(message);
  } else if (message.type === "welcome") {
    if (!message.scene) $("no-picture").textContent = "There is no 3-D picture (observers.view.scene, viser).";
    else if (!$("picture").querySelector("iframe")) openPicture();
  } else if (message.type === "picture") {
    showPicture(message);
  } else if (message.type === "strips") {
    keepStrips(message);
  } else if (message.type === "refused") {
    say(`Refused: ${message.why}.`);
  }
};
link.onChange = (isOpen, why) => {
  if (!isOpen) {
    hands.lose();
    disableButtons();
  }
  if (isOpen) wantsControl = control === "you" || wantsControl;
  showLink(isOpen, why);
  document.body.dataset.link = isOpen ? "open" : "gone";
  const frame = $("picture").querySelector("iframe"); // it looks for the scene, or no more
  frame?.contentWindow.dispatchEvent(new Event(isOpen ? "focus" : "blur"));
};
onReport((episode) => link.say({ type: "report", episode }));
listenTo(window);
link.connect();
