// Which elements of these selectors, all of them, are out of the window, cut off or covered at their middle or a corner.
(selectors) => selectors.flatMap((selector) => {
  const found = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  if (!found.length) return [`${selector}: none`];
  const isHit = (element, x, y) => {
    const at = document.elementFromPoint(x, y);
    return at && (at === element || element.contains(at) || at.closest("label")?.contains(element));
  };
  return found.flatMap((element, i) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const inset = Math.min(8, (right - left) / 4, (bottom - top) / 4); // within round corners
    const points = [[(left + right) / 2, (top + bottom) / 2]];
    for (const x of [left + inset, right - inset]) for (const y of [top + inset, bottom - inset]) points.push([x, y]);
    const missed = points.filter(([x, y]) => !isHit(element, x, y));
    return missed.length ? [`${selector} ${i + 1}: ${missed.length} of ${points.length} points`] : [];
  });
})
