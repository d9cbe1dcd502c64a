// Buttons of the operator's actions, made of the table that is served with the page (paprle/contracts/operator/actions.py).

import { make } from "./elements.js";
import { KEYS } from "./keys.js";

const ANSWERED = 400; // [ms] long enough to be seen
const SHORTCUTS = { "+": "Plus" }; // spec: ARIA, aria-keyshortcuts
const find = (name) => document.querySelector(`[data-press="${name}"]`);

export const ACTIONS = Object.fromEntries(KEYS.filter((row) => row.place !== "field").map((row) => [row.key, row.name]));
export const FIELDS = Object.fromEntries(KEYS.filter((row) => row.place === "field").map((row) => [row.key, row.name]));

export function makeButtons(press) {
  for (const row of KEYS) {
    if (row.place === "field") document.querySelector(`label[for="${row.name}"]`).append(" ", make("kbd", row.cap));
    else document.querySelector(`[data-buttons="${row.place}"]`).append(makeButton(row, press));
  }
}

// A pressed button answers at once; what came of it, the state says.
export function answer(name) {
  const button = find(name);
  if (!button) return;
  button.classList.add("answered");
  setTimeout(() => button.classList.remove("answered"), ANSWERED);
}

function makeButton(row, press) {
  const button = make("button", ""), isStop = row.name === "stop";
  button.dataset.press = row.name;
  button.title = row.tip;
  button.setAttribute("aria-keyshortcuts", SHORTCUTS[row.key] ?? row.cap);
  button.append(make("span", row.label), " ", make("kbd", row.cap));
  // a Stop does not wait for the finger to leave; a click without one is a key's or a screen reader's
  if (isStop) button.addEventListener("pointerdown", () => press(row.name));
  button.addEventListener("click", (event) => {
    if (!isStop || event.detail === 0) press(row.name);
  });
  return button;
}

export function showButtons(state) {
  const { seconds, episodes, is_far: isFar } = state.news ?? {};
  const hasEpisode = isFar || (seconds ?? null) !== null || (episodes ?? []).length > 0;
  for (const row of KEYS) {
    const button = find(row.name);
    if (!button || row.name === "stop") continue;
    const isHere = row.name !== "clear" || state.may_clear;
    const isVain = state.state === "STOPPED" && row.is_vain_stopped;
    const isMissed = row.needs_episode && !hasEpisode; // there is none to mark or to take back
    button.disabled = state.control !== "you" || !isHere || isVain || isMissed;
  }
}

// Without a link no press arrives; a STOP stays, and the page says whom it does not reach.
export function disableButtons() {
  for (const button of document.querySelectorAll('[data-press]:not([data-press="stop"])')) button.disabled = true;
}

export function showLabel(name, text) {
  find(name).querySelector("span").textContent = text;
}

export function showButton(name, isShown) {
  find(name).hidden = !isShown;
}
