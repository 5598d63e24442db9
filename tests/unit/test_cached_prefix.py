"""A chat with notes leaves what was sent before as it was, so that a provider finds it cached.

The real SDK talks to a fake of the provider over HTTP; notes are recalled before each turn, and the
turn is appended after it, over the real routes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from anthropic import AsyncAnthropic
from fastapi import FastAPI, Request

from producers.append import TurnAppender
from producers.routes import ingest_router
from projections.memories import Memories
from projections.recall import Recall
from projections.routes import query_router
from schemas.http import install_problem_handlers
from schemas.http_body import JsonBodies
from schemas.injection import BLOCK_START, cut_injection
from tests.support.model_fake import ModelFake, Reply, model_fake
from tests.support.model_fake.asked import Asked
from tests.support.recalled import recalled, result_of
from tests.unit.producers.fakes import InMemoryKeyring, InMemoryLog

TURNS = 15
TENANT, USER = "acme", "ann"
RULES = "You are a careful assistant."

Message = dict[str, Any]
Ask = Callable[["_Chat", str, Any], Awaitable[str]]


class _Memory:
    """Recalls what the last turns said, as they stand in the log: other notes for each turn."""

    def __init__(self) -> None:
        self.keyring, self.log = InMemoryKeyring(), InMemoryLog()

    async def recall(self, _subject: UUID, _query: str, **_arguments: Any) -> Any:
        said = [turn.user_text for turn in self.log.turns_of(self.keyring.keys_of(TENANT, USER))]
        # Every fourth question finds nothing, as questions do.
        found = [] if len(said) % 4 == 3 else said[-3:]
        return result_of(*(recalled(cut_injection(text).strip()) for text in reversed(found)))

    def app(self) -> FastAPI:
        async def authenticate(_token: str) -> str:
            return TENANT

        async def tenant_of(_request: Request) -> str:
            return TENANT

        async def find_subject(tenant: str, user_id: str) -> UUID | None:
            return self.keyring.keys_of(tenant, user_id).subject

        app = FastAPI()
        install_problem_handlers(app)
        bodies = JsonBodies(bytes_max=2**20, held_bytes_max=2**20, remedy="send less")
        appender = TurnAppender(self.keyring, self.log, 4)
        app.include_router(ingest_router(appender, authenticate, bodies=bodies))
        app.include_router(
            query_router(
                recall=cast("Recall", self),
                memories=cast("Memories", None),
                authenticate=tenant_of,
                find_subject=find_subject,
            )
        )
        return app


@dataclass
class _Chat:
    """A conversation as the chat app keeps it."""

    client: AsyncAnthropic
    system: str = RULES
    messages: list[Message] = field(default_factory=list)

    async def ask(self, headers: dict[str, str] | None = None) -> str:
        answer = await self.client.beta.messages.create(
            model="claude-opus-5-5",
            max_tokens=100,
            system=[{"type": "text", "text": self.system, "cache_control": {"type": "ephemeral"}}],
            messages=cast("Any", self.messages),
            extra_headers=headers or {},
        )
        (block,) = answer.content
        assert block.type == "text"
        self.messages.append({"role": "assistant", "content": block.text})
        return block.text


async def _as_a_message(chat: _Chat, said: str, recalled: Any) -> str:
    chat.messages.append({"role": "user", "content": said})
    if recalled["injection"] is not None:
        chat.messages.append(recalled["injection"])
    return await chat.ask(recalled["injection_headers"])


async def _in_the_users_message(chat: _Chat, said: str, recalled: Any) -> str:
    chat.messages.append({"role": "user", "content": f"{recalled['injection']}\n\n{said}".strip()})
    return await chat.ask()


async def _in_the_system_prompt(chat: _Chat, said: str, recalled: Any) -> str:
    chat.system = f"{RULES}\n{recalled['injection']}"
    chat.messages.append({"role": "user", "content": said})
    return await chat.ask()


async def _dropped_later(chat: _Chat, said: str, recalled: Any) -> str:
    chat.messages = [message for message in chat.messages if message["role"] != "system"]
    return await _as_a_message(chat, said, recalled)


async def _in_front_of_the_history(chat: _Chat, said: str, recalled: Any) -> str:
    chat.messages.append({"role": "user", "content": said})
    first = cut_injection(chat.messages[0]["content"]).strip()
    chat.messages[0]["content"] = f"{recalled['injection']}\n{first}".strip()
    return await chat.ask()


def _played(ask: Ask, form: str) -> tuple[ModelFake, _Memory]:
    async def play() -> tuple[ModelFake, _Memory]:
        memory = _Memory()
        transport = httpx.ASGITransport(memory.app(), raise_app_exceptions=True)
        async with (
            model_fake() as fake,
            httpx.AsyncClient(
                transport=transport,
                base_url="http://memory",
                headers={"Authorization": "Bearer key"},
            ) as notes,
            AsyncAnthropic(
                api_key="k", base_url=fake.base_url("anthropic"), max_retries=0
            ) as client,
        ):
            fake.standing = lambda asked: Reply(text=f"Answer {len(asked.body['messages'])}")
            chat = _Chat(client=client)
            for number in range(TURNS):
                said = f"I have {number} cats and “quotes” and ünïcode."
                await _turn(notes, chat, ask, form=form, said=said, number=number)
        return fake, memory

    return asyncio.run(play())


async def _turn(
    notes: httpx.AsyncClient, chat: _Chat, ask: Ask, *, form: str, said: str, number: int
) -> None:
    """Recall, ask, append."""
    question = {"user_id": USER, "query": said, "format": form}
    recalled = (await notes.post("/v1/recall", json=question)).raise_for_status().json()
    answered = await ask(chat, said, recalled)
    newest = next(message for message in reversed(chat.messages) if message["role"] == "user")
    turn = {
        "user_id": USER,
        "conversation_id": "c",
        "turn_id": f"t{number}",
        "user_text": newest["content"],
        "assistant_text": answered,
        "recall_id": recalled["recall_id"],
    }
    (await notes.post("/v1/turns", json=turn)).raise_for_status()


def _raw(asked: Asked, name: str) -> bytes:
    """Return the bytes of a field of the body."""
    text = asked.raw.decode()
    start = text.index(f'"{name}":') + len(name) + 3
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start:end].encode()


def _changed_prefixes(asked: Sequence[Asked]) -> list[int]:
    """Return the requests in which something in front of the newest turn was not sent before.

    A provider hashes tools, system and messages in this order. What was sent before, and the answer
    to it, must stand in front of what is new, byte for byte.
    """
    return [
        number for number in range(1, len(asked)) if not _goes_on(asked[number - 1], asked[number])
    ]


def _goes_on(before: Asked, after: Asked) -> bool:
    front = _raw(before, "messages")[:-1]
    rest = _raw(after, "messages")
    same = {name: value for name, value in before.body.items() if name != "messages"}
    if _raw(before, "system") != _raw(after, "system") or not rest.startswith(front):
        return False
    added = after.body["messages"][len(before.body["messages"]) :]
    return (
        same == {name: value for name, value in after.body.items() if name != "messages"}
        and [message["role"] for message in added[:2]] == ["assistant", "user"]
        and all(message["role"] == "system" for message in added[2:])
    )


@pytest.mark.parametrize(
    ("ask", "form"),
    [(_as_a_message, "anthropic"), (_in_the_users_message, "text"), (_in_the_users_message, "xml")],
    ids=["message", "text", "xml"],
)
def test_what_stands_in_front_of_the_newest_turn_was_sent_before(ask: Ask, form: str) -> None:
    fake, memory = _played(ask, form)

    assert fake.problems == []
    assert len(fake.asked) == TURNS
    assert _changed_prefixes(fake.asked) == []
    # There were notes, each time others, in all but the turns of which nothing was found.
    noted = [asked for asked in fake.asked if BLOCK_START in str(asked.body["messages"][-1])]
    assert len(noted) == TURNS - 1 - TURNS // 4
    turns = memory.log.turns_of(memory.keyring.keys_of(TENANT, USER))
    assert len({turn.recall_id for turn in turns} - {None}) == TURNS
    # What a client sends back with its turns is cut out: no note becomes the user's words.
    for number, turn in enumerate(turns):
        said = f"I have {number} cats and “quotes” and ünïcode."
        assert cut_injection(turn.user_text).strip() == said


@pytest.mark.parametrize(
    ("ask", "form"),
    [
        (_in_the_system_prompt, "text"),
        (_dropped_later, "anthropic"),
        (_in_front_of_the_history, "text"),
    ],
    ids=["system prompt", "dropped later", "in front"],
)
def test_notes_that_are_put_elsewhere_change_what_was_sent_before(ask: Ask, form: str) -> None:
    fake, _ = _played(ask, form)

    assert len(fake.asked) == TURNS
    assert len(_changed_prefixes(fake.asked)) > TURNS // 2


def test_a_message_without_its_header_or_in_another_place_is_refused_by_the_provider() -> None:
    async def without_header(chat: _Chat, said: str, recalled: Any) -> str:
        return await _as_a_message(chat, said, {**recalled, "injection_headers": {}})

    async def in_front(chat: _Chat, said: str, recalled: Any) -> str:
        if recalled["injection"] is not None:
            chat.messages.append(recalled["injection"])
        chat.messages.append({"role": "user", "content": said})
        return await chat.ask(recalled["injection_headers"])

    for ask, problem in ((without_header, "beta"), (in_front, "behind one of")):
        with pytest.raises(Exception, match=problem):
            _played(ask, "anthropic")
