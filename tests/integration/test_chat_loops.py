"""The examples of a chat with memory, as they stand, against a gateway and a fake of the model."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, cast

import httpx
import pytest

from deploy.embedded import EmbeddedPostgres
from projections.injection import ANTHROPIC_BETA
from schemas.injection import BLOCK_START
from schemas.keyring import SubjectKeys
from schemas.log.sealed import open_record
from schemas.memory import Confidence, MemoryKind
from schemas.proposals import Action, Operation
from schemas.records import Turn
from schemas.slots import Slot
from schemas.topics import TURNS
from tests import conftest
from tests.browser.scene import PageScene, page_scene
from tests.conftest import GENERATION, PARTITIONS, TestStores, recreate_topics
from tests.support.command import clean_environment
from tests.support.documents import ROOT
from tests.support.model_fake import ModelFake, Reply, model_fake_in_thread, status
from tests.support.model_fake.asked import Asked
from tests.support.relay import Passing, Relay
from tests.support.terminal import Terminal, opened_terminal
from tests.support.typescript import compiled, missing_typescript
from tests.support.waiting import wait_until

Language = Literal["python", "typescript"]

EXAMPLES: Final = ROOT / "docs" / "examples"
ZONE: Final = "Asia/Kolkata"
ZONE_MINUTES: Final = 330
MARK: Final = b',"cache_control":{"type":"ephemeral"}'
"""Up to where the provider is to cache; no part of what it caches."""

NOTED: Final = "I am allergic to peanuts."
ASKED: Final = "What may I cook tonight? I like “Thai” food, ünïcode too."
AWAY: Final = "My sister is called Mia."
BROKEN_OFF: Final = "She lives in Oslo."
TOO_MUCH: Final = "Overload the model."
BACK: Final = "What did I tell you of peanuts?"
ANSWERED: Final = (NOTED, ASKED, AWAY, BROKEN_OFF, BACK)

fresh_database = contextmanager(conftest._fresh_database)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A chat that is over.

    Attributes:
        language: of the example.
        user: who chatted.
        exit_status: how the example ended.
        answers: by what was said, what was shown.
        errors: by what was said, what was told on standard error meanwhile.
        asked: the requests that the model was asked with, by what was said.
        problems: what a provider would have refused them for.
    """

    language: Language
    user: str
    exit_status: int
    answers: Mapping[str, str]
    errors: Mapping[str, str]
    asked: Mapping[str, Asked]
    problems: list[str]


@pytest.fixture(scope="module")
def scene(
    postgres: EmbeddedPostgres, kafka_bootstrap: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageScene]:
    recreate_topics(kafka_bootstrap)
    with fresh_database(postgres) as database_url, fresh_database(postgres) as keyring_url:
        stores = TestStores(
            database_url=database_url,
            keyring_url=keyring_url,
            kafka_bootstrap=kafka_bootstrap,
            key_directory=tmp_path_factory.mktemp("chat") / "keys",
            generation=GENERATION,
            partitions=PARTITIONS,
        )
        with page_scene(stores) as running:
            running.extractor.proposals = {said: (_operation(said),) for said in ANSWERED}
            yield running


@pytest.fixture(scope="module", params=["python", "typescript"])
def language(request: pytest.FixtureRequest) -> Language:
    return cast("Language", request.param)


