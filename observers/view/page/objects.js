// Where objects are that no camera sees: typed here, or dragged in the picture.

import { fill, make } from "./elements.js";

const $ = (id) => document.getElementById(id);
const AXES = ["x", "y", "z"];
const FAR = 100; // [m] as messages.py has it

function makeField(name, axis) {
  const field = document.createElement("input");
  Object.assign(field, { type: "number", step: "any", min: -FAR, max: FAR, required: true, value: "0" });
  field.ariaLabel = `${axis} of ${name} in metres`;
  const label = make("label", axis);
  label.append(field);
  return [label, field];
}

function makeRow(name, place) {
  const form = document.createElement("form"), away = make("button", "Take away");
  const made = AXES.map((axis) => makeField(name, axis)), fields = made.map(([, field]) => field);
  away.type = "button";
  away.onclick = () => place(name, null);
  form.dataset.object = name;
  form.append(make("strong", name), ...made.map(([label]) => label), make("button", "Put"), away);
  form.onsubmit = (event) => {
    event.preventDefault();
    document.activeElement?.blur();
    place(name, fields.map((field) => field.valueAsNumber));
  };
  return form;
}

// A field that somebody types in is left alone.
export function showObjects(state, isOperator, place) {
  const names = state.news?.objects ?? [], list = $("objects-list");
  $("objects").hidden = names.length === 0;
  if (list.dataset.key !== names.join()) {
    list.dataset.key = names.join();
    fill(list, names.map((name) => makeRow(name, place)));
  }
  for (const form of list.children) {
    const xyz = state.placed?.[form.dataset.object];
    const fields = [...form.querySelectorAll("input")];
    for (const element of form.elements) element.disabled = !isOperator;
    form.lastChild.disabled ||= !xyz;
    if (!xyz || fields.includes(document.activeElement)) continue;
    if (form.dataset.shown === xyz.join()) continue; // what was typed since stays
    form.dataset.shown = xyz.join();
    fields.forEach((field, k) => { field.value = xyz[k].toFixed(3); });
  }
}
