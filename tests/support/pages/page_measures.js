// What is seen of each text and control of a page.
() => {
  const lum = (c) => {
    const [r, g, b] = c.map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const read = (text) => text.match(/[\d.]+/g).map(Number);
  const findGround = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const rgba = read(getComputedStyle(at).backgroundColor);
      if (rgba.length === 3 || rgba[3] > 0.99) return rgba.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const ratio = (a, b) => {
    const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const rows = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    const isControl = ["BUTTON", "INPUT", "SELECT", "SUMMARY"].includes(element.tagName);
    if ((!own && !isControl) || !element.checkVisibility()) continue;
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    if (!box.width) continue;
    const label = element.closest("label")?.getBoundingClientRect();
    rows.push({
      name: element.id || own || element.dataset.press || element.type, isControl,
      isOff: Boolean(element.closest(":disabled")),
      ratio: own ? ratio(read(style.color).slice(0, 3), findGround(element)) : null,
      isLarge: parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700),
      isClipped: own && style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1
        || (element.tagName === "BUTTON" && element.scrollWidth > element.clientWidth + 1),
      height: Math.max(box.height, label?.height ?? 0), width: Math.max(box.width, label?.width ?? 0),
      box: [box.left, box.top, box.right, box.bottom], kind: element.tagName,
    });
  }
  return rows;
}
