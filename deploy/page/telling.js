// Telling what happens, also to those who do not see the page.

import { Outdated, Refusal } from "./gateway.js";

export const element = (id) => document.getElementById(id);

export function copied(template) {
  return element(template).content.firstElementChild.cloneNode(true);
}

// What went well goes away again; what did not stays until something else is said.
const TOLD_MS = 8_000;
let leaving;

// Tells what is under way or to come; it stays until something else is said.
export function tellBegun(text) {
  say(text, "");
}

export function tell(text) {
  say(text, "");
  leaving = setTimeout(() => say("", ""), TOLD_MS);
}

export function complain(text) {
  say("", text);
}

function say(status, trouble) {
  clearTimeout(leaving);
  element("status").textContent = status;
  element("trouble").textContent = trouble;
}

// Does what a button asks for, tells what fails, and does nothing twice at once. The button keeps the
// focus, which it would lose if it were disabled.
export async function guarded(button, act, changing = false) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  await tried(act, changing);
  button.removeAttribute("aria-disabled");
}

// Does something and tells what fails; `changing` where something may have been changed by then.
export async function tried(act, changing = false) {
  try {
    await act();
  } catch (error) {
    if (error instanceof Outdated) return;
    if (!(error instanceof Refusal)) console.error(error);
    complain(explained(error, changing));
  }
}

function explained(error, changing) {
  if (error.code === "unknown_memory") return "This memory is not there any more. Refresh the list.";
  if (error.status === 429) return "That was too much at once. Wait a moment and try again.";
  if (error.status === 422 && error.field) return `That cannot be taken: it ${error.field.problem}.`;
  if (error.status === 413) return "That is too long.";
  return changing
    ? "No answer came, so this may be saved or not. Refresh the list before you try again."
    : "What is remembered cannot be shown right now. Try again in a moment.";
}
