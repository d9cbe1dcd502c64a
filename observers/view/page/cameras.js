// What cameras see: one picture each, which says when it is old.

import { make } from "./elements.js";

const OLD = 3; // periods without another picture
const seen = new Map();

export function showPicture(message) {
  if (!seen.has(message.camera)) {
    const figure = document.createElement("figure"), image = document.createElement("img");
    const caption = make("figcaption", message.camera);
    image.alt = `camera ${message.camera}`;
    image.onclick = () => figure.classList.toggle("large");
    figure.append(image, caption);
    document.getElementById("pictures").append(figure);
    document.getElementById("cameras").hidden = false;
    seen.set(message.camera, { figure, image, caption });
  }
  const one = seen.get(message.camera);
  one.isGone = !message.jpeg; // the session knows that there is none
  if (one.isGone) return;
  one.image.src = `data:image/jpeg;base64,${message.jpeg}`;
  one.period = 1000 * message.period;
  one.at = performance.now();
}

// A picture that stands still may be a camera that is gone.
export function showPictureAges() {
  for (const [name, one] of seen) {
    const age = performance.now() - one.at, isOld = one.isGone || age > OLD * one.period;
    one.figure.classList.toggle("old", isOld);
    one.caption.textContent = isOld ? `⚠ ${name}: no picture for ${(age / 1000).toFixed(1)} s` : name;
  }
}
