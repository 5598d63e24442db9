"""The memory tool over HTTP: bodies are refused, models are answered, users never meet."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from producers.memory_tool import MemoryTool
from producers.memory_tool_routes import REQUEST_BYTES_MAX, memory_tool_router
from producers.subject_records import SubjectRecords
from projections.files.state import Applied, SubjectFiles
from projections.files.viewing import view_directory, view_file
from schemas.errors import CommandRefused, InvalidApiKey, LogUnavailable, ResultPending
from schemas.file_paths import checked_path
from schemas.files import FileCommand, ToolResult, refusal
from schemas.http import install_problem_handlers
from schemas.topics import FILES
from tests.support.hostile_paths import HOSTILE_PATHS
from tests.unit.producers.fakes import NOW, InMemoryKeyring, InMemoryLog

NOTES = "/memories/notes.md"


class LoggedFiles:
    """Answers from the log itself, as the projector folds it."""

    def __init__(self, keyring: InMemoryKeyring, log: InMemoryLog) -> None:
        self._keyring = keyring
        self._log = log
        self.pending = False

    async def result(self, subject: UUID, command_id: UUID) -> ToolResult:
        if self.pending:
            raise ResultPending("the command is accepted and was not carried out within 0 s")
        return self.folded(subject)[1][command_id].result

    async def view(
        self, subject: UUID | None, path: str, view_range: Sequence[int] | None = None
    ) -> ToolResult:
        try:
            checked = checked_path(path)
            files = {} if subject is None else self.folded(subject)[0].files
            if checked in files:
                content = files[checked].content
                return ToolResult(content=view_file(checked, content, view_range=view_range))
            sizes = {name: len(file.content.encode()) for name, file in files.items()}
            return ToolResult(content=view_directory(checked, sizes))
        except CommandRefused as error:
            return refusal(error)

    def folded(self, subject: UUID) -> tuple[SubjectFiles, dict[UUID, Applied]]:
        keys = next(keys for keys in self._keyring.living.values() if keys.subject == subject)
        files, results = SubjectFiles(), dict[UUID, Applied]()
        for _, command in self._log.opened(FileCommand, keys):
            if command.command_id not in results:
                results[command.command_id] = files.apply(command)
        return files, results


class Api:
    """The route over an in-memory keyring and log, asked without a network."""

    def __init__(self) -> None:
        self.keyring = InMemoryKeyring()
        self.log = InMemoryLog(FILES)
        self.files = LoggedFiles(self.keyring, self.log)
        self.app = FastAPI()
        install_problem_handlers(self.app)
        records = SubjectRecords(self.keyring, self.log, 4, topic=FILES)
        self.tool = MemoryTool(
            records, self.files, self._find_subject, self._is_paused, clock=lambda: NOW
        )
        self.app.include_router(memory_tool_router(self.tool, _authenticate))

    async def _find_subject(self, tenant: str, user_id: str) -> UUID | None:
        found = await self.keyring.subjects_for(tenant, [user_id], create=False)
        return found[user_id].subject if user_id in found else None

    async def _is_paused(self, tenant: str, user_id: str) -> bool:
        return (await self.keyring.pause(tenant, user_id)).paused

    def pause(self, tenant: str, user: str) -> None:
        self.keyring.paused.add((tenant, user))

    def post(self, content: bytes, *, key: str = "key-of-acme") -> httpx.Response:
        async def ask() -> httpx.Response:
            # An exception that no handler turns into an answer fails the test.
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)
            headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.post("/v1/memory-tool", content=content, headers=headers)

        return asyncio.run(ask())

    def ask(self, command: str, *, user: str = "ann", key: str = "acme", **told: Any) -> ToolResult:
        """Return the answer to a command, which is answered with 200."""
        body = {"user_id": user, "command": command, **told}
        response = self.post(json.dumps(body).encode(), key=f"key-of-{key}")
        assert response.status_code == 200, response.text
        return ToolResult(**response.json())

    def done(self, command: str, **told: Any) -> str:
        result = self.ask(command, **told)
        assert not result.is_error, result.content
        return result.content


async def _authenticate(token: str) -> str:
    if not token.startswith("key-of-"):
        raise InvalidApiKey("the API key is unknown")
    return token.removeprefix("key-of-")


def _commands(path: str) -> list[dict[str, Any]]:
    return [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "x", "new_str": "y"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/new.md"},
        {"command": "rename", "old_path": NOTES, "new_path": path},
    ]


def test_the_six_commands_are_answered_in_the_documented_words() -> None:
    api = Api()

    assert api.done("view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items and node_modules:\n0B\t/memories"
    )
    assert api.keyring.living == {}
    created = api.done("create", path=NOTES, file_text="Likes tea.\n")
    assert created == f"File created successfully at: {NOTES}"
    replaced = api.done("str_replace", path=NOTES, old_str="tea", new_str="coffee")
    assert replaced == "The memory file has been edited.\n     1\tLikes coffee."
    inserted = api.done("insert", path=NOTES, insert_line=1, insert_text="Lives in Rome.")
    assert inserted == f"The file {NOTES} has been edited."
    assert api.done("view", path=NOTES, view_range=[2, -1]) == (
        f"Here's the content of {NOTES} with line numbers:\n     2\tLives in Rome."
    )
    assert api.done("rename", old_path=NOTES, new_path="/memories/a/b.md") == (
        f"Successfully renamed {NOTES} to /memories/a/b.md"
    )
    assert api.done("view", path="/memories").endswith(
        "\n28B\t/memories\n28B\t/memories/a\n28B\t/memories/a/b.md"
    )
    assert api.done("delete", path="/memories/a") == "Successfully deleted /memories/a"


def test_a_replacement_that_is_left_out_deletes() -> None:
    api = Api()
    api.done("create", path=NOTES, file_text="a b c")

    api.done("str_replace", path=NOTES, old_str=" b")
    api.done("str_replace", path=NOTES, old_str=" c", new_str=None)

    assert api.done("view", path=NOTES).endswith("     1\ta")


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=ascii)
def test_a_hostile_path_is_refused_by_each_command_and_nothing_is_appended(path: str) -> None:
    api = Api()
    for command in _commands(path):
        body = {"user_id": "ann", **command}
        response = api.post(json.dumps(body).encode())
        assert response.status_code == 200, response.text
        answered = response.json()
        assert answered["is_error"]
        assert answered["content"].startswith("Error: The path ")
        assert "passwd" not in answered["content"]
    assert api.log.records == []


def test_users_and_tenants_never_see_each_others_files() -> None:
    api = Api()
    api.done("create", path=NOTES, file_text="secret")

    others = [("ann", "acme-corp"), ("Ann", "acme"), ("an%", "acme"), ("_nn", "acme")]
    for user, key in others:
        for _ in range(2):
            answer = api.ask("view", path=NOTES, user=user, key=key)
            assert answer.content == (
                f"The path {NOTES} does not exist. Please provide a valid path."
            )
            assert api.ask("delete", path=NOTES, user=user, key=key).is_error
    assert api.done("view", path=NOTES).endswith("secret")


def test_both_spellings_of_a_user_are_one_user() -> None:
    api = Api()
    api.done("create", path=NOTES, file_text="x", user="zo\u00e9")

    assert api.done("view", path=NOTES, user="zoe\u0301").endswith("x")


def test_a_command_sent_again_under_its_id_takes_effect_once() -> None:
    api = Api()
    first = api.done("create", path=NOTES, file_text="x", command_id="c1")

    assert api.done("create", path=NOTES, file_text="x", command_id="c1") == first
    api.done("insert", path=NOTES, insert_line=0, insert_text="y", command_id="c2")
    api.done("insert", path=NOTES, insert_line=0, insert_text="y", command_id="c2")
    assert api.done("view", path=NOTES).endswith("     1\ty\n     2\tx")
    assert api.ask("create", path=NOTES, file_text="x").is_error
    assert (
        api.ask("create", path=NOTES, file_text="x", command_id="c1", user="ben").is_error is False
    )


def test_a_command_of_a_user_who_is_erased_meanwhile_belongs_to_the_new_one() -> None:
    api = Api()
    api.done("create", path="/memories/old.md", file_text="x")

    def erase() -> None:
        api.keyring.before_erasure_query = lambda: None
        api.keyring.erase("acme", "ann")

    api.keyring.before_erasure_query = erase

    assert not api.ask("create", path=NOTES, file_text="y").is_error
    assert "old.md" not in api.done("view", path="/memories")


def test_a_user_who_has_paused_memory_is_neither_read_nor_noted() -> None:
    api = Api()
    api.done("create", path=NOTES, file_text="secret")
    api.pause("acme", "ann")

    for command in _commands(NOTES):
        told = {name: value for name, value in command.items() if name != "command"}
        answer = api.ask(command["command"], **told)
        assert answer.is_error
        assert answer.content.startswith("Error: The user has paused memory")
    assert len(api.log.records) == 1


def test_a_user_who_pauses_while_a_command_is_under_way_is_not_noted() -> None:
    api = Api()

    async def not_yet(_tenant: str, _user: str) -> bool:
        api.pause("acme", "ann")
        return False

    api.tool._is_paused = not_yet

    assert "paused memory" in api.ask("create", path=NOTES, file_text="x").content
    assert api.log.records == []


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"user_id": None}, "user_id"),
        ({"user_id": 7}, "user_id"),
        ({"user_id": " "}, "user_id"),
        ({"command": "move"}, "command"),
        ({"command": ["view"]}, "command"),
        ({"path": 1}, "path"),
        ({"path": None}, "path"),
        ({"view_range": "1"}, "view_range"),
        ({"view_range": [1, "2"]}, "view_range"),
        ({"view_range": [True, 2]}, "view_range"),
        ({"view_range": [1.5, 2]}, "view_range"),
        ({"tenant": "other"}, "tenant"),
        ({"file_text": "x"}, "file_text"),
        ({"command_id": ""}, "command_id"),
        ({"command_id": "a\0"}, "command_id"),
    ],
    ids=range(15),
)
def test_a_malformed_body_is_refused_with_the_field_named(
    changed: dict[str, Any], field: str
) -> None:
    body = {"user_id": "ann", "command": "view", "path": "/memories", **changed}
    if changed.get("user_id", "") is None:
        del body["user_id"]

    response = Api().post(json.dumps(body).encode())

    assert response.status_code == 422, response.text
    assert response.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b'{"command": "view", "command": "x"}'])
def test_what_is_no_command_at_all_is_refused(body: bytes) -> None:
    assert Api().post(body).status_code == 422


def test_a_model_is_told_what_its_range_and_texts_may_be() -> None:
    api = Api()
    api.done("create", path=NOTES, file_text="x")

    assert "`view_range`" in api.ask("view", path=NOTES, view_range=[1]).content
    assert "`view_range`" in api.ask("view", path=NOTES, view_range=[2, 3]).content
    long = api.ask("create", path="/memories/long.md", file_text="a" * 100_001)
    assert (long.is_error, "100,001 characters" in long.content) == (True, True)
    tags = api.ask("create", path="/memories/tags.md", file_text="hi\U000e0041")
    assert (tags.is_error, "nobody sees" in tags.content) == (True, True)


def test_the_longest_replacement_fits_and_what_is_larger_is_refused() -> None:
    api = Api()
    api.done("create", path=NOTES, file_text="\x01" * 100_000)

    api.done("str_replace", path=NOTES, old_str="\x01" * 100_000, new_str="\x02" * 100_000)

    assert api.post(b"x" * (REQUEST_BYTES_MAX + 1)).status_code == 413


def test_a_result_that_is_not_known_in_time_is_told_with_what_to_do() -> None:
    api = Api()
    api.files.pending = True
    body = {"user_id": "ann", "command": "create", "path": NOTES, "file_text": "x"}

    response = api.post(json.dumps(body).encode())

    assert (response.status_code, response.json()["code"]) == (504, "result_pending")
    assert response.headers["retry-after"] == "1"
    assert len(api.log.records) == 1


def test_a_log_that_is_away_is_no_refusal_of_the_model() -> None:
    api = Api()
    api.log.fail = lambda _: LogUnavailable("no acknowledgement")
    body = {"user_id": "ann", "command": "delete", "path": NOTES}

    response = api.post(json.dumps(body).encode())

    assert (response.status_code, response.json()["code"]) == (503, "log_unavailable")


def test_an_unknown_key_is_refused_before_the_body_is_read() -> None:
    response = Api().post(b"not even JSON", key="nobody's")

    assert response.status_code == 401
