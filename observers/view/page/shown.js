// What the page shows of the session. Names come from files: they are text, never markup.

import { showButton, showLabel } from "./buttons.js";
import { fill, make } from "./elements.js";
import { showEpisodes } from "./episodes.js";
import { play } from "./sounds.js";
import { Spark } from "./spark.js";
import { speakChanges } from "./speech.js";
import { forScreen } from "./words.js";

const $ = (id) => document.getElementById(id);
const KINDS = { WAITING: "ready", ALIGNING: "moving", HOMING: "moving", RESETTING: "moving", ENGAGED: "driving", STOPPED: "stopped",
  INIT: "off", CLOSING: "off" };
const STALE = 0.25; // [s] what is older is told in words
const sparks = new Map();
let lastState = "", lastTold = 0, crossings = 0, isFirst = true, wasBehind = false;

// A list is made anew only where it says something else: whoever reads it is left in peace.
function fillList(id, rows, tag = "li") {
  const key = JSON.stringify(rows);
  const element = $(id);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  fill(element, rows.map(([text, kind]) => make(tag, text, kind)));
}

function fillPairs(id, pairs) {
  const key = JSON.stringify(pairs);
  const element = $(id);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  fill(element, pairs.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
}

export function show(state) {
  const news = state.news ?? {};
  showState(state, news);
  showAlerts(news.told ?? []);
  showGate(state);
  showAges(state);
  showJoints(state.joints);
  showFelt(state.felt ?? {});
  showRecorded(state, news);
  speakChanges(state, news);
  if (state.crossings > crossings && !isFirst) play("cue");
  crossings = state.crossings;
  $("teach").hidden = !news.leader?.keeps_poses;
  isFirst = false;
}

// "operator_stop (stop was pressed)" with the words first: the name is for whoever looks it up.
function sayFirst(reasons) {
  return (reasons ?? "").replace(/^([\w, ]+) \(([^()]*)\)/, "$2 ($1)");
}

function showState(state, news) {
  const isHeldBack = state.is_held_back && state.state === "ENGAGED";
  $("word").textContent = isHeldBack ? "Held" : state.word;
  $("word").dataset.kind = isHeldBack || state.word === "Held" ? "paused" : KINDS[state.state] ?? "paused";
  showLabel("engage", state.state === "ENGAGED" ? "Pause" : state.state === "CLUTCHED" ? "Go on" : "Start");
  showLabel("next_episode", state.state === "WAITING" ? "Go home" : "End");
  $("does").textContent = forScreen(isHeldBack ? `The gate holds the robot: ${state.cause || "it says no cause"}.` : state.does);
  const hint = state.state === "WAITING" && news.note === "waiting for the leader" ? news.leader.hint : "";
  const next = hint ? `${hint} to start` : news.note ?? "";
  if (state.far) $("does").textContent += ` ${state.far}.`;
  $("next").textContent = next && state.state !== "STOPPED" ? forScreen(`Next: ${next}.`) : "";
  $("stopped").hidden = state.state !== "STOPPED";
  $("why").textContent = `Stopped: ${sayFirst(state.latched) || "asked for"}`;
  fillList("release", state.release.map((text) => [forScreen(text), ""]));
  showButton("reposture", news.offers_posture);
  if (!isFirst && state.state !== lastState) {
    if (state.state === "STOPPED") window.scrollTo(0, 0); // its alarm stands above
    if (state.state === "ENGAGED") play("start");
    else if (state.state === "STOPPED") play("alert");
    else if (lastState === "ENGAGED") play("end");
  }
  if (news.behind) $("does").textContent += " It is behind: wait for it.";
  if (news.behind && !wasBehind) play("alert");
  wasBehind = Boolean(news.behind);
  lastState = state.state;
}

function showAlerts(told) {
  const newest = told.length ? told[told.length - 1][0] : 0;
  if (newest > lastTold && !isFirst) play("alert");
  lastTold = newest;
  fillList("alerts", told.length ? told.map(([, text]) => [forScreen(text), "alert"]).reverse() : [["none", "quiet"]]);
}

function showGate(state) {
  const short = state.news?.short ?? [];
  const cuts = state.news?.cuts ?? [];
  // what names a joint and a share stands for the words that do not
  const others = cuts.length ? state.acts.filter((text) => !text.startsWith("a joint is at its")) : state.acts;
  const acts = [...cuts, ...others, ...short];
  $("acts").textContent = acts.length ? `Acts: ${acts.join(" · ")}` : "Does not act: the robot does as asked.";
  const away = state.clearance;
  const speed = `Speed limit: ${(100 * (state.speed_scale ?? 1)).toFixed(0)} % of the robot's.`;
  $("clearance").textContent = away === null
    ? `Nearest bodies: none known. ${speed}`
    : `Nearest bodies: ${(1000 * away).toFixed(0)} mm apart. ${speed}`;
  fillPairs("acted", Object.entries(state.acted).map(([name, n]) => [name.replaceAll("_", " "), n === 1 ? "1 period" : `${n} periods`]));
}

function showAges(state) {
  const rows = Object.entries(state.ages).map(([name, age]) => [
    name,
    age === null ? "silent" : `${(1000 * age).toFixed(0)} ms${age > STALE ? " – stale" : ""}`,
  ]);
  for (const [limb, who] of Object.entries(state.drivers)) rows.push([`drives ${limb}`, who ?? "nobody"]);
  if (state.news?.overruns) rows.push(["missed deadlines", String(state.news.overruns)]);
  if (state.news?.lost?.length) rows.push(["lost", state.news.lost.join(", ")]);
  rows.push(["pages", String(state.watching)]);
  fillPairs("ages", rows);
  $("link").textContent = state.news?.link ?? "";
  fillPairs("far", Object.entries(state.news?.far ?? {}));
  for (const [name, value] of Object.entries(state.latencies)) {
    if (!sparks.has(name)) {
      sparks.set(name, new Spark(name, "ms"));
      $("latencies").append(sparks.get(name).element);
    }
    sparks.get(name).add(value);
  }
}

function showJoints(joints) {
  const body = $("joints");
  while (body.rows.length < joints.length) {
    const row = body.insertRow();
    for (let k = 0; k < 3; k += 1) row.insertCell();
  }
  joints.forEach((joint, i) => {
    const [name, q, tau] = body.rows[i].cells;
    name.textContent = joint.name;
    const [position, effort] = joint.is_sliding ? ["m", "N"] : ["rad", "N·m"];
    q.textContent = joint.q === null ? "–" : `${joint.q.toFixed(3)} ${position}`;
    tau.textContent = joint.tau === null ? "not measured" : `${joint.tau.toFixed(2)} ${effort}`;
  });
}

// What a puppeteer feels is the torque of its own motors, not the robot's.
function showFelt(felt) {
  const rows = Object.entries(felt);
  $("felt").hidden = rows.length === 0;
  fillPairs("torques", rows.map(([joint, tau]) => [joint, `${tau.toFixed(2)} N·m`]));
}

function showRecorded(state, news) {
  $("episode").textContent = (news.episode ?? "").replace(/^ep /, "");
  showRec(news);
  $("task-form").hidden = Boolean(news.is_far);
  $("note-form").hidden = news.is_far || !news.folder; // else a note would stand nowhere
  $("noted").textContent = (news.noted ?? []).map((text) => `“${text}”`).join(" · ");
  if (news.is_far) {
    $("recording").textContent = "What is recorded is at the robot, and so are tasks and episodes.";
    return;
  }
  const time = news.seconds === null || news.seconds === undefined ? "" : ` · ${news.seconds} s`;
  $("recording").textContent = news.folder
    ? `${news.recording || "not recording now"}${time} · task: ${news.task || "none"}`
    : `Nothing is recorded: start with record.dir=FOLDER · task: ${news.task || "none"}`;
  $("free").textContent = news.folder ? `${news.folder}: ${describeRoom(state.free)} free` : "";
  showEpisodes(news.episodes ?? [], state);
}

function showRec(news) {
  const isOpen = (news.seconds ?? null) !== null, isRecorded = news.recording === "REC";
  $("rec").hidden = Boolean(news.is_far) || (!isOpen && !isRecorded);
  $("rec").classList.toggle("off", !isRecorded);
  $("rec").textContent = isRecorded ? `● REC ${news.seconds ?? 0} s` : "not recorded";
}

function describeRoom(bytes) {
  return bytes === null ? "unknown" : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

export function showLink(isOpen, why) {
  if (isOpen) return;
  $("word").textContent = "no link";
  $("word").dataset.kind = "off";
  $("does").textContent = why
    ? `No link: ${why}. Open the address that the session shows now.`
    : "The link is gone, and whatever was held is let go; trying again …";
  $("next").textContent = forScreen("STOP reaches nobody from here: stop at the session's terminal (Space), or by the robot's emergency stop.");
}
