// What the holder's chats came to: a list that is only read.

import { askJson } from "./gateway.js";
import { copied, element, guarded } from "./telling.js";
import { holdsUnseen, when } from "./words.js";

const PAGE_SIZE = 10;
// `asked` numbers what was asked for: only the answer to the latest is shown.
const list = { cursor: null, asked: 0 };

// Shows the latest summaries, or those behind the ones that are shown.
export async function loadSummaries(more = false) {
  list.asked += 1;
  const mine = list.asked;
  const cursor = more && list.cursor !== null ? { cursor: list.cursor } : {};
  const page = await askJson("GET", `/summaries?${new URLSearchParams({ limit: PAGE_SIZE, ...cursor })}`);
  if (mine !== list.asked) return;
  const items = page.summaries.map(madeSummary);
  if (more) element("summaries").append(...items);
  else element("summaries").replaceChildren(...items);
  list.cursor = page.next_cursor;
  element("more-chats").hidden = page.next_cursor === null;
  element("chats").hidden = element("summaries").children.length === 0;
  if (more) (items[0] ?? element("chats-title")).focus();
}

// Forgets what was shown.
export function shutSummaries() {
  Object.assign(list, { cursor: null, asked: list.asked + 1 });
  element("summaries").replaceChildren();
  element("chats").hidden = true;
}

export function listenToSummaries() {
  element("more-chats").addEventListener("click", () => {
    guarded(element("more-chats"), () => loadSummaries(true));
  });
}

function madeSummary(summary) {
  const item = copied("summary-template");
  const part = (name) => item.querySelector(name);
  const [first, last] = [summary.first_said_at, summary.last_said_at].map((moment) => when(moment));
  part(".state").textContent = first === last ? `Chat of ${first}` : `Chat from ${first} to ${last}`;
  part(".what").textContent = summary.summary;
  part(".unseen").hidden = !holdsUnseen(summary.summary);
  item.tabIndex = -1;
  return item;
}
