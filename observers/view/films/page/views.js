// The robot in 3-D and the cameras at the time that is seen; each asks for the next picture
// once the last one is there, so that a slow one holds up nothing else.

import { make } from "./elements.js";
import { makePicture } from "./picture.js";

const $ = (id) => document.getElementById(id);
const AGAIN = 100, WAIT = 400; // times, and [ms] between them, until the first picture is there

export class Views {
  constructor(server, token) {
    this.server = server;
    this.token = token;
    this.film = 0;
    this.parts = [];
    this.onKey = () => {};
  }

  async open(film, about) {
    this.film = film;
    this.parts = about.cameras.map((name) => new Camera(this.server, film, name));
    $("cameras").replaceChildren(...this.parts.map((one) => one.figure));
    $("cameras").dataset.n = about.cameras.length;
    $("robot").hidden = !about.scene;
    $("state").hidden = true;
    if (about.scene) this.parts.push(new Robot(this, film));
  }

  show(t) {
    for (const part of this.parts) part.ask(t);
  }

  // Keys that are pressed in the picture reach us, since it is on our port.
  openScene(number) {
    if (number === this.number) return;
    this.number = number;
    this.frame?.remove();
    this.frame = makePicture(`ws://${location.host}/scene/${this.token}?viewer`);
    this.frame.onload = () => this.frame.contentWindow.addEventListener("keydown", (event) => this.onKey(event), true);
    document.body.dataset.link = "open"; // viser's page asks whether its server is there
    $("robot").append(this.frame);
  }
}

// Asks for the newest time that was wanted, one at a time.
class Part {
  constructor() {
    this.isBusy = false;
    this.wanted = null;
    this.last = null;
  }

  async ask(t) {
    this.wanted = t;
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.wanted !== null && this.wanted !== this.last) {
      this.last = this.wanted;
      this.wanted = null;
      await this.load(this.last);
    }
    this.isBusy = false;
  }

  // Pictures and the scene of a long film are there a while after its signals.
  retry(t, isShown) {
    if (!this.again) return;
    this.again -= 1;
    setTimeout(() => {
      if (this.last !== t || !isShown()) return;
      this.last = null;
      this.ask(t);
    }, WAIT);
  }
}

class Camera extends Part {
  constructor(server, film, name) {
    super();
    this.server = server;
    this.words = { film, camera: name };
    this.figure = document.createElement("figure");
    this.image = document.createElement("img");
    this.image.alt = "";
    const button = make("button", "", "camera");
    button.ariaLabel = `camera ${name}, larger or smaller`;
    this.caption = make("figcaption", name);
    this.name = name;
    button.append(this.image);
    this.figure.append(button, this.caption);
    button.onclick = () => { button.ariaPressed = String(this.figure.classList.toggle("large")); };
    this.again = AGAIN;
  }

  load(t) {
    const w = Math.max(160, Math.round(this.figure.clientWidth * devicePixelRatio));
    const next = new Image();
    next.src = this.server.address("picture", { ...this.words, t, w });
    return next.decode().then(
      () => { this.image.src = next.src; this.again = 0; this.tell(true); },
      () => this.tell(false) || this.retry(t, () => this.figure.isConnected),
    );
  }

  tell(isThere) {
    this.figure.classList.toggle("old", !isThere);
    this.caption.textContent = isThere ? this.name : `${this.name}: no picture at this time`;
  }
}

class Robot extends Part {
  constructor(views, film) {
    super();
    this.views = views;
    this.film = film;
    this.again = AGAIN;
  }

  async load(t) {
    const state = await this.views.server.ask("move", { film: this.film, t });
    if (!this.views.parts.includes(this)) return; // another film was opened meanwhile
    if (state.scene) this.views.openScene(state.scene);
    else this.retry(t, () => this.views.parts.includes(this));
    $("state").hidden = !state.word;
    $("state").textContent = state.word ?? "";
  }
}