@pytest.fixture(scope="module")
def command(language: Language, tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    if language == "python":
        return [sys.executable, EXAMPLES / "chat_loop.py"]
    missing = missing_typescript()
    if missing is not None:
        pytest.skip(missing)
    return ["node", compiled(tmp_path_factory.mktemp("javascript")) / "chat-loop.js"]


@pytest.fixture(scope="module")
def chat(
    language: Language,
    command: list[str | Path],
    scene: PageScene,
    tmp_path_factory: pytest.TempPathFactory,
) -> Told:
    user = f"ann-{language}"
    relay = Relay(httpx.URL(scene.url).port or 0)
    scene.ask(relay.come())
    try:
        with (
            _model() as fake,
            opened_terminal(
                [*command, user],
                environment=_environment(fake, relay.url, scene.client.headers["authorization"]),
                directory=tmp_path_factory.mktemp("terminal"),
                prompt=f"{user}: ",
            ) as terminal,
        ):
            answers, errors = _story(scene, relay, terminal, user)
            return Told(
                language=language,
                user=user,
                exit_status=terminal.end(),
                answers=answers,
                errors={**errors, "": terminal.told},
                asked={_newest(asked): asked for asked in fake.asked},
                problems=fake.problems,
            )
    finally:
        scene.ask(relay.leave())


def _story(
    scene: PageScene, relay: Relay, terminal: Terminal, user: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Chat while the memory is there, away, breaks off its answers, and is there again."""
    answers, errors = {}, {}

    def say(said: str) -> None:
        before = terminal.told
        answers[said] = terminal.say(said)
        errors[said] = terminal.told[len(before) :]

    say(NOTED)
    _noted(scene, user, NOTED)
    say(ASKED)
    _noted(scene, user, ASKED)
    scene.ask(relay.leave())
    say(AWAY)
    scene.ask(relay.come(Passing.QUESTIONS))
    say(BROKEN_OFF)
    scene.ask(relay.come())
    say(TOO_MUCH)
    say(BACK)
    _noted(scene, user, BACK)
    return answers, errors


def test_the_second_turn_is_answered_with_the_note_of_the_first(chat: Told) -> None:
    assert chat.answers[ASKED] == "assistant: Answer 2"
    assert BLOCK_START not in str(chat.asked[NOTED].body)
    question, notes = chat.asked[ASKED].body["messages"][-2:]
    assert (question["role"], _text(question)) == ("user", ASKED)
    assert notes["role"] == "system"
    assert _content(NOTED) in notes["content"]


def test_the_provider_would_take_every_request(chat: Told) -> None:
    assert chat.problems == []
    if chat.language == "python":
        # Also where nothing new was recalled: the notes of earlier turns need it.
        with_notes = [chat.asked[said] for said in ANSWERED[1:]]
        assert {asked.headers.get("anthropic-beta") for asked in with_notes} == {ANTHROPIC_BETA}


def test_what_was_sent_before_is_the_beginning_of_what_is_sent_next(chat: Told) -> None:
    requests = [chat.asked[said] for said in ANSWERED]
    for before, after in pairwise(requests):
        assert _messages(after).startswith(_messages(before)[:-1] + b',{"role":"assistant"')
    assert _messages(requests[-1]).count(b"Overload") == 0


def test_only_the_newest_message_of_the_user_is_marked_for_the_cache(chat: Told) -> None:
    for said in ANSWERED:
        marked = [one for one in chat.asked[said].body["messages"] if "cache_control" in str(one)]
        # The other provider caches without being told.
        assert [_text(one) for one in marked] == ([said] if chat.language == "python" else [])
        assert chat.asked[said].raw.count(MARK) == len(marked)


def test_the_record_of_a_turn_names_the_recall_that_it_was_answered_with(
    chat: Told, scene: PageScene
) -> None:
    noted = _noted(scene, chat.user, ASKED)
    turn = _got(scene, f"/v1/turns/{noted['turn_id']}", chat.user)
    address = f"/v1/recalls/{turn['recall_id']}"

    def served() -> dict[str, Any] | None:
        answer = scene.client.get(address, params={"user_id": chat.user})
        known = answer.json() if answer.status_code == httpx.codes.OK else None
        return known if known and known["turn_ids"] else None

    recall = wait_until(served, what="the record of the recall")
    assert recall["turn_ids"] == [noted["turn_id"]]
    assert recall["block"] == "reproduced"
    assert recall["injection"] == chat.asked[ASKED].body["messages"][-1]


def test_the_chat_goes_on_without_the_memory_and_says_so(chat: Told) -> None:
    assert [chat.answers[said] for said in (AWAY, BROKEN_OFF, BACK)] == [
        f"assistant: Answer {number}" for number in (3, 4, 5)
    ]
    for said, waiting in ((AWAY, 1), (BROKEN_OFF, 2)):
        without_notes, not_appended = chat.errors[said].splitlines()
        assert without_notes.startswith("(the memory is away, so this is answered without notes: ")
        assert not_appended.startswith(f"(the memory is away, waiting turns: {waiting}: ")
        assert chat.asked[said].body["messages"][-1]["role"] == "user"
    assert [chat.errors[said] for said in (NOTED, ASKED, BACK)] == ["", "", ""]
    assert BLOCK_START in str(chat.asked[BACK].body["messages"][-1])


def test_what_was_said_meanwhile_is_appended_later_and_counts_once(
    chat: Told, scene: PageScene
) -> None:
    turns = _turns(scene, chat.user)
    # The answer to one append was broken off, so it was sent again.
    assert [turn.user_text for turn in turns] == [NOTED, ASKED, AWAY, AWAY, BROKEN_OFF, BACK]
    assert len({turn.turn_id for turn in turns}) == len(ANSWERED)
    assert len({turn.conversation_id for turn in turns}) == 1
    assert [turn.assistant_text for turn in turns[:2]] == ["Answer 1", "Answer 2"]
    for turn in turns:
        assert turn.utc_offset_minutes == ZONE_MINUTES
        assert (turn.recall_id is None) == (turn.user_text in (AWAY, BROKEN_OFF))
    # When it was said, not when it could be appended at last.
    away, back = turns[3], turns[-1]
    assert away.occurred_at < back.occurred_at <= away.received_at


def test_a_turn_that_the_model_does_not_answer_is_no_part_of_the_chat(chat: Told) -> None:
    assert chat.answers[TOO_MUCH] == ""
    (told,) = chat.errors[TOO_MUCH].splitlines()
    assert told.startswith("(the model gave no answer, say it again: ")


def test_the_chat_ends_without_a_complaint(chat: Told) -> None:
    assert chat.exit_status == 0
    assert chat.errors[""] == "".join(chat.errors[said] for said in (*ANSWERED[:-1], TOO_MUCH))


def test_a_memory_that_never_answers_is_waited_for_as_long_as_was_told(
    command: list[str | Path], tmp_path: Path
) -> None:
    with socket.socket() as silent, _model() as fake:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        environment = _environment(fake, url, "Bearer a-key") | {"MEMORY_TIMEOUT_S": "0.2"}
        with opened_terminal(
            [*command, "ann"], environment=environment, directory=tmp_path, prompt="ann: "
        ) as terminal:
            assert terminal.say(NOTED) == "assistant: Answer 1"
            told = terminal.told.splitlines()
            assert ["timed out" in line or "timeout" in line for line in told] == [True, True]


@contextmanager
def _model() -> Iterator[ModelFake]:
    """Yield a model that counts what it was asked, and refuses what is too much for it."""
    with model_fake_in_thread() as fake:

        def answer(asked: Asked) -> Reply:
            if _newest(asked) == TOO_MUCH:
                return status(400)
            roles = [message["role"] for message in asked.body["messages"]]
            return Reply(text=f"Answer {roles.count('user')}")

        fake.standing = answer
        yield fake


def _environment(fake: ModelFake, memory_url: str, authorization: str) -> dict[str, str]:
    return {
        **clean_environment(),
        "ANTHROPIC_API_KEY": "a-key",
        "ANTHROPIC_BASE_URL": fake.base_url("anthropic"),
        "OPENAI_API_KEY": "a-key",
        "OPENAI_BASE_URL": fake.base_url("openai"),
        "MODEL": "a-model",
        "MEMLEDGER_API_KEY": authorization.removeprefix("Bearer "),
        "MEMORY_URL": memory_url,
        "MEMORY_TIMEOUT_S": "60",
        "TZ": ZONE,
    }


def _content(said: str) -> str:
    return f"Said: {said}"


def _operation(said: str) -> Operation:
    return Operation(
        action=Action.ADD,
        kind=MemoryKind.SEMANTIC,
        slot=Slot.ALLERGY if said == NOTED else Slot.NOTE,
        about="user",
        content=_content(said),
        importance=5 if said == NOTED else 3,
        confidence=Confidence.STATED,
        quote=said,
    )


def _noted(scene: PageScene, user: str, said: str) -> dict[str, Any]:
    """Return the memory of what was said, once it is there."""

    def noted() -> dict[str, Any] | None:
        memories = _got(scene, "/v1/memories", user)["memories"]
        return next((one for one in memories if one["content"] == _content(said)), None)

    return wait_until(noted, what=f"a memory of {said}")


def _got(scene: PageScene, address: str, user: str) -> dict[str, Any]:
    answer = scene.client.get(address, params={"user_id": user})
    assert answer.status_code == httpx.codes.OK, answer.text
    return cast("dict[str, Any]", answer.json())


def _turns(scene: PageScene, user: str) -> list[Turn]:
    """Return every append of a user's turns, in the log's order."""

    async def read() -> list[Turn]:
        keys = await scene.process.keys_of(user)
        assert isinstance(keys, SubjectKeys)
        return [
            open_record(Turn, record, keys)
            for partition in range(PARTITIONS)
            for record in await scene.process.records(TURNS, partition)
            if record.header().subject == keys.subject and record.header().schema_name == "turn"
        ]

    return scene.ask(read())


def _messages(asked: Asked) -> bytes:
    """Return the bytes of the messages, without the marks for the cache."""
    text = asked.raw.replace(MARK, b"").decode()
    start = text.index('"messages":') + len('"messages":')
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start:end].encode()


def _newest(asked: Asked) -> str:
    """Return what the user said last."""
    users = [message for message in asked.body["messages"] if message["role"] == "user"]
    return _text(users[-1])


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)
