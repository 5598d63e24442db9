"""A chat in the terminal, with memory: recall before the model is asked, append the turn after.

    pip install anthropic httpx
    export ANTHROPIC_API_KEY=... MEMLEDGER_API_KEY=...
    python chat_loop.py ann

It chats with Anthropic's ``MODEL`` and remembers at ``MEMORY_URL``. A memory that gives no answer
within ``MEMORY_TIMEOUT_S`` seconds is told on standard error and costs the chat nothing else.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
from anthropic import Anthropic, APIError
from anthropic.types.beta import BetaMessageParam, BetaTextBlockParam

MODEL = os.environ.get("MODEL", "claude-opus-5-5")
SYSTEM = "You are a helpful assistant."
TOKENS_MAX = 2_000
QUERY_CHARACTERS_MAX = 8_192
REFUSED_FOR_GOOD = (400, 413, 422)


class Memory:
    """What the memory knows of one user. It may be away: no method raises for that."""

    def __init__(self, client: httpx.Client, user_id: str) -> None:
        self._client = client
        self._user_id = user_id
        self._unsent: deque[dict[str, Any]] = deque()

    def recall(self, question: str) -> dict[str, Any]:
        """Return what bears on a question; without an answer, that there are no notes."""
        asked = {"query": question[:QUERY_CHARACTERS_MAX], "format": "anthropic"}
        try:
            return self._post("/v1/recall", asked)
        except (httpx.HTTPError, ValueError) as error:
            tell(f"the memory is away, so this is answered without notes: {reason_of(error)}")
            return {"injection": None, "injection_headers": {}, "recall_id": None}

    def append(self, turn: dict[str, Any]) -> None:
        """Append a turn, behind those that were not acknowledged before.

        Each goes under the ``turn_id`` that it was given once, so one that arrived although nobody
        said so counts once.
        """
        self._unsent.append({**turn, "turn_id": str(uuid4())})
        self.send()

    def send(self) -> None:
        """Send what waits, in order, until the memory does not answer."""
        while self._unsent:
            try:
                self._post("/v1/turns", self._unsent[0])
            except (httpx.HTTPError, ValueError) as error:
                reason = reason_of(error)
                if not is_refused_for_good(error):
                    tell(f"the memory is away, waiting turns: {len(self._unsent)}: {reason}")
                    return
                tell(f"the memory refused a turn, which is not sent again: {reason}")
            self._unsent.popleft()

    def end(self, conversation_id: str) -> None:
        """Tell that a conversation is over, so that nothing waits for more of it."""
        self.send()
        try:
            self._post("/v1/conversations/end", {"conversation_id": conversation_id})
        except (httpx.HTTPError, ValueError) as error:
            tell(f"the memory was not told that the conversation is over: {reason_of(error)}")
        if self._unsent:
            tell(f"turns that the memory never had: {len(self._unsent)}")

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._client.post(path, json={"user_id": self._user_id, **body})
        answer.raise_for_status()
        answered: dict[str, Any] = answer.json()
        return answered


class Chat:
    """One conversation.

    What was sent once is never changed, notes included: it is the prefix of all later requests, and
    the provider finds it in its cache. The mark that it is to be cached up to here is no part of
    it, and stands on the newest message of the user.
    """

    def __init__(self, model: Anthropic, memory: Memory) -> None:
        self.conversation_id = str(uuid4())
        self._model = model
        self._memory = memory
        self._messages: list[BetaMessageParam] = []
        # Kept once they are told: the notes of earlier turns need them in every later request.
        self._headers: dict[str, str] = {}

    def say(self, said: str) -> str:
        """Return the model's answer."""
        occurred_at = datetime.now(UTC).astimezone().isoformat()

        recalled = self._memory.recall(said)
        notes: list[BetaMessageParam] = [recalled["injection"]] if recalled["injection"] else []
        self._headers |= recalled["injection_headers"]

        question: BetaTextBlockParam = {"type": "text", "text": said}
        marked: BetaTextBlockParam = {**question, "cache_control": {"type": "ephemeral"}}
        answer = self._model.beta.messages.create(
            model=MODEL,
            max_tokens=TOKENS_MAX,
            system=SYSTEM,
            messages=[*self._messages, {"role": "user", "content": [marked]}, *notes],
            extra_headers=self._headers,
        )
        answered = "".join(block.text for block in answer.content if block.type == "text")
        self._messages += [
            {"role": "user", "content": [question]},
            *notes,
            {"role": "assistant", "content": answered or "(no answer)"},
        ]

        self._memory.append(
            {
                "conversation_id": self.conversation_id,
                "user_text": said,
                "assistant_text": answered,
                "occurred_at": occurred_at,
                "recall_id": recalled["recall_id"],
            }
        )
        return answered


def is_refused_for_good(error: Exception) -> bool:
    """Whether the memory would refuse the same request again."""
    return (
        isinstance(error, httpx.HTTPStatusError) and error.response.status_code in REFUSED_FOR_GOOD
    )


def reason_of(error: Exception) -> str:
    """Return what is wrong: where the memory answered, what it answered."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"{error.response.status_code} {error.response.text}"
    return f"{error}"


def tell(text: str) -> None:
    """Tell whoever runs this."""
    print(f"({text})", file=sys.stderr, flush=True)


def main(user_id: str) -> None:
    """Chat until the input ends."""
    client = httpx.Client(
        base_url=os.environ.get("MEMORY_URL", "http://127.0.0.1:8765"),
        headers={"Authorization": f"Bearer {os.environ['MEMLEDGER_API_KEY']}"},
        timeout=float(os.environ.get("MEMORY_TIMEOUT_S", "2")),
    )
    with client, Anthropic() as model:
        memory = Memory(client, user_id)
        chat = Chat(model, memory)
        print(f"{user_id}: ", end="", flush=True)
        for line in sys.stdin:
            if line.strip():
                try:
                    print(f"assistant: {chat.say(line.strip())}")
                except APIError as error:
                    tell(f"the model gave no answer, say it again: {error}")
            print(f"{user_id}: ", end="", flush=True)
        memory.end(chat.conversation_id)


if __name__ == "__main__":
    unset = [name for name in ("ANTHROPIC_API_KEY", "MEMLEDGER_API_KEY") if name not in os.environ]
    if unset:
        sys.exit(f"set {' and '.join(unset)}")
    match sys.argv:
        case [_, user_id]:
            main(user_id)
        case _:
            sys.exit("name the user: python chat_loop.py ann")
