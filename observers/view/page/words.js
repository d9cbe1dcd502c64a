// Words for this screen: one that is touched has no keys, so that a button stands for each of them.

import { KEYS } from "./keys.js";

const coarse = window.matchMedia("(pointer: coarse)");
const DEAD_MAN = "m";
const escaped = [...KEYS.map((row) => row.cap), DEAD_MAN].map((cap) => cap.replace(/[.*+?^${}()|[\]\\#-]/g, "\\$&"));
const NAMED = new RegExp(` \\((?:${escaped.join("|")})\\)`, "g");
const PRESSED = new RegExp(`\\b([Pp])ress (${escaped.join("|")})(?![\\w-])`, "g");

export const isTouch = () => coarse.matches;

// "press p to change over" becomes "press Other posture to change over", "the button (m)" becomes "the button".
export function forScreen(text) {
  if (!isTouch()) return text;
  return text.replace(NAMED, "").replace(PRESSED, (_, p, cap) => `${p}ress ${nameButton(cap)}`);
}

function nameButton(cap) {
  const row = KEYS.find((one) => one.cap === cap);
  const button = row && document.querySelector(`[data-press="${row.name}"] span`);
  return button?.textContent || row?.label || "the button";
}
