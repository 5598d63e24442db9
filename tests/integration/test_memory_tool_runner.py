"""Claude's memory tool from the SDK's runner to the log and back, on real stores."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from anthropic import AsyncAnthropic
from fastapi import FastAPI

from deploy.addresses import Addresses
from deploy.clients.account import Account
from deploy.clients.memory_tool import AsyncMemoryTool
from deploy.processes.gateway import make_app
from tests.conftest import TestStores
from tests.support.model_fake import ModelFake, Reply, model_fake
from tests.support.one_process import TENANT, OneProcess, opened_pipeline
from tests.support.tool_calls import tool_results, tool_use

NOTES = "/memories/notes.md"
_EMPTY = (
    "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items "
    "and node_modules:\n0B\t/memories"
)
_SHOWN = (
    "Here's the content of /memories/about/me.md with line numbers:\n"
    "     1\tLikes coffee.\n     2\tLives in Rome."
)

CONVERSATION: list[tuple[dict[str, Any], str, bool]] = [
    (
        {"command": "view", "path": "/memories"},
        _EMPTY,
        False,
    ),
    (
        {"command": "create", "path": NOTES, "file_text": "Likes tea.\n"},
        f"File created successfully at: {NOTES}",
        False,
    ),
    (
        {"command": "create", "path": "/memories/../../etc/passwd", "file_text": "x"},
        f'Error: The path holds "..": use a plain path inside /memories, such as {NOTES}.',
        True,
    ),
    (
        {"command": "str_replace", "path": NOTES, "old_str": "milk", "new_str": "coffee"},
        f"No replacement was performed, old_str `milk` did not appear verbatim in {NOTES}.",
        True,
    ),
    (
        {"command": "str_replace", "path": NOTES, "old_str": "tea", "new_str": "coffee"},
        "The memory file has been edited.\n     1\tLikes coffee.",
        False,
    ),
    (
        {"command": "insert", "path": NOTES, "insert_line": 1, "insert_text": "Lives in Rome."},
        f"The file {NOTES} has been edited.",
        False,
    ),
    (
        {"command": "rename", "old_path": NOTES, "new_path": "/memories/about/me.md"},
        f"Successfully renamed {NOTES} to /memories/about/me.md",
        False,
    ),
    (
        {"command": "view", "path": "/memories/about/me.md"},
        _SHOWN,
        False,
    ),
    (
        {"command": "delete", "path": "/memories/about"},
        "Successfully deleted /memories/about",
        False,
    ),
]


def test_a_model_keeps_files_by_the_tool_runner_and_another_user_sees_none(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with (
            opened_pipeline(stores) as pipeline,
            pipeline.projecting(),
            model_fake() as fake,
            httpx.AsyncClient(
                transport=httpx.ASGITransport(_gateway(pipeline)), base_url="http://gateway"
            ) as http,
        ):
            api_key = await pipeline.keyring.create_api_key(TENANT)
            account = Account(base_url="http://gateway", api_key=api_key, user_id="ann")
            await _converse(fake, AsyncMemoryTool(account, client=http))
            assert fake.problems == []
            answered = [tool_results(asked.body)[0] for asked in fake.asked[1:]]
            assert answered == [(content, bad) for _, content, bad in CONVERSATION]
            await _listed(http, api_key)

    asyncio.run(scenario())


async def _converse(fake: ModelFake, tool: AsyncMemoryTool) -> None:
    """Let the model call the tool for each command, and say its last word."""
    calls = [
        tool_use("memory", told, call_id=f"toolu_{number}")
        for number, (told, _, _) in enumerate(CONVERSATION)
    ]
    fake.replies = [*calls, Reply(text="Noted.")]
    async with AsyncAnthropic(api_key="k", base_url=fake.origin) as model:
        runner = model.beta.messages.tool_runner(
            model="model-1",
            max_tokens=64,
            messages=[{"role": "user", "content": "I like coffee now."}],
            tools=[tool],
            thread=False,
        )
        await runner.until_done()


async def _listed(http: httpx.AsyncClient, api_key: str) -> None:
    headers = {"Authorization": f"Bearer {api_key}"}

    async def ask(address: str, **asked: Any) -> httpx.Response:
        return await http.get(address, params={"user_id": "ann", **asked}, headers=headers)

    history = (await ask("/v1/files/history")).json()
    assert [(event["kind"], event["version"]) for event in history["events"]] == [
        ("deleted", 5), ("renamed", 4), ("edited", 3), ("edited", 2), ("created", 1),
    ]  # fmt: skip
    assert (await ask("/v1/files")).json()["files"] == []
    kept = await ask("/v1/files/content", path="/memories/about/me.md", version=4)
    assert kept.json()["content"] == "Likes coffee.\nLives in Rome."
    for asked in ({"path": NOTES}, {"path": NOTES, "version": 9}):
        missing = await ask("/v1/files/content", **asked)
        assert (missing.status_code, missing.json()["code"]) == (404, "unknown_file")
    for user in ("ben", "ann\u0301", "an%"):
        others = await ask("/v1/files/history", user_id=user)
        assert others.json()["events"] == []
        theirs = await ask("/v1/files/content", user_id=user, path=NOTES, version=1)
        assert theirs.status_code == 404
    assert (await ask("/v1/files", colour="x")).status_code == 422


def _gateway(pipeline: OneProcess) -> FastAPI:
    stores = pipeline.stores
    addresses = Addresses(
        database_url=stores.database_url,
        keyring_url=stores.keyring_url,
        kafka_bootstrap=stores.kafka_bootstrap,
    )
    return make_app(
        pipeline.settings(),
        addresses,
        keyring=pipeline.keyring,
        read_model=pipeline.read_model,
        producer=pipeline.producer,
        embedder=pipeline.embedder,
    )
