// The keys of the page.

import { fill, make } from "./elements.js";
import { MOVES } from "./hands.js";
import { KEYS } from "./keys.js";

const $ = (id) => document.getElementById(id);

// Not modal: STOP and every key act while it is open.
export function toggleHelp() {
  if ($("keys").open) {
    $("keys").close();
    return;
  }
  const moves = $("move").hidden ? [] : [["m", "hold to move"], ...Object.values(MOVES).map(([text, cap]) => [cap, text])];
  const isUsed = (row) => row.place !== "teach" || !$("teach").hidden;
  const rows = [...KEYS.filter(isUsed).map((row) => [row.cap, row.tip || row.help]), ...moves, ["v", "speech on or off"], ["?", "this list"]];
  fill($("key-list"), rows.flatMap(([cap, text]) => {
    const name = make("dt", "");
    name.append(make("kbd", cap));
    return [name, make("dd", text)];
  }));
  $("keys").show();
}
