// What cameras see: one picture each, which says when it is old. Pressed, it lies large over the 3-D picture.

import { make } from "./elements.js";

const OLD = 3; // periods without another picture
const seen = new Map();
const $ = (id) => document.getElementById(id);

function enlarge(figure, button, isLarge) {
  figure.classList.toggle("large", isLarge);
  button.ariaPressed = String(isLarge);
  $(isLarge ? "enlarged" : "pictures").append(figure);
  $("cameras").hidden = $("pictures").children.length === 0;
  button.focus(); // a button that was moved has lost it
  button.scrollIntoView({ block: "center" }); // a narrow page was scrolled to where it lay
}

function makeFigure(camera) {
  const figure = document.createElement("figure"), image = document.createElement("img");
  const button = make("button", "", "camera"), caption = make("figcaption", camera);
  image.alt = "";
  button.ariaLabel = `camera ${camera}, large`;
  button.ariaPressed = "false";
  button.append(image);
  button.onclick = () => enlarge(figure, button, button.ariaPressed !== "true");
  button.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && button.ariaPressed === "true") enlarge(figure, button, false);
  });
  figure.append(button, caption);
  $("pictures").append(figure);
  $("cameras").hidden = false;
  return { figure, image, caption };
}

export function showPicture(message) {
  if (!seen.has(message.camera)) seen.set(message.camera, makeFigure(message.camera));
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
