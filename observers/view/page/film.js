// A recorded episode: the time line, and what was asked of each joint beside what it did.

import { make } from "./elements.js";

const $ = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg", WIDTH = 360, HEIGHT = 64, STEP = 5; // [s] by an arrow key
let film = null, link = null, now = { t: 0, playing: true, speed: 1 }, isDragged = false;
const cursors = [];

export function openFilm(told, withLink) {
  link = withLink;
  if (film) return; // the same page, after a pause of the link
  film = told;
  document.body.dataset.mode = "film";
  document.title = `PAPRLE · ${film.name}`;
  $("film").hidden = $("plots").hidden = false;
  $("seek").max = film.length;
  $("play").onclick = () => ask({ playing: !now.playing });
  $("speed").onchange = () => ask({ speed: Number($("speed").value) });
  $("seek").oninput = () => {
    isDragged = true;
    ask({ t: Number($("seek").value) });
  };
  $("seek").onchange = () => { isDragged = false; };
  $("plots").append(...film.curves.map(makePlot));
}

function ask(changed) {
  const { playing, speed } = { ...now, ...changed };
  link.say({ type: "play", playing, speed, t: changed.t ?? null });
}

// Space plays and stands still, the arrows go back and forth.
export function pressFilm(key, target) {
  if (!film) return false;
  if (key === " ") ask({ playing: !now.playing });
  else if (target?.type !== "range" && (key === "ArrowLeft" || key === "ArrowRight")) {
    ask({ t: Math.min(Math.max(now.t + (key === "ArrowLeft" ? -STEP : STEP), 0), film.length) });
  } else return false;
  return true;
}

export function showFilm(state) {
  now = state.film;
  $("word").textContent = "Recording";
  $("does").textContent = `${film.name}: ${state.word.toLowerCase()}`;
  $("next").textContent = now.missing.length ? `No picture of ${now.missing.join(", ")} at this time.` : "";
  $("play").textContent = now.playing ? "❚❚ Pause" : "▶ Play";
  if (!isDragged) $("seek").value = now.t;
  $("time").textContent = `${now.t.toFixed(1)} of ${film.length.toFixed(1)} s`;
  const x = (WIDTH * now.t) / Math.max(film.length, 1e-3);
  for (const cursor of cursors) cursor.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
}

function makePlot(curve) {
  const figure = document.createElement("figure"), svg = document.createElementNS(NS, "svg");
  const values = [...curve.asked, ...curve.measured].map((pair) => pair[1]);
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const size = Math.max(high - low, 1e-3);
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${curve.name}: requested, and measured`);
  for (const kind of ["asked", "measured"]) {
    const line = document.createElementNS(NS, "polyline");
    line.setAttribute("class", kind);
    line.setAttribute("points", curve[kind].map(([t, v]) =>
      `${((WIDTH * t) / Math.max(film.length, 1e-3)).toFixed(1)},${(HEIGHT - 3 - ((HEIGHT - 6) * (v - low)) / size).toFixed(1)}`,
    ).join(" "));
    svg.append(line);
  }
  const cursor = document.createElementNS(NS, "line");
  cursor.setAttribute("y2", HEIGHT);
  svg.append(cursor);
  cursors.push(cursor);
  const range = values.length ? `${low.toFixed(2)} … ${high.toFixed(2)}` : "not recorded";
  figure.append(make("figcaption", `${curve.name} · ${range}`), svg);
  return figure;
}
