// What is seen of each text and control of a page, and which controls lie on each other.
() => {
  const CONTROLS = "button, input, select, summary, a[href], [role=button], [tabindex]";
  const lum = (c) => {
    const [r, g, b] = c.map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (text) => { // any colour of CSS, as r, g, b 0 … 255 and alpha 0 … 1
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B, A]) => {
    const alpha = a + A * (1 - a), mix = (x, X) => (alpha ? (x * a + X * A * (1 - a)) / alpha : 0);
    return [mix(r, R), mix(g, G), mix(b, B), alpha];
  };
  const root = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
  // A colour as it is seen in an element: grounds and opacities of all around it count.
  const see = (colour, element) => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      colour = over(colour, read(style.backgroundColor));
      colour[3] *= parseFloat(style.opacity);
    }
    return over(colour, root).slice(0, 3);
  };
  const measureContrast = (element, colour) => {
    const [x, y] = [see(read(colour), element), see([0, 0, 0, 0], element)].map(lum).sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  // The part of a box that no scrolling or clipping ancestor hides; null where none is left.
  const cut = (element, { left, top, right, bottom }) => {
    for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX !== "visible" || style.overflowY !== "visible") {
        const box = at.getBoundingClientRect();
        [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
        [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
      }
      if (style.position === "fixed") break;
    }
    return right - left > 1 && bottom - top > 1 ? [left, top, right, bottom] : null;
  };
  // What is fixed or sticky lies over what scrolls, and a dialog or an open sheet over the page.
  const findLayer = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (["fixed", "sticky"].includes(getComputedStyle(at).position)) return at;
    }
    return document.body;
  };
  const isClipped = (element, own, style) => {
    if (!own && element.tagName !== "BUTTON") return false;
    const hides = (overflow) => overflow === "hidden" || overflow === "clip" || element.tagName === "BUTTON";
    return hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1
      || hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
  };
  // Inside a box that hides what is too long, and cannot be scrolled.
  const isCutOff = (element, box) => {
    for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at), outer = at.getBoundingClientRect();
      const wide = box.right > outer.right + 1 || box.left < outer.left - 1;
      const high = box.bottom > outer.bottom + 1 || box.top < outer.top - 1;
      if (["auto", "scroll"].includes(style.overflowY) || style.position === "fixed") return false;
      if ((style.overflowX === "hidden" && wide) || (style.overflowY === "hidden" && high)) return true;
    }
    return false;
  };
  const rows = [], controls = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    const style = getComputedStyle(element);
    const isControl = element.matches(CONTROLS) || (typeof element.onclick === "function" && element.tagName !== "FORM");
    const isSeen = element.checkVisibility({ visibilityProperty: true });
    if ((!own && !isControl) || !isSeen || style.clipPath !== "none") continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const label = element.closest("label")?.getBoundingClientRect();
    const name = element.id || own || element.ariaLabel || element.dataset.press || element.textContent.trim() || element.type || "";
    const shownText = own || (element.tagName === "SELECT" || (element.tagName === "INPUT" && element.value) ? "value" : "");
    const isText = Boolean(own) || ["SELECT"].includes(element.tagName)
      || (element.tagName === "INPUT" && !["range", "checkbox"].includes(element.type));
    const emptied = element.tagName === "INPUT" && !element.value && element.placeholder;
    const colour = emptied ? getComputedStyle(element, "::placeholder").color : style.color;
    const pseudo = emptied ? parseFloat(getComputedStyle(element, "::placeholder").opacity) : 1;
    rows.push({
      name, isControl, kind: element.tagName,
      isOff: Boolean(element.closest(":disabled")) || pseudo < 1,
      ratio: isText && shownText + (emptied || "") ? measureContrast(element, colour) : null,
      isLarge: parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700),
      isClipped: isClipped(element, own, style) || isCutOff(element, box),
      height: Math.max(box.height, label?.height ?? 0), width: Math.max(box.width, label?.width ?? 0),
    });
    const left = isControl && cut(element, box);
    if (left) controls.push({ element, name: `${element.tagName} '${name.slice(0, 30)}'`, box: left, layer: findLayer(element) });
  }
  const overlaps = [];
  controls.forEach((one, i) => {
    for (const other of controls.slice(i + 1)) {
      if (one.layer !== other.layer || one.element.contains(other.element) || other.element.contains(one.element)) continue;
      const [a, b] = [one.box, other.box];
      const wide = Math.min(a[2], b[2]) - Math.max(a[0], b[0]), high = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
      if (wide > 1 && high > 1) overlaps.push(`${one.name} and ${other.name}: ${wide.toFixed(0)} x ${high.toFixed(0)} px in common`);
    }
  });
  return { rows, overlaps };
}
