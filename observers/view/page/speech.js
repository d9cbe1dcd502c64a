// Spoken prompts for an operator who looks at the robot: what began, what became of an episode.

const $ = (id) => document.getElementById(id);
const STORED = "paprle.speech"; // the choice outlives the page
let before = null;

export function prepareSpeech() {
  $("speech").checked = localStorage.getItem(STORED) !== "off";
  $("speech").onchange = () => localStorage.setItem(STORED, $("speech").checked ? "on" : "off");
}

export function toggleSpeech() {
  $("speech").click();
  speak($("speech").checked ? "speech on" : "");
}

export function speakChanges(state, news) {
  const marks = new Map((news.episodes ?? []).map((one) => [one.path, one.mark]));
  const now = { state: state.state, recording: news.recording ?? "", marks };
  if (before) {
    for (const text of listPrompts(before, now)) speak(text);
  }
  before = now;
}

function listPrompts(was, now) {
  const said = [];
  if (now.state === "STOPPED" && was.state !== "STOPPED") said.push("stopped");
  for (const [path, mark] of now.marks) {
    const number = path.match(/(\d+)\.[^.]*$/)?.[1];
    if (number !== undefined && was.marks.get(path) !== mark) said.push(`episode ${Number(number)} ${mark}`);
  }
  if (now.state === "RESETTING" && was.state !== "RESETTING") said.push("reset the scene");
  if (now.recording === "REC" && was.recording !== "REC") said.push("recording");
  return said;
}

function speak(text) {
  if (!text || !$("speech").checked || !window.speechSynthesis) return;
  const utterance = new SpeechSynthesisUtterance(text);
  utterance.lang = "en-US";
  window.speechSynthesis.speak(utterance);
}
