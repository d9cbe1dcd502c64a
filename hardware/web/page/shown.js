// What the page shows and lets feel of the session.

const $ = (id) => document.getElementById(id);
const FELT = 0.05;
const HOLD = 3; // [s] that a pinch of all hands takes to end the episode
const PERIOD = 50; // [ms] between two messages: a pulse is a share of it
const VAIN = ["INIT", "STOPPED", "CLOSING"]; // there no episode ends, as at the operator's page
const WORDS = { // as the operator's page has them
  INIT: ["Starting", "off", "The session starts."],
  HOMING: ["Going home", "moving", "The robot goes home. Keep clear."],
  WAITING: ["Ready", "ready", "Hold the button to begin."],
  ALIGNING: ["Aligning", "moving", "The robot comes to where you are."],
  ENGAGED: ["Driving", "driving", "The robot moves with you."],
  CLUTCHED: ["Paused", "paused", "The robot holds. Let go, then hold again to go on."],
  RESETTING: ["Going home", "moving", "The robot goes home. Keep clear."],
  STOPPED: ["Stopped", "stopped", "Stopped. It is cleared at the robot's computer."],
  CLOSING: ["Ending", "off", "The session ends."],
};
let wasFelt = false;
let refusal = ""; // why the browser did not start AR; stays until it starts

export function showRefusal(why) {
  refusal = why && `AR did not start: ${why}. Allow it for this site in the browser, then start again.`;
  if (refusal) $("advice").textContent = refusal;
}

// What the page shows, for a panel in a headset.
export function read() {
  const rec = $("rec").hidden ? [] : [$("rec").textContent];
  const facts = [...rec, $("tracking").textContent, `link ${$("link").textContent}`].join(" · ");
  return { state: $("state").textContent, kind: $("state").dataset.kind, advice: $("advice").textContent, facts };
}

export function show(status, source, isHeld) {
  // beside other leaders the session may go on while this hand's limb holds
  const state = status.state === "ENGAGED" && !status.drives ? "CLUTCHED" : status.state;
  const [word, kind, whatToDo] = state === "ENGAGED" && status.standing
    ? ["Held", "paused", `The robot does not move: ${status.standing}. Let go, or move back.`]
    : WORDS[state] ?? [state, "off", ""];
  const advice = state === "WAITING" && isHeld ? "Let go, then hold again to begin." : whatToDo;
  $("state").textContent = word;
  $("state").dataset.kind = kind;
  $("rec").hidden = !status.recorded;
  $("next").textContent = state === "WAITING" ? "Go home" : "End";
  $("next").disabled = $("discard").disabled = VAIN.includes(state);
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
  document.body.dataset.link = isOpen ? "open" : "gone";
  if (isOpen) return;
  pulse(0, null);
  $("rec").hidden = true;
  $("next").disabled = $("discard").disabled = true; // a STOP is never disabled; the advice says where it goes
  $("state").textContent = "no link";
  $("state").dataset.kind = "off";
  $("link").textContent = "–";
  $("advice").textContent = why
    ? `No link: ${why}. Open the address that the session shows now.`
    : "The link is gone; trying again … STOP reaches nobody from here: use the robot's emergency stop.";
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
