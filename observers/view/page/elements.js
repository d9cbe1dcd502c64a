// Elements of the page, made of text.

export function fill(element, children) {
  element.replaceChildren(...children);
}

export function make(tag, text, className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}
