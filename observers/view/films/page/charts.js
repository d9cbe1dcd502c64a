// Plots of the signals by uPlot: values under the cursor, zoom by dragging, the time that is seen.

import { fill, make } from "./elements.js";

const $ = (id) => document.getElementById(id);
const COLORS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888", "#e07b00"]; // Paul Tol, bright
const FIRST = 6, HEIGHT = 150; // plots at first; [px]
const WAIT = 120; // [ms] after the last change of a zoom

export class Charts {
  constructor(server, seek) {
    this.server = server;
    this.seek = seek;
    this.plots = new Map();
    this.chosen = null;
    this.range = [0, 1];
    this.t = 0;
    this.timer = 0;
    $("whole").onclick = () => this.zoom(0, this.length);
    $("find-plot").oninput = () => this.filter();
    new ResizeObserver(() => this.fit()).observe($("plots"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  open(film, about) {
    this.film = film;
    this.length = about.length;
    this.range = [0, about.length];
    const groups = new Map();
    about.signals.forEach((signal, k) => {
      const key = signal.chart;
      if (!groups.has(key)) groups.set(key, { unit: signal.unit, signals: [] });
      groups.get(key).signals.push({ name: signal.name, k });
    });
    this.groups = groups;
    // what was chosen stays, from one episode to the next
    const kept = this.chosen ? [...groups.keys()].filter((key) => this.chosen.has(key)) : [];
    this.chosen = new Set(kept.length ? kept : [...groups.keys()].slice(0, FIRST));
    fill($("boxes"), [...groups.keys()].map((key) => this.makeBox(key)));
    this.filter();
    this.redraw();
    this.showRange();
  }

  makeBox(key) {
    const label = make("label", ""), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = this.chosen.has(key);
    box.onchange = () => {
      if (box.checked) this.chosen.add(key);
      else this.chosen.delete(key);
      this.redraw();
    };
    label.append(box, ` ${key}`);
    return label;
  }

  filter() {
    const text = $("find-plot").value.toLowerCase();
    for (const label of $("boxes").children) label.hidden = !label.textContent.toLowerCase().includes(text);
    $("chosen").textContent = `${this.chosen.size} of ${this.groups.size}`;
  }

  redraw() {
    if (!this.groups) return;
    for (const plot of this.plots.values()) plot.destroy();
    this.plots.clear();
    const shown = [...this.groups.keys()].filter((key) => this.chosen.has(key));
    const places = shown.map((key) => {
      const place = make("figure", "");
      place.append(make("figcaption", this.groups.get(key).unit ? `${key} [${this.groups.get(key).unit}]` : key));
      return place;
    });
    fill($("plots"), places);
    shown.forEach((key, k) => this.draw(key, places[k]));
    this.filter();
    this.load();
  }

  draw(key, place) {
    const { signals } = this.groups.get(key), style = getComputedStyle(document.body);
    const axis = { stroke: style.color, grid: { stroke: "rgba(128, 128, 128, 0.25)", width: 1 }, ticks: { stroke: "rgba(128, 128, 128, 0.4)" } };
    const plot = new uPlot({
      width: Math.max($("plots").clientWidth - 4, 120),
      height: HEIGHT,
      cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, focus: { prox: 24 } },
      scales: { x: { time: false, range: () => this.range } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toFixed(3))} s`) }, { ...axis, size: 58 }],
      series: [
        { label: "t", value: (_, t) => (t === null ? "–" : `${t.toFixed(2)} s`) },
        ...signals.map((signal, k) => ({
          label: signal.name,
          stroke: COLORS[k % COLORS.length],
          width: 1.4,
          dash: signal.name === "requested" || signal.name === "action" ? [5, 3] : undefined,
          spanGaps: true, // each signal has its own times
          value: (_, value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(4))),
        })),
      ],
      hooks: {
        setSelect: [(u) => this.take(u)],
        ready: [(u) => {
          u.over.addEventListener("click", () => { if (u.select.width < 3) this.seek(u.posToVal(u.cursor.left, "x")); });
          u.over.addEventListener("dblclick", () => this.zoom(0, this.length));
        }],
      },
    }, [[0], ...signals.map(() => [null])], place);
    plot.line = make("i", "", "now");
    plot.over.append(plot.line);
    this.plots.set(key, plot);
  }

  take(u) {
    if (u.select.width >= 3) {
      this.zoom(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
      u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    }
  }

  zoom(from, to) {
    this.range = [Math.max(from, 0), Math.min(to, this.length)];
    for (const plot of this.plots.values()) plot.redraw(true, true);
    this.showRange();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), WAIT);
  }

  showRange() {
    const [from, to] = this.range;
    $("zoom").hidden = to - from >= this.length;
    $("range").textContent = `${from.toFixed(2)} to ${to.toFixed(2)} s`;
    this.show(this.t);
  }

  async load() {
    const number = (this.number = (this.number ?? 0) + 1), { film, range: [from, to] } = this;
    for (const [key, plot] of [...this.plots]) {
      const answers = await Promise.all(this.groups.get(key).signals.map(({ k }) => this.server.ask("signal", { film, k, from, to })));
      if (number !== this.number) return; // of an earlier zoom, or of another film
      const tables = answers.filter((one) => !one.error).map((one) => [one.t, one.values]);
      if (tables.length) plot.setData(uPlot.join(tables), true);
    }
    this.show(this.t);
  }

  show(t) {
    this.t = t;
    for (const plot of this.plots.values()) {
      const x = plot.valToPos(t, "x"), isSeen = t >= this.range[0] && t <= this.range[1];
      plot.line.style.transform = `translateX(${isSeen ? x.toFixed(1) : -9999}px)`;
    }
  }

  fit() {
    const width = Math.max($("plots").clientWidth - 4, 120);
    for (const plot of this.plots.values()) if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
    this.show(this.t);
  }
}
