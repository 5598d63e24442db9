"""No word of another user comes out by any door, whatever the ids look like."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
import pytest
from anthropic.lib.tools import ToolError
from anthropic.types.beta import BetaMemoryTool20250818ViewCommand

from deploy.cli.verbs import VERBS
from deploy.clients.account import Account
from deploy.clients.memory_tool import MemoryTool
from deploy.embedded import EmbeddedPostgres
from tests import conftest
from tests.conftest import GENERATION, PARTITIONS, TestStores, recreate_topics
from tests.integration.isolation.commands import (
    NOT_RUN,
    CommandLine,
    listing,
    naming,
    verbs_of,
)
from tests.integration.isolation.doors import (
    MCP_HEADERS,
    NOBODYS,
    NOT_ASKED,
    TOOLS,
    Question,
    by_id,
    questions,
)
from tests.integration.isolation.people import (
    COMPOSED,
    DECOMPOSED,
    Person,
    ids_of_others,
    owners,
)
from tests.integration.isolation.scene import IsolationScene, isolation_scene
from tests.integration.isolation.statements import statements_of_requests
from tests.integration.isolation.walls import without_filters, without_row_security

fresh_database = contextmanager(conftest._fresh_database)

_WORDS: Final = re.compile(r"zq[a-z][a-z]zq")
_REQUEST_ID: Final = re.compile(r'"request_id": ?"[^"]*"')
_TELLS_NO_ROW: Final = {"GET /v1/me", "GET /v1/pause"}
"""Doors that ask the keyring alone, which no SQL of the read model answers."""


@pytest.fixture(scope="module")
def stores(
    postgres: EmbeddedPostgres, kafka_bootstrap: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestStores]:
    recreate_topics(kafka_bootstrap)
    with fresh_database(postgres) as database_url, fresh_database(postgres) as keyring_url:
        yield TestStores(
            database_url=database_url,
            keyring_url=keyring_url,
            kafka_bootstrap=kafka_bootstrap,
            key_directory=tmp_path_factory.mktemp("isolation") / "keys",
            generation=GENERATION,
            partitions=PARTITIONS,
        )


@pytest.fixture(scope="module")
def scene(stores: TestStores) -> Iterator[IsolationScene]:
    with isolation_scene(stores) as running:
        yield running


def some(scene: IsolationScene) -> list[Person]:
    """Return a user of each tenant; both have the same id."""
    return scene.people[:2]


def others_of(scene: IsolationScene, reader: Person) -> list[Person]:
    """Return the next one around, and whoever has the same id in the other tenant."""
    people = scene.people
    following = people[(people.index(reader) + 1) % len(people)]
    namesakes = [
        one for one in people if one.user_id == reader.user_id and one.tenant != reader.tenant
    ]
    return list({one.letter: one for one in (following, *namesakes)}.values())


def leaks(
    scene: IsolationScene, question: Question, reader: Person, answer: httpx.Response
) -> list[str]:
    """Return what an answer tells of somebody whom the reader has no right to see."""
    seen = (
        scene.people
        if not question.of_tenant
        else [one for one in scene.people if one.tenant != reader.tenant]
    )
    strangers = {one.letter for one in seen} - {reader.letter}
    told = f"{answer.headers}\n{answer.text}"
    # A path that was asked for may be repeated; what lies there has other words.
    told = told.replace(question.names_path, "")
    words = [f"a word of {letter}" for letter in sorted(owners(told) & strangers)]
    return words + ids_of_others(told, question.text, reader, seen)


def found_out(
    scene: IsolationScene, people: list[Person], *, changes: bool = True
) -> dict[str, list[str]]:
    """Ask everything on behalf of some people; return by form what came out of others."""
    found: dict[str, list[str]] = {}
    for reader in people:
        for other in others_of(scene, reader):
            for question in questions(reader, other):
                if question.changes and not changes:
                    continue
                answer = question.asked_by(scene, reader)
                assert answer.status_code < 500 or answer.status_code == 504, answer.text
                if told := leaks(scene, question, reader, answer):
                    found.setdefault(question.form, []).append(
                        f"{reader.tenant}:{reader.user_id} sees {told} by {question.text}"
                    )
    return found


def silent_doors(scene: IsolationScene, person: Person) -> set[str]:
    """Return the doors that tell somebody nothing of their own."""
    seen: dict[str, set[str]] = {}
    for question in questions(person, person):
        if not question.changes:
            answer = question.asked_by(scene, person)
            assert answer.is_success, f"{question} {answer.text}"
            seen.setdefault(question.door, set()).update(owners(answer.text))
    return {door for door, letters in seen.items() if person.letter not in letters}


def test_every_route_is_asked_or_has_a_reason(scene: IsolationScene) -> None:
    paths = scene.client.get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    one, other = scene.people[:2]
    asked = {question.door for question in questions(one, other)}
    assert routes - asked - set(NOT_ASKED) == set(), "neither asked nor listed with a reason"
    assert set(NOT_ASKED) - routes == set()
    assert set(NOT_ASKED) & asked == set()
    listed = scene.client.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        headers={"authorization": f"Bearer {one.mcp}"} | MCP_HEADERS,
    )
    assert {tool["name"] for tool in listed.json()["result"]["tools"]} == set(TOOLS)
    assert asked - routes == set(TOOLS) - {"remember"}


def test_everybody_sees_what_is_their_own(scene: IsolationScene) -> None:
    """Else nothing that follows could fail."""
    for person in scene.people[::4]:
        assert silent_doors(scene, person) == _TELLS_NO_ROW


def test_nobody_sees_a_word_or_an_id_of_another(scene: IsolationScene) -> None:
    assert found_out(scene, scene.people) == {}


def test_row_level_security_alone_keeps_everybody_out(scene: IsolationScene) -> None:
    with without_filters():
        assert found_out(scene, some(scene)) == {}
        # Nor is it that nothing is found any more.
        assert silent_doors(scene, scene.people[0]) == _TELLS_NO_ROW


def test_the_filters_of_the_statements_alone_keep_everybody_out(
    scene: IsolationScene, stores: TestStores
) -> None:
    with without_row_security(stores):
        assert found_out(scene, some(scene)) == {}


def test_without_either_wall_every_door_would_be_found_out(
    scene: IsolationScene, stores: TestStores
) -> None:
    """So each of these questions can find what it looks for."""
    one, other = some(scene)
    asked = {
        question.form
        for question in questions(one, other)
        if not (question.changes or question.may_be_refused)
    }
    with without_filters(), without_row_security(stores):
        found = found_out(scene, [one, other], changes=False)
    assert asked - set(found) == _TELLS_NO_ROW


def test_what_another_has_is_answered_like_what_nobody_has(scene: IsolationScene) -> None:
    """In status, headers and every byte but the id of the request."""
    for reader, other in itertools.permutations(some(scene)):
        whose = {"user_id": reader.user_id}
        for spelled in (NOBODYS, "no-id", "%25"):
            theirs = by_id(reader, other, whose)
            nobodys = by_id(reader, other, whose, spelled)
            for foreign, unknown in zip(theirs, nobodys, strict=True):
                if unknown.door in TOOLS and spelled != NOBODYS:
                    continue  # the tool's own schema refuses it
                answers = [one.asked_by(scene, reader) for one in (foreign, unknown)]
                assert len({_told(answer) for answer in answers}) == 1, (foreign, unknown)
        files = [
            scene.asked(
                reader, "GET", "/v1/files/content", params=whose | {"path": path, "version": 1}
            )
            for path in (other.path, "/memories/none.md")
        ]
        assert len(set(map(_told, files))) == 1


def test_what_another_has_takes_the_same_work_as_what_nobody_has(
    scene: IsolationScene, stores: TestStores
) -> None:
    """The same statements, which find as many rows: the time that is taken tells nothing either."""
    with statements_of_requests(stores) as noted:

        def work(reader: Person, other: Person, instead: str | None = None) -> list[Any]:
            asked = by_id(reader, other, {"user_id": reader.user_id}, instead)
            return [
                # What a tool is asked is answered in another task, by the same routes.
                noted.get(one.asked_by(scene, reader).headers["x-request-id"])
                for one in asked
                if one.door not in TOOLS and not (one.changes and other is reader)
            ]

        for reader, other in itertools.permutations(some(scene)):
            nobodys = work(reader, other, NOBODYS)
            assert sum(map(bool, nobodys)) > 5
            assert work(reader, other) == nobodys
            # One's own does take more: else nothing here could fail.
            assert [one for one in work(reader, reader) if one not in nobodys]


def _told(answer: httpx.Response) -> tuple[int, frozenset[str], bytes]:
    assert answer.status_code == httpx.codes.NOT_FOUND or answer.json()["result"]["isError"]
    names = frozenset(answer.headers) | {answer.headers["content-type"]}
    return answer.status_code, names, _REQUEST_ID.sub("", answer.text).encode()


def test_a_place_in_anothers_list_is_none_in_ones_own(scene: IsolationScene) -> None:
    for reader, other in itertools.permutations(some(scene)):
        for path, user_token in (("/v1/memories", False), ("/v1/me/memories", True)):

            def page(
                person: Person, path: str = path, *, user_token: bool = user_token, **more: str
            ) -> httpx.Response:
                whose = {} if user_token else {"user_id": person.user_id}
                asked: dict[str, Any] = {**whose, "limit": 1, **more}
                return scene.asked(person, "GET", path, user_token=user_token, params=asked)

            answer = page(reader, cursor=page(other).json()["next_cursor"])
            assert answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY
            assert owners(answer.text) == set()


def test_a_tag_of_anothers_answer_is_never_met_with_304(scene: IsolationScene) -> None:
    people = scene.people[:4]
    gets = [
        [one for one in questions(person, person) if one.door.startswith("GET")]
        for person in people
    ]
    tagged = 0
    for asked in zip(*gets, strict=True):
        alike = list(zip(people, asked, strict=True))
        answered = [question.asked_by(scene, person) for person, question in alike]
        tags = [answer.headers.get("etag", "") for answer in answered]
        tagged += any(tags)
        for person, question in alike:
            # Of what is the whole tenant's, the tag is that of all who look at it.
            others = ", ".join(
                tag
                for tag, other in zip(tags, people, strict=True)
                if tag
                and other is not person
                and not (question.of_tenant and other.tenant == person.tenant)
            )
            again = question.asked_by(scene, person, {"if-none-match": others})
            assert again.status_code == httpx.codes.OK, question
    assert tagged > 10


def test_both_spellings_of_a_name_are_one_user_at_every_door(scene: IsolationScene) -> None:
    (person, _) = (one for one in scene.people if one.user_id == COMPOSED)
    for pair in zip(questions(person, person), questions(person, person, DECOMPOSED), strict=True):
        if not pair[0].changes:
            composed, decomposed = (one.asked_by(scene, person) for one in pair)
            assert composed.status_code == decomposed.status_code == httpx.codes.OK
            assert _said(composed) == _said(decomposed)


def _said(answer: httpx.Response) -> list[str]:
    return sorted(_WORDS.findall(answer.text))


def test_the_worker_shows_a_model_nothing_of_another(scene: IsolationScene) -> None:
    shown = scene.seen.shown
    assert any(shown.values())
    for text, known in shown.items():
        assert owners(known) <= owners(text)


def test_the_page_itself_knows_nobody(scene: IsolationScene) -> None:
    page = scene.client.get("/memory").text
    parts = re.findall(r'(?:href|src)="(memory/[^"]+)"', page)
    assert len(parts) > 2
    for part in ("memory", *parts, "docs", "openapi.json", "healthz", "metrics"):
        answer = scene.client.get(f"/{part}")
        assert owners(answer.text) == set(), part


def test_the_memory_tool_of_the_sdk_reaches_one_users_files(scene: IsolationScene) -> None:
    for reader in some(scene):
        account = Account(base_url=scene.url, api_key=reader.api_key, user_id=reader.user_id)
        tool = MemoryTool(account)
        own = BetaMemoryTool20250818ViewCommand.construct(command="view", path=reader.path)
        assert owners(str(tool.execute(own))) == {reader.letter}
        for other in others_of(scene, reader):
            theirs = BetaMemoryTool20250818ViewCommand.construct(command="view", path=other.path)
            with pytest.raises(ToolError) as refused:
                tool.execute(theirs)
            assert owners(str(refused.value).replace(other.path, "")) == set()


@pytest.fixture(scope="module")
def commands(scene: IsolationScene, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(scene, tmp_path_factory.mktemp("home"))


def test_every_verb_is_asked_or_has_a_reason(scene: IsolationScene) -> None:
    asked = verbs_of(*some(scene))
    assert set(VERBS) - asked - set(NOT_RUN) == set(), "neither asked nor listed with a reason"
    assert asked | set(NOT_RUN) <= set(VERBS)
    assert asked & set(NOT_RUN) == set()


def test_no_verb_tells_of_another(scene: IsolationScene, commands: CommandLine) -> None:
    reader = next(one for one in scene.people if one.user_id == "ann_")
    told = {}
    for arguments in listing(reader, scene.people[0]):
        ran = commands.run(*arguments)
        assert ran.status == 0, ran.errors
        told[arguments[0]] = owners(ran.output + ran.errors)
        assert ids_of_others(ran.output, "", reader, scene.people) == []
    assert told == {verb: {reader.letter} for verb in told} | {"turns": set()}


def test_no_verb_tells_another_from_nobody(scene: IsolationScene, commands: CommandLine) -> None:
    reader, other = some(scene)
    for theirs, nobodys in naming(reader, other):
        foreign, unknown = commands.run(*theirs), commands.run(*nobodys)
        assert foreign.status == 2, foreign
        assert (foreign.status, foreign.output, foreign.errors) == (
            unknown.status, unknown.output, unknown.errors,
        )  # fmt: skip


def test_the_verb_and_the_route_hand_over_one_document(
    scene: IsolationScene, commands: CommandLine
) -> None:
    person = scene.people[0]
    whose = ["--user", person.user_id, "--tenant", person.tenant]
    by_verb = json.loads(commands.run("export", *whose).output)
    answer = scene.asked(person, "GET", "/v1/export", params={"user_id": person.user_id})
    ignored = {"exported_at": None}
    assert by_verb | ignored == answer.json() | ignored
    assert by_verb["counts"] == {"memories": 3, "files": 1, "summaries": 1, "flags": 1}
