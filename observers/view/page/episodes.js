// What was recorded: each episode with its notes, a strip of its pictures, and its report.

import { make } from "./elements.js";

const strips = new Map();
let askFor = () => {};

export function onReport(ask) {
  askFor = ask;
}

export function keepStrips(message) {
  strips.set(message.episode, message.strips);
}

// The list is made anew only where it says something else: whoever reads it is left in peace.
export function showEpisodes(episodes, state) {
  const list = document.getElementById("episodes");
  const key = JSON.stringify([episodes, state.reports, state.control, strips.size]);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const rows = episodes.slice().reverse().map((one) => makeRow(one, state));
  list.replaceChildren(...(rows.length ? rows : [make("li", "none yet", "quiet")]));
}

function makeRow(one, state) {
  const name = one.path.split("/").pop().replace(/\.[^.]*$/, "");
  const length = one.seconds === undefined ? "?" : one.seconds.toFixed(1);
  const words = [name, one.mark, `${length} s`, ...(one.task ? [one.task] : [])].join(" · ");
  const row = make("li", words, one.mark === "discarded" ? "quiet" : "");
  for (const strip of strips.get(name) ?? []) {
    const image = document.createElement("img");
    image.className = "strip";
    image.src = `data:image/jpeg;base64,${strip.jpeg}`;
    image.alt = image.title = `camera ${strip.camera} at ${strip.seconds.join(", ")} s`;
    row.append(image);
  }
  for (const note of one.notes ?? []) row.append(make("p", `“${note}”`, "note"));
  row.append(" ", makeReport(name, state));
  return row;
}

function makeReport(name, state) {
  const report = state.reports?.[name] ?? {};
  if (report.address) {
    const link = make("a", "open its report", "link");
    Object.assign(link, { href: report.address, target: "_blank", rel: "noopener" });
    return link;
  }
  if (report.state === "being made …") return make("span", "its report is being made …", "quiet");
  const button = make("button", report.state ? `report (${report.state}); try again` : "report", "link");
  button.setAttribute("aria-label", `report of ${name}`);
  button.disabled = state.control !== "you";
  button.onclick = () => askFor(name);
  return button;
}
