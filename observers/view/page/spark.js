// A line of the newest values of one number.

const WIDTH = 120, HEIGHT = 24, KEPT = 120;
const NS = "http://www.w3.org/2000/svg";

export class Spark {
  constructor(name, unit) {
    this.values = [];
    this.unit = unit;
    this.element = document.createElement("div");
    this.element.className = "spark";
    const label = document.createElement("span");
    label.textContent = name;
    this.number = document.createElement("output");
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("aria-hidden", "true");
    this.line = document.createElementNS(NS, "polyline");
    svg.append(this.line);
    this.element.append(label, svg, this.number);
  }

  add(value) {
    this.number.textContent = value === null ? "–" : `${value.toFixed(1)} ${this.unit}`;
    if (value === null) return;
    this.values.push(value);
    if (this.values.length > KEPT) this.values.shift();
    const top = Math.max(...this.values, 1);
    const points = this.values.map(
      (v, i) => `${(i * WIDTH) / KEPT},${(HEIGHT - 1 - ((HEIGHT - 2) * v) / top).toFixed(1)}`);
    this.line.setAttribute("points", points.join(" "));
  }
}
