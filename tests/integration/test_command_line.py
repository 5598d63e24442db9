"""The command line on a real pipeline: up, import, recall, memories, audit, status, demo, down."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

import httpx
import httpx2
import psutil
import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from deploy.cli.lifecycle import start_detached, supervisor_holds
from deploy.home import Home
from deploy.supervisor.children import is_alive
from tests.support.brokers import broker_choice
from tests.support.command import clean_environment, memledger, memledger_here
from tests.support.waiting import eventually, wait_until

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def running() -> Iterator[Mapping[str, str]]:
    """The environment of a new shell in which a verb finds a pipeline.

    The pipeline keeps every turn as an episode; what else it was started with, no verb is told.
    """
    with temporary_home() as root:
        environment = {"MEMLEDGER_HOME": str(root)}
        up = memledger(
            "up",
            "--detach",
            "--json",
            environment={
                **environment,
                "MEMLEDGER_GATEWAY_PORT": "0",
                "MEMLEDGER_EXTRACTOR": "verbatim",
                "MEMLEDGER_PARTITIONS": "3",
                "MEMLEDGER_MCP": "true",
            },
        )
        assert up.status == 0, up.errors
        assert all(part["ready"] for part in up.json()["parts"])
        yield environment
        down = memledger("down", environment=environment)
        assert down.status == 0, down.errors


@contextmanager
def temporary_home() -> Iterator[Path]:
    """A directory that Postgres' own user can walk to."""
    root = Path(tempfile.mkdtemp(prefix="memledger-cli-"))
    root.chmod(0o755)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def all_turns_closed(environment: Mapping[str, str]) -> dict[str, Any]:
    """Wait until no turn is in flight and return the audit's totals."""

    def closed() -> bool:
        status = memledger_here("status", "--json", environment=environment)
        return all(part["lag"] in (None, 0) for part in status.json()["parts"])

    wait_until(closed, what="every turn to be closed", timeout_s=120)
    audit = memledger_here("audit", "--json", environment=environment)
    assert audit.status == 0, audit.output + audit.errors
    totals: dict[str, Any] = audit.json()["totals"]
    assert totals["in_flight"] == 0
    return totals


