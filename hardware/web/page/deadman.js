// Held, or not; each press has a number, so that a release between two messages is not lost.
// Whatever takes the page from the operator's eyes lets go: another app, a call, the lock.

export class DeadMan {
  constructor(onChange) {
    this.isHeld = false;
    this.press = 0;
    this.onChange = onChange;
    const letGo = () => this.release();
    document.addEventListener("visibilitychange", letGo);
    document.addEventListener("freeze", letGo);
    window.addEventListener("blur", letGo);
    window.addEventListener("pagehide", letGo);
    window.addEventListener("orientationchange", letGo);
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
