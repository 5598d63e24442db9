// What the page says of memories, in words.

const LABEL_CHARACTERS_MAX = 60;
// A period begins at midnight where it was told: noon is in the same day nearly everywhere.
const NOON_MS = 12 * 3_600_000;
// Dates are told in the language of the page.
const LANGUAGE = document.documentElement.lang;

const SLOTS = {
  name: "Name", residence: "Home", origin: "Origin", employer: "Employer", occupation: "Work",
  diet: "Diet", birthday: "Birthday", language: "Language", allergy: "Allergy", need: "Need",
  preference: "Preference", relation: "People", routine: "Routine", possession: "Belongings",
  project: "Project", goal: "Goal", task: "Task", decision: "Decision", event: "Event",
  rule: "How to answer you", note: "Note", episode: "Conversation",
};

const SECRET = "it looks like a secret, such as a password or a card number, which is never kept";
const REFUSED = {
  secret: SECRET, password: SECRET, one_time_code: SECRET, payment_card: SECRET,
  bank_account: SECRET, national_id: SECRET,
  content_too_long: "it is too long",
  content_empty: "it says nothing",
  content_unreadable: "it cannot be read",
  instruction: "it would have the assistant drop its rules",
  unknown_memory: "it was changed or removed meanwhile, so refresh the list",
};

export function shortened(text) {
  const characters = [...text];
  if (characters.length <= LABEL_CHARACTERS_MAX) return text;
  return `${characters.slice(0, LABEL_CHARACTERS_MAX).join("")}…`;
}

export function when(moment, precision = "moment") {
  const date = new Date(moment);
  if (precision === "moment") return date.toLocaleDateString(LANGUAGE, { dateStyle: "medium" });
  const noon = new Date(date.getTime() + NOON_MS);
  const options = {
    year: { year: "numeric" },
    month: { year: "numeric", month: "long" },
  }[precision] ?? { dateStyle: "medium" };
  const told = noon.toLocaleDateString(LANGUAGE, { ...options, timeZone: "UTC" });
  return precision === "week" ? `the week of ${told}` : told;
}

// Joiners shape letters and emoji, marks of direction belong to scripts, and tags to some flags.
export function holdsUnseen(text) {
  const plain = text
    .replace(/\u{1F3F4}[\u{E0020}-\u{E007E}]+\u{E007F}/gu, "")
    .replace(/[\u200C-\u200F\u061C]/gu, "");
  return /[\p{Cf}\p{Co}\p{Cn}]|[\u{E0000}-\u{E0FFF}]/u.test(plain);
}

export function sourceOf(memory) {
  if (memory.source === "system") return `from ${memory.provenance?.system ?? "a system"}`;
  if (memory.source === "assistant") return "said by the assistant";
  if (memory.source === "curation") return "entered by hand";
  return memory.confidence === "inferred" ? "concluded from what you said" : "you said so";
}

export function stateOf(version) {
  const since = when(version.valid_from, version.valid_from_precision);
  switch (version.state) {
    case "live": return `Holds now, since ${since}`;
    case "superseded": return `Held from ${since} until ${when(version.valid_to)}`;
    case "retracted": return `Was wrong: withdrawn on ${when(version.retracted_at)}`;
    case "merged": return `Since ${since}; another memory stands for it now`;
    default: return `Held from ${since}; ended by itself on ${when(version.expires_at)}`;
  }
}

export function timeOf(date) {
  return date.toLocaleTimeString(LANGUAGE, { timeStyle: "short" });
}

export function slotOf(memory) {
  return SLOTS[memory.slot] ?? memory.slot;
}

// Returns why nothing came of a change, or null where something did.
export function refusalOf(turn) {
  if (turn.closing === "stored" || turn.closing === "nothing_found") return null;
  const reasons = turn.rejected.flatMap((refused) => refused.reasons);
  const known = reasons.map((reason) => REFUSED[reason]).find((text) => text !== undefined);
  return `Nothing was changed: ${known ?? "the rules of what may be kept do not allow it"}.`;
}
