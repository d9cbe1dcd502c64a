// The list of recordings, with a picture of each.

import { fill, make } from "./elements.js";

const $ = (id) => document.getElementById(id);
const MARKS = { success: "good", kept: "good", failure: "bad", discarded: "quiet", good: "good", fair: "warn", bad: "bad" };

export class List {
  constructor(server, open) {
    this.server = server;
    this.entries = [];
    this.rows = [];
    this.reports = [];
    this.now = 0;
    this.choose = (k) => { this.now = k; open(k); };
    // a picture is asked for once its row is seen: a data set may have thousands
    this.seen = new IntersectionObserver((found) => this.draw(found), { root: $("recordings"), rootMargin: "300px" });
    $("find").oninput = () => this.filter();
  }

  async load(place) {
    const listed = await this.server.ask("list");
    if (listed.error) return;
    this.entries = listed.entries;
    this.begin = listed.begin;
    this.reports = listed.reports;
    this.showReports();
    document.title = `PAPRLE viewer · ${listed.title}`;
    this.rows = this.entries.map((entry, k) => this.makeRow(entry, k));
    fill($("entries"), this.rows);
    this.filter();
    if (this.entries.length === 1 || isNarrow()) $("show-list").click();
    if (place && this.entries[place.film]) this.go(place);
    else this.choose(0);
  }

  // Opens a film at a time.
  go({ film, t }) {
    this.begin = t;
    this.choose(film);
  }

  showReports() {
    const several = this.reports.filter((one) => one.film < 0);
    $("reports").hidden = !several.length;
    fill($("reports"), several.flatMap((one) => {
      const link = make("a", one.name.split("/").pop().replace(".report.html", ""));
      link.href = this.server.address("report", { name: one.name });
      return ["Report: ", link, " "];
    }));
  }

  mark(k) {
    for (const row of this.rows) row.removeAttribute("aria-current");
    this.rows[k].setAttribute("aria-current", "true");
    this.rows[k].scrollIntoView({ block: "nearest" });
  }

  move(by) {
    const k = this.now + by;
    if (k >= 0 && k < this.entries.length) this.choose(k);
  }

  filter() {
    const words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    this.entries.forEach((entry, k) => {
      const text = [entry.name, entry.task, entry.outcome, entry.score, ...entry.notes].join(" ").toLowerCase();
      const isFound = words.every((word) => text.includes(word));
      this.rows[k].hidden = !isFound;
      n += isFound;
    });
    const total = this.entries.reduce((sum, entry) => sum + (entry.seconds ?? 0), 0);
    const found = n === this.entries.length ? `${n}` : `${n} of ${this.entries.length}`;
    $("count").textContent = `${found} episode${this.entries.length === 1 ? "" : "s"} · ${format(total)} in all`;
  }

  makeRow(entry, k) {
    const row = make("li", ""), button = make("button", "");
    const image = document.createElement("img");
    image.alt = "";
    image.loading = "lazy";
    const length = entry.seconds === null ? "length unknown" : format(entry.seconds);
    const words = make("span", "");
    words.append(make("b", entry.name), make("span", [length, entry.task].filter(Boolean).join(" · ")));
    const tags = make("span", "", "tags");
    for (const text of [entry.outcome, entry.score ? `report: ${entry.score}` : "no score"].filter(Boolean)) {
      const tag = make("em", text);
      tag.dataset.kind = MARKS[text.replace("report: ", "")] ?? "quiet";
      tags.append(tag);
    }
    words.append(tags, ...entry.notes.map((note) => make("q", note)));
    button.append(image, words);
    button.onclick = () => {
      if (isNarrow()) $("show-list").click();
      this.choose(k);
    };
    row.append(button);
    row.dataset.k = k;
    return row;
  }

  // Pictures come after the film that is waited for.
  drawStills() {
    for (const row of this.rows) if (!row.dataset.isDrawn) this.seen.observe(row);
  }

  draw(found) {
    for (const { target, isIntersecting } of found) {
      if (!isIntersecting) continue;
      this.seen.unobserve(target);
      target.dataset.isDrawn = true;
      const image = target.querySelector("img");
      image.onerror = () => image.removeAttribute("src"); // it has no camera
      image.src = this.server.address("still", { film: target.dataset.k });
    }
  }
}

function isNarrow() {
  return matchMedia("(max-width: 1000px)").matches;
}

function format(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = String(Math.floor(seconds % 60)).padStart(2, "0");
  return minutes < 60 ? `${minutes}:${rest} min` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest} h`;
}
