// One memory: as it is shown, changed, deleted, and with its history.

import { applied, askJson } from "./gateway.js";
import { complain, copied, element, guarded, tell, tellBegun } from "./telling.js";
import { holdsUnseen, refusalOf, shortened, slotOf, sourceOf, stateOf, when } from "./words.js";

const HISTORY_SIZE = 20;

// Returns the list item of a memory; `onRemoved` is called once it is gone from the list.
export function made(memory, onRemoved) {
  const item = copied("memory-template");
  const part = (name) => item.querySelector(name);
  const held = { memory, past: null, onRemoved };
  fill(item, memory);
  const click = (name, act) => part(name).addEventListener("click", act);
  click(".correct", () => edit(item, held.memory, true));
  click(".cancel", () => edit(item, held.memory, false));
  click(".pin", () => guarded(part(".pin"), () => pin(item, held), true));
  click(".remove", () => askDeletion(item, held));
  click(".history", () => guarded(part(".history"), () => toggleHistory(item, held)));
  click(".earlier", () => guarded(part(".earlier"), () => showHistory(item, held)));
  part("form").addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(part("form [type=submit]"), () => correct(item, held), true);
  });
  part("form").addEventListener("keydown", (event) => {
    if (event.key === "Escape") edit(item, held.memory, false);
  });
  return item;
}

function fill(item, memory) {
  const set = (name, text) => { item.querySelector(name).textContent = text; };
  set(".what", memory.content);
  set(".slot", slotOf(memory));
  set(".whom", memory.about === "user" ? "" : `about ${memory.about}`);
  set(".since", `since ${when(memory.valid_from, memory.valid_from_precision)}`);
  set(".source", sourceOf(memory));
  set(".pin", memory.pinned_at ? "Unpin" : "Pin");
  item.querySelector(".pinned").hidden = !memory.pinned_at;
  item.querySelector(".unseen").hidden = !holdsUnseen(memory.content);
  for (const button of item.querySelectorAll(":scope > .actions button")) {
    button.setAttribute("aria-label", `${button.textContent}: ${shortened(memory.content)}`);
  }
}

function edit(item, memory, open) {
  const form = item.querySelector("form");
  if (form.querySelector("[aria-disabled=true]")) return;
  form.hidden = !open;
  form.querySelector("textarea").value = memory.content;
  (open ? form.querySelector("textarea") : item.querySelector(".correct")).focus();
}

async function correct(item, held) {
  const field = item.querySelector("textarea");
  if (field.value.trim() === held.memory.content) {
    tell("Nothing was changed.");
    return;
  }
  field.readOnly = true;
  try {
    if (await change(item, held, "PATCH", { content: field.value })) {
      item.querySelector("form").hidden = true;
      item.querySelector(".correct").focus();
    }
  } finally {
    field.readOnly = false;
  }
}

async function pin(item, held) {
  await change(item, held, "PATCH", { pinned: !held.memory.pinned_at });
}

// Has a change made, waits until it shows, and shows it; tells whether that came about.
async function change(item, held, method, body) {
  const path = `/memories/${held.memory.memory_id}`;
  tellBegun("Saving…");
  item.setAttribute("aria-busy", "true");
  try {
    const accepted = await askJson(method, path, body);
    const turn = await applied(accepted.turn_id);
    if (turn === null) {
      tell("This is saved, and takes longer than usual to show. Refresh the list in a while.");
      return false;
    }
    const problem = refusalOf(turn);
    if (problem !== null) {
      complain(problem);
      return false;
    }
    if (method === "DELETE") return true;
    const { memories } = await askJson("GET", `${path}/history?limit=${HISTORY_SIZE}`);
    const now = memories.find(
      (version) => version.state === "live" && version.lineage_id === held.memory.lineage_id,
    );
    if (now !== undefined) {
      held.memory = now;
      fill(item, now);
    }
    closeHistory(item, held);
    tell("Saved.");
    return true;
  } finally {
    item.removeAttribute("aria-busy");
  }
}

function askDeletion(item, held) {
  if (item.getAttribute("aria-busy") === "true") return;
  const dialog = element("deletion");
  element("deletion-what").textContent = held.memory.content;
  dialog.returnValue = "";
  dialog.showModal();
  element("keep").focus();
  element("keep").onclick = () => dialog.close();
  element("delete").onclick = () => dialog.close("delete");
  dialog.onclose = () => {
    const button = item.querySelector(".remove");
    button.focus();
    if (dialog.returnValue === "delete") guarded(button, () => remove(item, held), true);
  };
}

async function remove(item, held) {
  if (!(await change(item, held, "DELETE"))) return;
  const next = item.nextElementSibling ?? item.previousElementSibling ?? element("list-title");
  item.remove();
  held.onRemoved();
  next.focus();
  tell("Deleted.");
}

// The history of one memory

async function toggleHistory(item, held) {
  if (held.past !== null) {
    closeHistory(item, held);
    return;
  }
  held.past = { cursor: null };
  await showHistory(item, held);
}

function closeHistory(item, held) {
  held.past = null;
  item.querySelector(".past").hidden = true;
  item.querySelector(".past ol").replaceChildren();
  item.querySelector(".history").setAttribute("aria-expanded", "false");
}

async function showHistory(item, held) {
  const asked = held.past;
  const cursor = asked.cursor === null ? "" : `&cursor=${encodeURIComponent(asked.cursor)}`;
  const path = `/memories/${held.memory.memory_id}/history?limit=${HISTORY_SIZE}${cursor}`;
  let page;
  try {
    page = await askJson("GET", path);
  } catch (error) {
    closeHistory(item, held);
    throw error;
  }
  if (held.past !== asked) return;
  asked.cursor = page.next_cursor;
  item.querySelector(".past ol").append(...page.memories.map(madeVersion));
  item.querySelector(".past").hidden = false;
  item.querySelector(".earlier").hidden = page.next_cursor === null;
  item.querySelector(".history").setAttribute("aria-expanded", "true");
}

function madeVersion(version) {
  const item = copied("version-template");
  const set = (name, text) => { item.querySelector(name).textContent = text; };
  set(".state", stateOf(version));
  set(".what", version.content);
  item.querySelector(".unseen").hidden = !holdsUnseen(version.content + version.quote);
  const learnt = `noted on ${when(version.recorded_at)}`;
  set(".caused", version.quote ? `In these words, ${learnt}:` : `${sourceOf(version)}, ${learnt}`);
  set(".quote", version.quote);
  item.querySelector(".quote").hidden = version.quote === "";
  return item;
}
