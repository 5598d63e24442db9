// What is remembered of the holder of a token, and what that person may do about it.
//
// The token comes behind the # of the address, which no browser sends to a server. It is taken out of
// the address at once and kept in memory alone. Whatever a memory holds is set as text, never parsed.

import { Refusal, ask, askJson, begin } from "./gateway.js";
import { made } from "./memory.js";
import { listenToSummaries, loadSummaries, shutSummaries } from "./summaries.js";
import { element, guarded, tell, tellBegun, tried } from "./telling.js";
import { timeOf, when } from "./words.js";

const TOKEN = "#token=";
const PAGE_SIZE = 25;
const EXPORT_MS_MAX = 600_000;
const WARNED_MS_BEFORE_END = 120_000;
// A timer of more ends at once.
const TIMER_MS_MAX = 2 ** 31 - 1;

const CLOSED = {
  none: [
    "Open this page from your app",
    "The app that you chat in gives you a link to this page that is good for a short time. The " +
      "page forgets it when it is reloaded: open it from the app again.",
  ],
  ended: [
    "This link has ended",
    "Links to this page are good for a short time only. Go back to the app that you chat in and " +
      "open the page from there again. What you saved is kept.",
  ],
  unreachable: [
    "Nothing can be shown right now",
    "The assistant's memory does not answer. Wait a moment, and open this page from your app again.",
  ],
};

// `asked` numbers what was asked for: only the answer to the latest is shown.
const list = { query: "", cursor: null, asked: 0 };
const timers = [];

// The token's life

function open() {
  if (!location.hash.startsWith(TOKEN)) return;
  const token = location.hash.slice(TOKEN.length);
  history.replaceState(null, "", location.pathname + location.search);
  shut();
  begin(token, () => close("ended"));
  tried(start);
}

async function start() {
  tellBegun("Loading…");
  try {
    showUser(await ask("GET", ""));
    element("open").hidden = false;
    await loadAll();
  } catch (error) {
    // Without knowing whose page it is, nothing of it can be used.
    if (error instanceof Refusal && element("whose").hidden) close("unreachable");
    else throw error;
  }
}

async function loadAll() {
  await load(false);
  await loadSummaries();
}

function showUser(answer) {
  const user = JSON.parse(answer.text);
  // By the gateway's clock, since this one may be wrong.
  const left = new Date(user.expires_at) - new Date(answer.date ?? Date.now());
  element("user").textContent = user.user_id;
  element("ends").textContent = timeOf(new Date(Date.now() + left));
  element("ends").dateTime = user.expires_at;
  element("whose").hidden = false;
  after(left, () => close("ended"));
  if (left > WARNED_MS_BEFORE_END) {
    after(left - WARNED_MS_BEFORE_END, () => {
      tellBegun("This page works for two more minutes. Save what you are writing.");
    });
  }
  showPause(user);
}

function after(pause, act) {
  timers.push(setTimeout(act, Math.min(pause, TIMER_MS_MAX)));
}

function shut() {
  begin(null);
  timers.splice(0).forEach(clearTimeout);
  element("deletion").close();
  element("memories").replaceChildren();
  shutSummaries();
  element("deletion-what").textContent = "";
  element("query").value = "";
  Object.assign(list, { query: "", cursor: null, asked: list.asked + 1 });
  for (const id of ["open", "whose", "closed"]) element(id).hidden = true;
  for (const busy of document.querySelectorAll("[aria-disabled=true]")) {
    busy.removeAttribute("aria-disabled");
  }
  tell("");
}

// Forgets the token and all that it showed, and tells what to do.
function close(why) {
  shut();
  const [title, text] = CLOSED[why];
  element("closed-title").textContent = title;
  element("closed-text").textContent = text;
  element("closed").hidden = false;
  element("closed-title").focus();
}

// Pausing, and taking it along

function showPause(user) {
  const { paused } = user;
  element("pause-title").textContent = paused ? "Memory is paused" : "Memory is on";
  element("pause-text").textContent = paused
    ? `Since ${when(user.paused_since)} nothing new is noted, and nothing is recalled when you chat. ` +
      "What is below is kept."
    : "What you say may be noted, and recalled when you chat.";
  element("pause").textContent = paused ? "Resume memory" : "Pause memory";
  element("pause").closest(".panel").classList.toggle("paused", paused);
}

async function togglePause() {
  const paused = !element("pause").closest(".panel").classList.contains("paused");
  tellBegun("Saving…");
  showPause(await askJson("PUT", "/pause", { paused }));
  tell(paused ? "Memory is paused." : "Memory is on again.");
}

async function download() {
  tellBegun("Preparing the file…");
  const { text } = await ask("GET", "/export", undefined, EXPORT_MS_MAX);
  if (JSON.parse(text).complete !== true) throw new Refusal(0, {});
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "memories.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  tell("Downloaded as memories.json.");
}

// The list

async function load(more) {
  list.asked += 1;
  const mine = list.asked;
  tellBegun(list.query === "" ? "Loading…" : "Searching…");
  let cursor = more ? list.cursor : null;
  let page;
  do {
    page = await pageBehind(cursor);
    if (mine !== list.asked) return;
    cursor = page.next_cursor;
    // A search may look through many memories before it finds one.
  } while (page.memories.length === 0 && cursor !== null);
  list.cursor = cursor;
  const items = page.memories.map((memory) => made(memory, afterRemoval));
  const all = element("memories");
  if (more) all.append(...items);
  else all.replaceChildren(...items);
  element("more").hidden = cursor === null;
  element("all").hidden = list.query === "";
  element("list-title").textContent = list.query === "" ? "Memories" : "Found";
  showWhetherEmpty();
  if (more) (items[0] ?? element("list-title")).focus();
  const count = all.children.length;
  const rest = cursor === null ? "" : ", and there are more";
  tell(count === 0 ? "" : `${count} ${count === 1 ? "memory" : "memories"} shown${rest}.`);
}

function pageBehind(cursor) {
  const asked = { limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
  return list.query === ""
    ? askJson("GET", `/memories?${new URLSearchParams(asked)}`)
    : askJson("POST", "/search", { query: list.query, ...asked });
}

function showWhetherEmpty() {
  const empty = element("memories").children.length === 0 && element("more").hidden;
  element("none").hidden = !empty;
  element("none").textContent = list.query === ""
    ? "Nothing is remembered about you."
    : `Nothing is found for “${list.query}”.`;
}

// A summary goes with a memory from it.
function afterRemoval() {
  showWhetherEmpty();
  tried(loadSummaries);
}

function search(query) {
  list.query = query;
  tried(() => load(false));
}

function listen(id, event, act) {
  element(id).addEventListener(event, (happened) => {
    happened.preventDefault();
    act();
  });
}

listen("search", "submit", () => search(element("query").value.trim()));
listen("all", "click", () => {
  element("query").value = "";
  search("");
  element("query").focus();
});
listen("reload", "click", () => guarded(element("reload"), loadAll));
listenToSummaries();
listen("more", "click", () => guarded(element("more"), () => load(true)));
listen("pause", "click", () => guarded(element("pause"), togglePause, true));
listen("export", "click", () => guarded(element("export"), download));
window.addEventListener("hashchange", open);

if (location.hash.startsWith(TOKEN)) open();
else close("none");
