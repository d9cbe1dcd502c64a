// The viewer: a list of recordings, one of them played with its robot, cameras and plots.

import { Charts } from "./charts.js";
import { fill, make } from "./elements.js";
import { takeToken } from "./link.js";
import { List } from "./list.js";
import { takePlace } from "./place.js";
import { Player } from "./player.js";
import { Server } from "./server.js";
import { Views } from "./views.js";

const $ = (id) => document.getElementById(id);
const SPEEDS = [...$("speed").options].map((option) => option.value);
const KEYS = [
  ["Space", "play or pause"], ["← →", "5 s back or on"], [", .", "a picture back or on"], ["Home End", "begin or end"],
  ["- +", "slower or faster"], ["p n", "the episode before or after"], ["/", "find an episode"], ["?", "this list"],
];
const STEP = 5, PICTURE = 1 / 30; // [s] of the arrows, and of a picture

const place = takePlace(), token = takeToken();
const server = new Server(token);
const views = new Views(server, token);
const charts = new Charts(server, (t) => player.seek(t));
const player = new Player((t, isPlaying) => {
  views.show(t, isPlaying);
  charts.show(t);
  $("play").textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
  $("time").textContent = `${t.toFixed(1)} of ${player.length.toFixed(1)} s`;
  if (document.activeElement !== $("seek") || isPlaying) $("seek").value = t;
});
const list = new List(server, open);
let opened = 0;

async function open(k) {
  const number = ++opened;
  player.load(0);
  list.mark(k);
  $("title").textContent = list.entries[k].name;
  showReport(k);
  $("about").textContent = "is read …";
  let film = await server.ask("open", { film: k });
  while (number === opened && film.share !== undefined) {
    $("about").textContent = `is read: ${Math.round(100 * film.share)} %`;
    film = await server.ask("open", { film: k });
  }
  if (number !== opened) return; // another one was chosen meanwhile
  const isBroken = Boolean(film.error);
  $("about").textContent = isBroken ? film.error : describe(list.entries[k], film);
  for (const id of ["play", "seek"]) $(id).disabled = isBroken;
  $("seek").max = film.length || 1;
  const shown = isBroken ? { cameras: [], signals: [], marks: [], notes: [], length: 0 } : film;
  await views.open(k, shown);
  charts.open(k, shown);
  showMarks(shown);
  $("told").hidden = !shown.notes.length;
  fill($("notes"), shown.notes.map((text) => make("li", text)));
  $("empty").hidden = isBroken || shown.scene || shown.cameras.length > 0;
  $("empty").textContent = shown.robot
    ? "No picture: the 3-D picture needs viser, pip install 'paprle[page]'."
    : "It has no cameras; its signals are plotted.";
  if (!isBroken) player.load(film.length);
  if (!isBroken && list.begin) player.seek(list.begin);
  list.begin = 0; // of this opening alone
  list.drawStills();
}

function showReport(k) {
  const report = list.reports.find((one) => one.film === k);
  $("report").hidden = !report;
  if (report) $("report").href = server.address("report", { name: report.name });
}

function describe(entry, film) {
  const parts = [`${film.length.toFixed(1)} s`, entry.task, entry.outcome];
  return parts.filter(Boolean).join(" · ");
}

function showMarks(film) {
  $("moments").hidden = !film.marks.length;
  fill($("marks"), film.marks.map((mark) => {
    const row = make("li", ""), button = make("button", `${mark.t.toFixed(1)} s`, "link");
    button.onclick = () => player.seek(mark.t);
    row.append(button, ` ${mark.text}`);
    row.dataset.kind = mark.kind;
    return row;
  }));
  fill($("ticks"), film.marks.map((mark) => {
    const tick = make("i", "");
    tick.dataset.kind = mark.kind;
    tick.title = `${mark.t.toFixed(1)} s: ${mark.text}`;
    tick.style.left = `${(100 * mark.t) / Math.max(film.length, 1e-3)}%`;
    return tick;
  }));
}

function changeSpeed(by) {
  const k = SPEEDS.indexOf($("speed").value) + by;
  if (k >= 0 && k < SPEEDS.length) {
    $("speed").value = SPEEDS[k];
    player.setSpeed(Number(SPEEDS[k]));
  }
}

function toggleHelp() {
  if ($("keys").open) $("keys").close();
  else $("keys").show();
}

const ACTS = {
  " ": () => player.toggle(),
  ArrowLeft: () => player.seek(player.t - STEP),
  ArrowRight: () => player.seek(player.t + STEP),
  ",": () => player.step(-PICTURE),
  ".": () => player.step(PICTURE),
  Home: () => player.seek(0),
  End: () => player.seek(player.length),
  "-": () => changeSpeed(-1),
  "+": () => changeSpeed(1),
  "=": () => changeSpeed(1),
  p: () => list.move(-1),
  n: () => list.move(1),
  "/": () => $("find").focus(),
  "?": toggleHelp,
};

function onKey(event) {
  const { key, target } = event;
  const isField = ["search", "text"].includes(target?.type) || target?.tagName === "SELECT";
  if (isField && key === "Escape") target.blur();
  if (key === "Escape" && $("keys").open) $("keys").close();
  if (isField || event.ctrlKey || event.altKey || event.metaKey || !(key in ACTS)) return;
  if (key === " " && ["BUTTON", "SUMMARY"].includes(target?.tagName)) return; // its own click does it
  if (key === " " && target?.type === "checkbox") return;
  event.preventDefault();
  ACTS[key]();
}

fill($("key-list"), KEYS.flatMap(([caps, text]) => {
  const name = make("dt", "");
  name.append(...caps.split(" ").map((cap) => make("kbd", cap)));
  return [name, make("dd", text)];
}));
document.addEventListener("keydown", onKey);
views.onKey = onKey;
$("help").onclick = toggleHelp;
$("play").onclick = () => player.toggle();
$("seek").oninput = () => player.seek(Number($("seek").value));
$("seek").onchange = () => $("seek").blur();
$("speed").onchange = () => player.setSpeed(Number($("speed").value));
$("show-list").onclick = () => {
  const isShown = $("recordings").hidden;
  $("recordings").hidden = !isShown;
  $("show-list").setAttribute("aria-expanded", String(isShown));
};
server.onLost = (text) => { $("about").textContent = text; };
addEventListener("hashchange", () => {
  const there = takePlace();
  takeToken();
  if (there && list.entries[there.film]) list.go(there);
});
list.load(place);
