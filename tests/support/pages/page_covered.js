// Which of these elements are hidden, cut off or covered in their middle.
(selectors) => selectors.filter((selector) => {
  const element = document.querySelector(selector), box = element.getBoundingClientRect();
  const at = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  return !at || (at !== element && !element.contains(at));
})
