// A chat in the terminal, with memory: recall before the model is asked, append the turn after.
//
//     export OPENAI_API_KEY=... MODEL=... MEMLEDGER_API_KEY=...
//     node chat-loop.ts ann
//
// It needs no package. Node.js runs it as it is from 22.18 on, an older one (from 20 on) once `tsc`
// has taken its types off. It chats with any server that speaks OpenAI's interface, at
// OPENAI_BASE_URL, and remembers at MEMORY_URL. A memory that gives no answer within
// MEMORY_TIMEOUT_S seconds is told on standard error and costs the chat nothing else.

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

const MODEL_TIMEOUT_MS = 120_000;
const QUERY_CHARACTERS_MAX = 8_192;
const REFUSED_FOR_GOOD = [400, 413, 422];

type Message = { role: "system" | "user" | "assistant"; content: string };
type Recalled = { injection: Message | null; recall_id: string | null };
type Answered = { choices: { message: { content: string | null } }[] };
type Turn = {
  turn_id: string;
  conversation_id: string;
  user_text: string;
  assistant_text: string;
  occurred_at: string;
  recall_id: string | null;
};

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`${status} ${text}`);
    this.status = status;
  }
}

const post = async (
  address: string,
  key: string,
  body: object,
  timeoutMs: number,
): Promise<unknown> => {
  const response = await fetch(address, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Refusal(response.status, await response.text());
  return response.json();
};

// Returns a moment with the zone of this machine, which is the user's: "yesterday" is told by it.
const localTime = (moment: Date): string => {
  const minutes = -moment.getTimezoneOffset();
  const local = new Date(moment.getTime() + minutes * 60_000).toISOString().slice(0, -1);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = [hours, rest].map((part) => String(part).padStart(2, "0")).join(":");
  return `${local}${minutes < 0 ? "-" : "+"}${offset}`;
};

const tell = (text: string): void => console.error(`(${text})`);

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};

const setting = (name: string, otherwise?: string): string => {
  const value = process.env[name] ?? otherwise;
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
};

// What the memory knows of one user. It may be away: nothing here throws for that.
class Memory {
  readonly #url = setting("MEMORY_URL", "http://127.0.0.1:8765");
  readonly #key = setting("MEMLEDGER_API_KEY");
  readonly #timeoutMs = 1_000 * Number(setting("MEMORY_TIMEOUT_S", "2"));
  readonly #userId: string;
  #unsent: Turn[] = [];

  constructor(userId: string) {
    this.#userId = userId;
  }

  // Returns what bears on a question; without an answer, that there are no notes.
  async recall(question: string): Promise<Recalled> {
    // A server that takes no system message but the first wants the format "text": then `injection`
    // is a text that goes in front of what the user said.
    const query = question.slice(0, QUERY_CHARACTERS_MAX).toWellFormed();
    try {
      return (await this.#post("/v1/recall", { query, format: "openai" })) as Recalled;
    } catch (error) {
      tell(`the memory is away, so this is answered without notes: ${reasonOf(error)}`);
      return { injection: null, recall_id: null };
    }
  }

  // Appends a turn, behind those that were not acknowledged before. Each goes under the turn_id
  // that it was given once, so one that arrived although nobody said so counts once.
  async append(turn: Turn): Promise<void> {
    this.#unsent.push(turn);
    await this.send();
  }

  // Sends what waits, in order, until the memory does not answer.
  async send(): Promise<void> {
    for (let turn = this.#unsent[0]; turn !== undefined; turn = this.#unsent[0]) {
      try {
        await this.#post("/v1/turns", turn);
      } catch (error) {
        if (!(error instanceof Refusal && REFUSED_FOR_GOOD.includes(error.status))) {
          tell(`the memory is away, waiting turns: ${this.#unsent.length}: ${reasonOf(error)}`);
          return;
        }
        tell(`the memory refused a turn, which is not sent again: ${error.message}`);
      }
      this.#unsent.shift();
    }
  }

  // Tells that a conversation is over, so that nothing waits for more of it.
  async end(conversationId: string): Promise<void> {
    await this.send();
    try {
      await this.#post("/v1/conversations/end", { conversation_id: conversationId });
    } catch (error) {
      tell(`the memory was not told that the conversation is over: ${reasonOf(error)}`);
    }
    if (this.#unsent.length > 0) tell(`turns that the memory never had: ${this.#unsent.length}`);
  }

  #post(path: string, body: object): Promise<unknown> {
    const about = { user_id: this.#userId, ...body };
    return post(`${this.#url}${path}`, this.#key, about, this.#timeoutMs);
  }
}

// One conversation. What was sent once is never changed, notes included: it is the prefix of all
// later requests, and the provider finds it in its cache.
class Chat {
  readonly conversationId = randomUUID();
  readonly #url = setting("OPENAI_BASE_URL", "https://api.openai.com/v1");
  readonly #key = setting("OPENAI_API_KEY");
  readonly #model = setting("MODEL");
  readonly #memory: Memory;
  #messages: Message[] = [{ role: "system", content: "You are a helpful assistant." }];

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  // Returns the model's answer.
  async say(said: string): Promise<string> {
    const occurredAt = localTime(new Date());

    const { injection, recall_id } = await this.#memory.recall(said);
    const asked: Message[] = [...this.#messages, { role: "user", content: said }];
    if (injection !== null) asked.push(injection);

    const answer = await this.#ask(asked);
    const answered = answer.choices[0]?.message.content ?? "";
    this.#messages = [...asked, { role: "assistant", content: answered || "(no answer)" }];

    await this.#memory.append({
      turn_id: randomUUID(),
      conversation_id: this.conversationId,
      user_text: said,
      assistant_text: answered,
      occurred_at: occurredAt,
      recall_id,
    });
    return answered;
  }

  async #ask(messages: Message[]): Promise<Answered> {
    const body = { model: this.#model, messages };
    const address = `${this.#url}/chat/completions`;
    return (await post(address, this.#key, body, MODEL_TIMEOUT_MS)) as Answered;
  }
}

const userId = process.argv[2];
if (userId === undefined) throw new Error("name the user: node chat-loop.ts ann");
const memory = new Memory(userId);
const chat = new Chat(memory);
process.stdout.write(`${userId}: `);
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== "") {
    try {
      console.log(`assistant: ${await chat.say(line.trim())}`);
    } catch (error) {
      tell(`the model gave no answer, say it again: ${reasonOf(error)}`);
    }
  }
  process.stdout.write(`${userId}: `);
}
await memory.end(chat.conversationId);
