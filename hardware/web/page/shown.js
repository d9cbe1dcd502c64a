// What the page shows and lets feel of the session.

const $ = (id) => document.getElementById(id);
const FELT = 0.05;
const HOLD = 3; // [s] that a pinch of all hands takes to end the episode
const PERIOD = 50; // [ms] between two messages: a pulse is a share of it
const WORDS = {
  INIT: ["starting", "off", "The session starts."],
  HOMING: ["homing", "paused", "The robot goes home."],
  WAITING: ["ready", "paused", "Hold the button to begin."],
  ALIGNING: ["aligning", "paused", "The robot comes to where you are."],
  ENGAGED: ["driving", "driving", "The robot moves with you."],
  CLUTCHED: ["paused", "paused", "The robot holds. Let go, then hold again to go on."],
  RESETTING: ["resetting", "paused", "The robot goes home."],
  STOPPED: ["stopped", "stopped", "Stopped. It is cleared at the robot's computer."],
  CLOSING: ["ending", "off", "The session ends."],
};
let wasFelt = false;
let refusal = ""; // why the browser did not start AR; stays until it starts

export function showRefusal(why) {
  refusal = why && `AR did not start: ${why}. Allow it for this site in the browser, then start again.`;
  if (refusal) $("advice").textContent = refusal;
}

// What the page shows, for a panel in a headset.
export function read() {
  const facts = [$("tracking").textContent, `link ${$("link").textContent}`].join(" · ");
  return { state: $("state").textContent, kind: $("state").dataset.kind, advice: $("advice").textContent, facts };
}

export function show(status, source, isHeld) {
  // beside other leaders the session may go on while this hand's limb holds
  const state = status.state === "ENGAGED" && !status.drives ? "CLUTCHED" : status.state;
  const [word, kind, whatToDo] = state === "ENGAGED" && status.standing
    ? ["held", "paused", `The robot does not move: ${status.standing}. Let go, or move back.`]
    : WORDS[state] ?? [state, "off", ""];
  const advice = state === "WAITING" && isHeld ? "Let go, then hold again to begin." : whatToDo;
  $("state").textContent = word;
  $("state").dataset.kind = kind;
  const start = kind === "off" ? advice : "Start AR, then hold the button.";
  $("advice").textContent = source === null ? refusal || start : advice;
  if (status.ending > 0) {
    const left = Math.ceil(HOLD * (1 - status.ending));
    $("advice").textContent = left > 0 ? `Keep pinching: the episode ends in ${left} s.` : "The episode ends.";
  }
  for (const name of ["contact", "limit", "clearance"]) $(name).value = status[name];
  $("link").textContent = status.round_trip === null ? "–" : `${Math.round(status.round_trip)} ms`;
  pulse(status.drives ? status.rumble : 0, source);
}

export function showLink(isOpen, why) {
  if (isOpen) return;
  pulse(0, null);
  $("state").textContent = "no link";
  $("state").dataset.kind = "off";
  $("link").textContent = "–";
  $("advice").textContent = why
    ? `No link: ${why}. Open the address that the session shows now.`
    : "The link is gone; trying again …";
}

// A phone's motor is on or off: how long it is on of each period is how strong it feels.
function pulse(strength, source) {
  const isFelt = strength > FELT;
  if (isFelt) {
    navigator.vibrate?.(Math.max(Math.round(strength * PERIOD), 10));
    source?.pulse?.(strength);
  } else if (wasFelt) {
    navigator.vibrate?.(0);
  }
  wasFelt = isFelt;
}
