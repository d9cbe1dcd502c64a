// Held, or not; each press has a number, so that a release between two messages is not lost.
// Whatever takes the page from the operator's eyes lets go: another app, a call, the lock.

export class DeadMan {
  // isAway tells whether a window that lost the focus lost it to something else than this page.
  constructor(onChange, isAway = () => true) {
    this.isHeld = false;
    this.press = 0;
    this.onChange = onChange;
    const letGo = () => this.release();
    document.addEventListener("visibilitychange", letGo);
    document.addEventListener("freeze", letGo);
    this.onBlur = () => {
      if (isAway()) letGo();
    };
    this.watch(window);
    window.addEventListener("pagehide", letGo);
    window.addEventListener("orientationchange", letGo);
  }

  watch(place) {
    place.addEventListener("blur", this.onBlur);
  }

  attach(element) {
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      this.hold();
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(name, () => this.release());
    }
    element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  hold() {
    if (this.isHeld || document.hidden) return;
    this.isHeld = true;
    this.press += 1;
    this.onChange();
  }

  release() {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.onChange();
  }
}