def write_turns(path: Path, user: str, conversation: str, texts: list[str]) -> Path:
    """Write JSON lines of one conversation, a minute apart."""
    lines = [
        {
            "user_id": user,
            "conversation_id": conversation,
            "turn_id": f"{conversation}-{number}",
            "user_text": text,
            "occurred_at": f"2026-02-03T10:{number:02}:00Z",
        }
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_an_import_is_remembered_recalled_and_accounted_for(
    running: Mapping[str, str], tmp_path: Path
) -> None:
    texts = ["My cat is called Ada.", "The Rust project needs a linker.", "Paella on Sunday!"]
    file = write_turns(tmp_path / "turns.jsonl", "ann", "first", texts)
    imported = memledger("import", str(file), "--json", environment=running)
    assert imported.status == 0, imported.errors
    assert imported.json()["accepted"] == 3
    totals = all_turns_closed(running)
    assert totals["unaccounted"] == 0
    assert totals["turns"] == sum(totals["closings"].values())
    costs = memledger_here("costs", "--tenant", "local", "--json", environment=running)
    assert costs.status == 0, costs.errors
    unknown = memledger_here("costs", "--tenant", "lokal", environment=running)
    assert (unknown.status, unknown.output, "lokal" in unknown.errors) == (2, "", True)
    (spent,) = costs.json()["models"]
    assert (spent["tenant"], spent["model"], spent["money"]) == ("local", "verbatim", "0")
    assert spent["turns"] >= 3

    listed = memledger_here("memories", "--user", "ann", "--json", environment=running).json()
    assert sorted(memory["content"] for memory in listed["memories"]) == sorted(texts)
    assert {memory["quote"] for memory in listed["memories"]} == set(texts)

    recalled = memledger_here(
        "recall", "--user", "ann", "what is the name of the pet", "--json", environment=running
    ).json()
    assert recalled["memories"][0]["content"] == texts[0]
    nobody = memledger_here(
        "recall", "--user", "bob", "what is the name of the pet", "--json", environment=running
    )
    assert nobody.status == 0
    assert (nobody.json()["memories"], nobody.json()["reason"]) == ([], "none_stored")


def test_the_same_file_twice_adds_nothing_and_a_longer_one_adds_what_is_new(
    running: Mapping[str, str], tmp_path: Path
) -> None:
    file = write_turns(tmp_path / "turns.jsonl", "cleo", "second", ["One.", "Two."])
    assert (
        memledger_here("import", str(file), "--json", environment=running).json()["accepted"] == 2
    )
    before = all_turns_closed(running)
    again = memledger_here("import", str(file), "--json", environment=running).json()
    assert (again["accepted"], again["already_there"]) == (0, 2)
    write_turns(file, "cleo", "second", ["One.", "Two.", "Three."])
    longer = memledger_here("import", str(file), "--json", environment=running).json()
    assert (longer["accepted"], longer["already_there"]) == (1, 2)
    after = all_turns_closed(running)
    assert after["turns"] == before["turns"] + 1


def test_a_paused_user_is_left_alone_by_every_door(
    running: Mapping[str, str], tmp_path: Path
) -> None:
    paused = memledger_here("pause", "--user", "pia", "--json", environment=running)
    assert (paused.status, paused.json()["paused"]) == (0, True), paused.errors
    file = write_turns(tmp_path / "turns.jsonl", "pia", "p", ["I live in Oslo."])
    imported = memledger_here("import", str(file), "--json", environment=running)
    assert (imported.status, imported.json()["withheld"]) == (0, 1), imported.errors
    listed = memledger_here("memories", "--user", "pia", "--json", environment=running)
    assert listed.json()["memories"] == []
    assert "has paused memory" in listed.errors
    with _api(running) as client:
        state = client.get("/v1/pause", params={"user_id": "pia"})
        assert state.json() | {"since": None} == {"user_id": "pia", "paused": True, "since": None}
        turn = {"user_id": "pia", "conversation_id": "p", "user_text": "I live in Oslo."}
        assert client.post("/v1/turns", json=turn).json()["withheld"] == "paused"
        question = {"user_id": "pia", "query": "where?"}
        assert client.post("/v1/recall", json=question).json()["reason"] == "paused"
        resumed = client.put("/v1/pause", json={"user_id": "pia", "paused": False})
        assert resumed.json() == {"user_id": "pia", "paused": False, "since": None}
        assert client.post("/v1/turns", json=turn).status_code == HTTPStatus.ACCEPTED


def test_an_assistant_reaches_its_own_users_memories_and_no_others(
    running: Mapping[str, str],
) -> None:
    """By standard input and output, and over HTTP with a token, in both revisions."""
    with _api(running) as client:
        for user, text in (("mia", "Mia plays the cello."), ("noa", "Noa keeps bees.")):
            turn = {"user_id": user, "conversation_id": "m", "user_text": text}
            position = client.post("/v1/turns", json=turn).json()["position"]
            question = {"user_id": user, "query": text, "at_least": position}
            assert client.post("/v1/recall", json=question).json()["memories"]
        of_mia = client.get("/v1/memories", params={"user_id": "mia"}).json()["memories"]
        tokens = {
            user: client.post("/v1/user-tokens", json={"user_id": user, "audience": "mcp"}).json()
            for user in ("mia", "noa")
        }
        address = f"{client.base_url}/mcp"
        assert httpx.post(address, json={}).status_code == HTTPStatus.UNAUTHORIZED
        key = client.headers["authorization"]
        told = httpx.post(address, json={}, headers={"authorization": key})
        assert (told.status_code, told.json()["code"]) == (401, "invalid_user_token")

    async def ask() -> None:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-c", "from deploy.cli import main; main()", "mcp", "--user", "mia"],
            env={**clean_environment(), **running},
        )
        assert await _listed(command, "auto") == ["Mia plays the cello."]
        for mode in ("auto", "legacy"):
            for user, text in (("mia", "Mia plays the cello."), ("noa", "Noa keeps bees.")):
                headers = {"authorization": f"Bearer {tokens[user]['token']}"}
                async with httpx2.AsyncClient(headers=headers) as http:
                    over_http = streamable_http_client(address, http_client=http)
                    assert await _listed(over_http, mode) == [text]
        headers = {"authorization": f"Bearer {tokens['noa']['token']}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            over_http = streamable_http_client(address, http_client=http)
            await _remember_and_forget(over_http, of_mia[0]["memory_id"])
        assert await _listed(command, "legacy") == ["Mia plays the cello."]

    asyncio.run(ask())


def test_what_was_served_for_a_turn_is_told_again_to_the_byte(
    running: Mapping[str, str],
) -> None:
    turn = {"user_id": "ria", "conversation_id": "r", "user_text": "Ria sails <dinghies>."}
    question = {"user_id": "ria", "query": "Ria sails <dinghies>.", "format": "anthropic"}
    with _api(running) as client:
        position = client.post("/v1/turns", json=turn).json()["position"]
        served = client.post("/v1/recall", json=question | {"at_least": position}).json()
        recall_id = served["recall_id"]
        answered = client.post("/v1/turns", json=turn | {"recall_id": recall_id}).json()
        whose = {"user_id": "ria"}

        def told() -> httpx.Response:
            return client.get(f"/v1/recalls/{recall_id}", params=whose)

        wait_until(
            lambda: told().is_success and bool(told().json()["turn_ids"]),
            what="the recall and its turn to be projected",
        )
        account = told().json()
        assert (account["block"], account["injection"]) == ("reproduced", served["injection"])
        assert account["turn_ids"] == [answered["turn_id"]]
        about = client.get(f"/v1/turns/{answered['turn_id']}", params=whose).json()
        assert about["recall_id"] == recall_id
        other = client.get(f"/v1/recalls/{recall_id}", params={"user_id": "ann"})
        assert (other.status_code, other.json()["code"]) == (404, "unknown_recall")
        profile = client.get("/v1/profile", params=whose)
        tag = {"if-none-match": profile.headers["etag"]}
        again = client.get("/v1/profile", params=whose, headers=tag)
        assert (profile.json()["profile"], again.status_code) == ("", 304)
    shown = memledger_here("recalls", recall_id, "--user", "ria", "--json", environment=running)
    assert (shown.status, shown.json()["injection"]) == (0, served["injection"]), shown.errors


async def _listed(connection: Any, mode: Literal["auto", "legacy"]) -> list[str]:
    async with McpClient(connection, mode=mode) as assistant:
        refused = await assistant.call_tool("list_memories", {"user_id": "noa"})
        assert refused.is_error
        answer = await assistant.call_tool("list_memories", {})
        assert not answer.is_error, answer.content
        assert answer.structured_content is not None
        return [note["content"] for note in answer.structured_content["notes"]]


async def _remember_and_forget(connection: Any, another: str) -> None:
    """Remember and forget something of noa's; ``another`` is a memory of somebody else."""
    async with McpClient(connection) as assistant:

        async def notes() -> dict[str, str]:
            answer = await assistant.call_tool("list_memories", {})
            assert answer.structured_content is not None
            listed = answer.structured_content["notes"]
            return {note["content"]: note["memory_id"] for note in listed}

        async def called(tool: str, arguments: Mapping[str, str]) -> bool:
            return not (await assistant.call_tool(tool, dict(arguments))).is_error

        async def there() -> str | None:
            return (await notes()).get("Has a dog.")

        async def gone() -> bool:
            return "Has a dog." not in await notes()

        assert await called("remember", {"content": "Has a dog."})
        memory_id = await eventually(there, what="what was remembered")
        assert not await called("forget", {"memory_id": another})
        assert await called("forget", {"memory_id": memory_id})
        await eventually(gone, what="what was forgotten to be gone")
        assert list(await notes()) == ["Noa keeps bees."]


def test_what_a_person_decides_is_carried_out_and_outranks_what_is_read(
    running: Mapping[str, str],
) -> None:
    whose: dict[str, Any] = {"user_id": "vera"}
    said = {"conversation_id": "v", "occurred_at": "2026-01-01T08:00:00Z"}
    with _api(running) as client:

        def listed(**asked: bool) -> list[dict[str, Any]]:
            answered = client.get("/v1/memories", params=whose | asked)
            return list(answered.json()["memories"])

        def carried_out(answered: httpx.Response) -> dict[str, Any]:
            assert answered.status_code == HTTPStatus.ACCEPTED, answered.text
            position = answered.json()["position"]
            client.post("/v1/recall", json=whose | {"query": "x", "at_least": position})
            turn = client.get(f"/v1/turns/{answered.json()['turn_id']}", params=whose)
            return dict(turn.json())

        words = whose | said | {"user_text": "I am a vegetarian."}
        carried_out(client.post("/v1/turns", json=words))
        (heard,) = listed()
        path = f"/v1/memories/{heard['memory_id']}"
        foreign = client.patch(path, json={"user_id": "noa", "pinned": True})
        assert foreign.status_code == HTTPStatus.NOT_FOUND
        right = whose | {"content": "Is a vegan", "importance": 5, "pinned": True}
        told = carried_out(client.patch(path, json=right))
        assert [memory["content"] for memory in told["memories"]] == ["Is a vegan"]
        (memory,) = listed()
        assert (memory["content"], memory["source"]) == ("Is a vegan", "curation")
        assert memory["pinned_at"] is not None
        assert {one["state"] for one in listed(history=True)} == {"live", "retracted"}
        hello = client.post("/v1/recall", json=whose | {"query": "hello"}).json()
        assert [served["content"] for served in hello["memories"]] == ["Is a vegan"]

        late = carried_out(client.post("/v1/turns", json=words | {"turn_id": "late"}))
        assert late["closing"] == "rejected"
        ran = memledger_here(
            *("memory", "delete", memory["memory_id"], "--user", "vera", "--yes", "--json"),
            environment=running,
        )
        assert (ran.status, ran.json()["closing"]) == (0, "stored"), ran.errors
        assert listed(history=True) == []
        gone = client.delete(path, params=whose)
        assert (gone.status_code, gone.json()["code"]) == (HTTPStatus.NOT_FOUND, "unknown_memory")
        stated = whose | {"content": "Plays chess", "kind": "semantic", "slot": "routine"}
        for _ in range(2):
            carried_out(client.post("/v1/memories", json=stated | {"source": "person", "id": "1"}))
        (chess,) = listed()
        assert (chess["content"], chess["confirmations"]) == ("Plays chess", 0)


def _api(running: Mapping[str, str]) -> httpx.Client:
    """Return a client of the running gateway with the key of its home."""
    home = Home(Path(running["MEMLEDGER_HOME"]))
    state = home.read_state()
    assert state is not None
    key = home.api_key_file.read_text().strip()
    return httpx.Client(
        base_url=state.gateway_url, headers={"authorization": f"Bearer {key}"}, timeout=30
    )


def test_a_fact_of_a_system_is_remembered_once_and_seen_through(
    running: Mapping[str, str],
) -> None:
    fact = ("Order 7 arrived two days late.", "--user", "dora", "--system", "orders")
    message = ("--type", "order_late", "--reference", "7", "--id", "m1")
    first = memledger_here("remember", *fact, *message, environment=running)
    assert (first.status, first.output) == (0, "remembered\n"), first.errors
    again = memledger_here("remember", *fact, *message, "--json", environment=running)
    assert (again.status, again.json()["closing"]) == (0, "stored"), again.errors
    listed = memledger_here("memories", "--user", "dora", "--json", environment=running).json()
    (memory,) = listed["memories"]
    assert (memory["content"], memory["source"], memory["quote"]) == (fact[0], "system", "")
    assert memory["turn_id"] == again.json()["turn_id"]
    assert memory["provenance"] == {"system": "orders", "type": "order_late", "reference": "7"}


def test_what_is_refused_says_by_which_rule(running: Mapping[str, str]) -> None:
    fact = ("My password is tulip-Harbor-92!", "--user", "emil", "--system", "crm")
    refused = memledger_here("remember", *fact, "--type", "note", "--json", environment=running)
    assert (refused.status, refused.json()["closing"]) == (1, "rejected"), refused.errors
    turn_id, reasons = refused.json()["turn_id"], refused.json()["reasons"]
    assert "password" in reasons
    listed = memledger_here("turns", "--user", "emil", "--json", environment=running).json()
    (summary,) = listed["turns"]
    assert (summary["turn_id"], summary["closing"]) == (turn_id, "rejected")
    assert summary["reasons"] == reasons
    shown = memledger_here("turn", turn_id, "--user", "emil", environment=running)
    assert (shown.status, "refused: " in shown.output) == (0, True), shown.errors
    assert "tulip" not in shown.output
    others = memledger_here("turn", turn_id, "--user", "ann", environment=running)
    assert (others.status, others.output) == (2, "")


def test_a_chatgpt_export_is_remembered_and_recalled(running: Mapping[str, str]) -> None:
    export = DATA / "exports" / "chatgpt-export.json"
    if not export.exists():
        pytest.skip(f"{export.name} is not beside this checkout")
    imported = memledger_here("import", str(export), "--user", "gpt", "--json", environment=running)
    assert imported.status == 0, imported.errors
    accepted = imported.json()["accepted"]
    messages = [
        node["message"]["content"]["parts"][0]
        for conversation in json.loads(export.read_text())
        for node in conversation["mapping"].values()
        if node["message"] and node["message"]["author"]["role"] == "user"
    ]
    assert accepted == len(messages)
    all_turns_closed(running)
    listed = memledger_here("memories", "--user", "gpt", "--json", environment=running).json()
    assert sorted(memory["content"] for memory in listed["memories"]) == sorted(messages)
    recalled = memledger_here(
        "recall", "--user", "gpt", messages[0], "--json", environment=running
    ).json()
    assert recalled["memories"][0]["content"] == messages[0]


def test_a_locomo_conversation_is_accounted_for(running: Mapping[str, str], tmp_path: Path) -> None:
    source = DATA / "locomo" / "locomo-first7.json"
    if not source.exists():
        pytest.skip(f"{source.name} is not beside this checkout")
    conversation = json.loads(source.read_text())[0]["conversation"]
    turns = locomo_turns(conversation)
    file = tmp_path / "locomo.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    before = all_turns_closed(running)
    imported = memledger_here("import", str(file), "--json", environment=running)
    assert imported.status == 0, imported.errors
    assert imported.json()["accepted"] == len(turns)
    after = all_turns_closed(running)
    assert after["turns"] - before["turns"] == len(turns)
    assert after["unaccounted"] == 0
    listed = memledger_here("memories", "--user", "locomo", "--json", environment=running).json()
    said = {(turn["user_text"].strip(), turn["turn_id"]) for turn in turns}
    # What the gate refuses (a sensitive matter, a secret) is told, and everything else is kept.
    refused = after["closings"]["rejected"] - before["closings"]["rejected"]
    assert 0 < refused < len(turns) / 20
    assert len(listed["memories"]) == len(said) - refused


def locomo_turns(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one speaker's words as user turns, with what the other says next as the answer."""
    user = conversation["speaker_a"]
    turns: list[dict[str, Any]] = []
    for number in range(1, 100):
        for line in conversation.get(f"session_{number}", []):
            if line["speaker"] == user:
                turns.append(
                    {
                        "user_id": "locomo",
                        "conversation_id": f"session-{number}",
                        "turn_id": line["dia_id"],
                        "user_text": line["text"],
                    }
                )
            elif turns and "assistant_text" not in turns[-1]:
                turns[-1]["assistant_text"] = line["text"]
    return turns


def test_a_running_pipeline_is_found_again_and_shown(running: Mapping[str, str]) -> None:
    again = memledger("up", "--detach", "--json", environment=running)
    assert again.status == 0
    status = memledger_here("status", "--json", environment=running)
    assert status.status == 0
    parts = {part["name"]: part for part in status.json()["parts"]}
    broker = "kafka" if broker_choice().kind == "kafka" else "trial-broker"
    assert set(parts) == {"postgres", broker, "projector", "worker-1", "gateway"}
    assert all(part["ready"] for part in parts.values())
    assert parts["postgres"]["disk_bytes"] > 0
    assert parts["worker-1"]["lag"] == 0
    foreground = memledger("up", environment=running)
    assert foreground.status == 2
    assert "memledger down" in foreground.errors


def test_the_supervisor_starts_a_killed_process_again(running: Mapping[str, str]) -> None:
    home = Home(Path(running["MEMLEDGER_HOME"]))

    def gateway() -> Any:
        state = home.read_state()
        assert state is not None
        return next(child for child in state.children if child.name == "gateway")

    killed = gateway()
    psutil.Process(killed.pid).kill()
    wait_until(lambda: gateway().pid != killed.pid and is_alive(gateway()), what="another gateway")
    wait_until(
        lambda: memledger_here("status", environment=running).status == 0,
        what="readiness",
        timeout_s=60,
    )


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("recall", "--user", "ann", "x", "--tenant", "nobody"), 2, "nobody"),
        (("recall", "--user", "ann", "x", "--as-of", "yesterday"), 2, "ISO 8601"),
        (("recall", "--user", "ann", "x", "--as-of", "2026-01-01T10:00:00"), 2, "time zone"),
        (("recall", "--user", "ann", " "), 2, "QUESTION"),
        (("recall", "question"), 2, "--user"),
        (("memories", "--user", "a\x07b"), 2, "--user"),
        (("import", "no-such-file.json"), 2, "no-such-file.json"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_unusable_input_is_told_on_standard_error(
    running: Mapping[str, str], arguments: tuple[str, ...], status: int, told: str
) -> None:
    finished = memledger_here(*arguments, environment=running)
    assert finished.status == status
    assert told in finished.errors
    assert finished.output == ""
    assert "Traceback" not in finished.errors


def test_a_verb_without_a_pipeline_tells_how_to_start_one(tmp_path: Path) -> None:
    environment = {"MEMLEDGER_HOME": str(tmp_path / "nothing")}
    for verb in (("memories", "--user", "x"), ("audit",)):
        finished = memledger_here(*verb, environment=environment)
        assert finished.status == 2
        assert "memledger up" in finished.errors
    status = memledger_here("status", "--json", environment=environment)
    assert (status.status, status.json()["running"]) == (1, False)
    down = memledger_here("down", environment=environment)
    assert down.status == 0


def test_a_key_serves_its_tenant_until_it_is_revoked(running: Mapping[str, str]) -> None:
    state = Home(Path(running["MEMLEDGER_HOME"])).read_state()
    assert state is not None
    made = memledger_here(
        "keys", "create", "--tenant", "acme", "--new-tenant", "--json", environment=running
    ).json()
    assert made["other_key_ids"] == []
    another = memledger_here("keys", "create", "--tenant", "acme", environment=running)
    assert f"its others go on working: {made['key_id']}" in another.errors
    client = httpx.Client(
        base_url=state.gateway_url, headers={"Authorization": f"Bearer {made['api_key']}"}
    )
    turn = {"user_id": "zoe", "conversation_id": "c", "user_text": "A tenant of my own."}
    with client:
        accepted = client.post("/v1/turns", json=turn)
        assert accepted.status_code == HTTPStatus.ACCEPTED, accepted.text
        question = {
            "user_id": "zoe",
            "query": "a tenant of my own",
            "at_least": accepted.json()["position"],
        }
        assert len(client.post("/v1/recall", json=question).json()["memories"]) == 1
        elsewhere = memledger_here("memories", "--user", "zoe", "--json", environment=running)
        assert elsewhere.json()["memories"] == []
        revoked = memledger_here("keys", "revoke", made["key_id"], environment=running)
        assert revoked.status == 0, revoked.errors
        wait_until(
            lambda: client.post("/v1/turns", json=turn).status_code == HTTPStatus.UNAUTHORIZED,
            what="the key to be refused",
        )
    whole = memledger_here("keys", "revoke", made["api_key"], environment=running)
    assert whole.status == 2


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"MEMLEDGER_EXTRACTOR": "nonsense"}, "nonsense"),
        ({"MEMLEDGER_EMBEDDER": "nonsense"}, "nonsense"),
        ({"MEMLEDGER_PARTITIONS": "none"}, "MEMLEDGER_PARTITIONS"),
        ({"DATABASE_URL": "mysql://x"}, "DATABASE_URL"),
    ],
)
def test_a_setting_that_cannot_be_used_ends_up_at_once(
    setting: Mapping[str, str], told: str
) -> None:
    with temporary_home() as root:
        environment = {"MEMLEDGER_HOME": str(root), "MEMLEDGER_GATEWAY_PORT": "0", **setting}
        up = memledger("up", "--detach", environment=environment)
        assert up.status == 2, up.errors
        assert told in up.errors
        status = memledger_here("status", "--json", environment={"MEMLEDGER_HOME": str(root)})
        assert status.json()["running"] is False
        down = memledger_here("down", "--json", environment={"MEMLEDGER_HOME": str(root)})
        assert down.json() == {"stopped": []}


