// The time of the film that is seen, by the browser's clock.

export class Player {
  constructor(show) {
    this.show = show;
    this.t = this.length = 0;
    this.speed = 1;
    this.isPlaying = false;
    this.last = 0;
    this.isAwaited = false;
  }

  load(length) {
    this.length = length;
    this.isPlaying = false;
    this.seek(0);
  }

  seek(t) {
    this.t = Math.min(Math.max(t, 0), this.length);
    this.ask();
  }

  step(by) {
    this.isPlaying = false;
    this.seek(this.t + by);
  }

  toggle() {
    if (!this.length) return;
    if (!this.isPlaying && this.t >= this.length) this.t = 0; // once more
    this.isPlaying = !this.isPlaying;
    this.last = performance.now();
    this.ask();
  }

  setSpeed(speed) {
    this.speed = speed;
  }

  ask() {
    if (this.isAwaited) return;
    this.isAwaited = true;
    requestAnimationFrame((now) => this.advance(now));
  }

  advance(now) {
    this.isAwaited = false;
    if (this.isPlaying) {
      this.t = Math.min(this.t + (this.speed * Math.max(now - this.last, 0)) / 1000, this.length);
      this.last = now;
      this.isPlaying = this.t < this.length;
    }
    this.show(this.t, this.isPlaying);
    if (this.isPlaying) this.ask();
  }
}
