// Asking the gateway on behalf of the holder of a token.

const API = new URL("v1/me", document.baseURI);
const REQUEST_MS_MAX = 20_000;
// How long a change is waited for, and by which pauses it is asked for.
const APPLIED_MS_MAX = 15_000;
const PAUSE_MS_FIRST = 150;
const PAUSE_MS_MAX = 1_500;

// Each token makes a session; what an earlier one was still waiting for is thrown away.
const session = { number: 0, token: null, onRefused: () => {} };

// The gateway refuses, or gives no answer (status 0).
export class Refusal extends Error {
  constructor(status, body) {
    super(body.detail ?? "");
    this.status = status;
    this.code = body.code ?? "";
    this.field = body.errors?.[0];
  }
}

// An answer to a token that is not in use any more.
export class Outdated extends Error {}

// Begins to ask with a token, or with none; `onRefused` is called where it is good no longer.
export function begin(token, onRefused = () => {}) {
  session.number += 1;
  session.token = token;
  session.onRefused = onRefused;
}

export async function ask(method, path, body, msMax = REQUEST_MS_MAX) {
  const mine = session.number;
  const headers = { Authorization: `Bearer ${session.token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  let answer;
  try {
    response = await fetch(`${API}${path}`, {
      method, headers, body: JSON.stringify(body), cache: "no-store", credentials: "omit",
      redirect: "error", referrerPolicy: "no-referrer", signal: AbortSignal.timeout(msMax),
    });
    answer = await response.text();
  } catch {
    if (mine !== session.number) throw new Outdated();
    throw new Refusal(0, {});
  }
  if (mine !== session.number) throw new Outdated();
  if (response.status === 401) {
    session.onRefused();
    throw new Outdated();
  }
  if (!response.ok) throw new Refusal(response.status, parsed(answer));
  return { text: answer, date: response.headers.get("Date") };
}

export const askJson = async (...asked) => JSON.parse((await ask(...asked)).text);

// Returns what became of a change, or null where that is not known in time.
export async function applied(turn) {
  const end = performance.now() + APPLIED_MS_MAX;
  let pause = PAUSE_MS_FIRST;
  while (performance.now() < end) {
    await new Promise((resolve) => { setTimeout(resolve, pause); });
    pause = Math.min(pause * 1.6, PAUSE_MS_MAX);
    try {
      const account = await askJson("GET", `/turns/${turn}`);
      if (account.closing !== null) return account;
    } catch (error) {
      if (error.code !== "unknown_turn") throw error;
    }
  }
  return null;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
