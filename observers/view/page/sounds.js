// Short tones: one for a start, one for an end, two for what needs the operator, 1 kHz for a better suggestion.

const TONES = { start: [[660, 0.12]], end: [[330, 0.16]], alert: [[880, 0.1], [660, 0.18]], cue: [[1000, 0.15]] };
const context = new AudioContext(); // with the page: the first one stalls it for a tenth of a second

export function play(name) {
  if (!document.getElementById("sounds").checked || !navigator.userActivation?.hasBeenActive) return;
  context.resume();
  let at = context.currentTime;
  for (const [pitch, length] of TONES[name]) {
    const tone = context.createOscillator(), volume = context.createGain();
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.15, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + length);
    at += length;
  }
}
