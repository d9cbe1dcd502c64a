// The picture takes what all that driving needs leaves of a narrow screen; there its tools are in the legend.

const $ = (id) => document.getElementById(id);
const NARROW = matchMedia("(max-width: 760px), (max-width: 1000px) and (orientation: portrait)"); // as style.css has it
const PHONE = matchMedia("(max-width: 760px)");
const LEAST = 120; // [px] chosen: an arm is still recognised

function fit() {
  const picture = $("picture"), needed = document.querySelector('[data-buttons="episode"]');
  const stop = document.querySelector('[data-press="stop"]');
  if (!NARROW.matches || !stop) {
    picture.style.height = "";
    return;
  }
  const box = picture.getBoundingClientRect(), below = needed.getBoundingClientRect().bottom - box.bottom;
  const left = stop.getBoundingClientRect().top - (box.top + scrollY) - below - 6;
  picture.style.height = `${Math.max(LEAST, Math.floor(left))}px`;
}

function foldTools() {
  if (PHONE.matches) $("legend").append($("tools"));
  else $("legend").before($("tools"));
}

export function fitPage() {
  const watch = new ResizeObserver(fit);
  const parts = [document.querySelector("header"), $("stopped"), $("move"), document.querySelector('[data-buttons="episode"]')];
  for (const part of parts) watch.observe(part);
  window.addEventListener("resize", fit);
  PHONE.addEventListener("change", foldTools);
  foldTools();
}
