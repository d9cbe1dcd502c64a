// Short answers that fade.

import { forScreen } from "./words.js";

const SHOWN = 2500; // [ms] of a short answer
let timer = 0;

export function say(text) {
  const toast = document.getElementById("toast");
  toast.textContent = forScreen(text);
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { toast.hidden = true; }, SHOWN);
}