def test_a_supervisor_that_is_still_starting_is_stopped_with_all_it_started() -> None:
    with temporary_home() as root:
        home = Home(root)
        environment = {"MEMLEDGER_HOME": str(root)}
        started = start_detached(home.make(), workers=1)
        supervisor = wait_until(home.read_supervisor, what="the supervisor to hold its home")
        wait_until((root / "postgres" / "cluster").exists, what="Postgres to be made")
        down = memledger("down", environment=environment)
        assert down.status == 0, down.errors
        assert not is_alive(supervisor)
        started.wait(timeout=10)
        assert not supervisor_holds(home)
        assert processes_below(root) == []


def processes_below(root: Path) -> list[str]:
    """Return the command lines of the processes that name a directory."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = " ".join(process.info["cmdline"] or ())
        if str(root) in command:
            found.append(command)
    return found


def test_what_users_wrote_is_printed_and_not_obeyed(
    running: Mapping[str, str], tmp_path: Path
) -> None:
    said = "see [/docs] and [red]this \x1b[2J \u202eevil"
    file = write_turns(tmp_path / "turns.jsonl", "eve", "markup", [said])
    assert memledger_here("import", str(file), environment=running).status == 0
    all_turns_closed(running)
    printed = memledger_here("memories", "--user", "eve", environment=running)
    assert printed.status == 0, printed.errors
    assert "[/docs] and [red]this" in printed.output
    assert "\x1b" not in printed.output
    assert "\u202e" not in printed.output


def test_another_number_of_partitions_is_refused_before_anything_is_appended(
    running: Mapping[str, str], tmp_path: Path
) -> None:
    file = write_turns(tmp_path / "turns.jsonl", "dan", "partitions", ["Hello."])
    other = {**running, "MEMLEDGER_PARTITIONS": "5"}
    refused = memledger("import", str(file), environment=other)
    assert refused.status == 2
    assert "set it to 3" in refused.errors


def test_more_workers_than_partitions_are_refused() -> None:
    with temporary_home() as root:
        environment = {"MEMLEDGER_HOME": str(root), "MEMLEDGER_PARTITIONS": "2"}
        up = memledger("up", "--detach", "--workers", "3", environment=environment)
        assert up.status == 2
        assert "2 partitions" in up.errors


def test_nothing_that_lies_in_the_current_directory_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "sprung"
    for package in ("schemas", "deploy"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"open({str(trap)!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    with temporary_home() as root:
        environment = {"MEMLEDGER_HOME": str(root), "MEMLEDGER_GATEWAY_PORT": "0"}
        up = memledger("up", "--detach", environment=environment)
        down = memledger("down", environment=environment)
    assert (up.status, down.status) == (0, 0), up.errors
    assert not trap.exists()
