"""Every row of docs/input.md, played once on real stores."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from click.testing import CliRunner
from fastapi import FastAPI

from deploy.addresses import Addresses
from deploy.cli import main
from deploy.processes.gateway import make_app
from projections.embedders import HashEmbedder
from schemas.commands import Curation, SessionEnd
from schemas.keyring import SubjectKeys
from schemas.log.reader import bounds, new_consumer
from schemas.log.sealed import LogRecord, open_record
from schemas.records import Turn
from schemas.settings import DEFAULT_TENANT, Settings
from schemas.topics import TURNS
from tests.conftest import TestStores
from tests.support import edges
from tests.support.brokers import broker_choice
from tests.support.edges import RequestRow
from tests.support.extractors import NotingExtractor
from tests.support.hostile_records import HostileProducer
from tests.support.one_process import OneProcess, opened_pipeline
from tests.support.waiting import eventually

HEADINGS: Final = (
    "Requests with turns",
    "Facts, decisions and ends",
    "Questions",
    "Listings",
)
COMPOSED, DECOMPOSED = "jos\u00e9 of every door", "jose\u0301 of every door"
"""One user, spelled in both ways."""

OTHER_TENANT: Final = "another"

_KINDS: Final[Mapping[str, type[Turn | Curation | SessionEnd]]] = {
    "turn": Turn,
    "curation": Curation,
    "session-end": SessionEnd,
}
_AFTERWARDS: Final = "the next good turn"
_CLOSE_S: Final = 90.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A turn of the log: whose it is, and what it says."""

    user_id: str
    turn: Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Entered:
    """A record of the log that is no turn: what it is sealed for and what it says."""

    keys: SubjectKeys
    read: LogRecord
    record: Curation | SessionEnd


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """A command that ran."""

    status: int
    output: str
    errors: str


@dataclass(kw_only=True)
class Scene:
    """What became of everything that was sent.

    Attributes:
        alone, listed: by case, the answers to a turn alone and in the middle of a list.
        answered: by heading and case, the answers to whole requests.
        kept_of: by heading and case, how many turns the log then held of a request.
        imported: what ``memledger import`` told of one file with every line.
        lines: by case, the number of its line.
        kept: the turns of the log, by position.
        entered: the records of the log that are no turns, by position.
        of_tenants: by tenant, the answer to the same fact of each tenant's user of one name.
        ran: by case, the commands.
        audit: what ``memledger audit`` told when all was done.
        same_user: by door, what was found of the user of every door.
        ready: by what was done to the stores, the answers of /readyz, recall and turns.
    """

    alone: dict[str, httpx.Response] = field(default_factory=dict)
    listed: dict[str, httpx.Response] = field(default_factory=dict)
    answered: dict[tuple[str, str], httpx.Response] = field(default_factory=dict)
    kept_of: dict[tuple[str, str], int] = field(default_factory=dict)
    imported: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)
    entered: dict[str, Entered] = field(default_factory=dict)
    of_tenants: dict[str, httpx.Response] = field(default_factory=dict)
    ran: dict[str, Ran] = field(default_factory=dict)
    audit: dict[str, Any] = field(default_factory=dict)
    same_user: dict[str, list[str]] = field(default_factory=dict)
    ready: dict[str, tuple[httpx.Response, ...]] = field(default_factory=dict)


def play(stores: TestStores, directory: Path) -> Scene:
    """Play every row and return what became of it."""
    playing = _Play(stores, directory)
    try:
        return asyncio.run(playing.play())
    finally:
        playing.close()


class _Play:
    def __init__(self, stores: TestStores, directory: Path) -> None:
        self.scene = Scene()
        self._stores = stores
        self._directory = directory
        self._consumer = new_consumer(stores.kafka_bootstrap, client_id="test")
        self._environment = {
            "MEMLEDGER_HOME": str(directory / "home"),
            "DATABASE_URL": stores.database_url,
            "KAFKA_BOOTSTRAP": stores.kafka_bootstrap,
            "MEMLEDGER_BROKER": broker_choice().kind,
            "MEMLEDGER_KEYRING_URL": stores.keyring_url,
            "MEMLEDGER_KEY_DIRECTORY": str(stores.key_directory),
            "MEMLEDGER_PARTITIONS": str(stores.partitions),
            "MEMLEDGER_EMBEDDER": "hash",
            "MEMLEDGER_EMBEDDER_DIMENSION": "64",
        }

    async def play(self) -> Scene:
        async with opened_pipeline(self._stores) as process:
            await process.keyring.ensure_tenant(DEFAULT_TENANT)
            key = await process.keyring.create_api_key(DEFAULT_TENANT)
            # An exception that no handler turns into an answer fails the scene.
            transport = httpx.ASGITransport(self._gateway(process), raise_app_exceptions=True)
            headers = {"authorization": f"Bearer {key}", **edges.JSON}
            async with (
                httpx.AsyncClient(
                    transport=transport, base_url="http://test", headers=headers, timeout=60
                ) as client,
                process.projecting(),
            ):
                async with process.working(NotingExtractor()):
                    await self._send(client)
                    await self._send_of_tenants(process, client)
                    await self._import()
                    await self._write_records(process, client)
                    await eventually(
                        lambda: self._all_closed(process),
                        what="every turn to be closed",
                        timeout_s=_CLOSE_S,
                    )
                await self._look(process, client)
            await self._lose_the_tables(process, transport, headers)
        return self.scene

    def close(self) -> None:
        self._consumer.close()

    def _gateway(self, process: OneProcess) -> FastAPI:
        stores = self._stores
        return make_app(
            Settings(partitions=stores.partitions, generation=stores.generation),
            Addresses(
                database_url=stores.database_url,
                keyring_url=stores.keyring_url,
                kafka_bootstrap=stores.kafka_bootstrap,
            ),
            keyring=process.keyring,
            read_model=process.read_model,
            producer=process.producer,
            embedder=HashEmbedder(dimension=64),
        )

    async def _send(self, client: httpx.AsyncClient) -> None:
        scene = self.scene
        for number, row in enumerate(edges.turn_rows()):
            # The turns of one user wait for each other.
            item, good = row.text(user_id=f"w{number}"), edges.good_turn(number)
            if "turn" in row.doors:
                scene.alone[row.case] = await client.post("/v1/turns", content=item)
            if "list" in row.doors:
                content = f'{{"turns": [{good}, {item}, {good}]}}'
                scene.listed[row.case] = await client.post("/v1/turns", content=content)
        for spelling in (COMPOSED, DECOMPOSED):
            turn = {**edges.GOOD_TURN, "user_id": spelling, "user_text": f"posted {spelling!a}"}
            assert (await client.post("/v1/turns", json=turn)).status_code == 202
        for heading in HEADINGS:
            for asked in edges.request_rows(heading):
                before = await self._appended()
                scene.answered[heading, asked.case] = await _ask(client, asked)
                scene.kept_of[heading, asked.case] = await self._appended() - before

    async def _send_of_tenants(self, process: OneProcess, client: httpx.AsyncClient) -> None:
        """Send one fact under one id of a user whom two tenants have."""
        await process.keyring.ensure_tenant(OTHER_TENANT)
        for tenant in (DEFAULT_TENANT, OTHER_TENANT):
            key = await process.keyring.create_api_key(tenant)
            self.scene.of_tenants[tenant] = await client.post(
                "/v1/memories",
                json={**edges.GOOD_BODIES["fact"], "user_id": "of both", "id": "1"},
                headers={"authorization": f"Bearer {key}"},
            )

    async def _import(self) -> None:
        """Import one file in which each bad line stands between two good ones."""
        lines = [edges.good_turn(0)]
        for number, row in enumerate(edges.turn_rows()):
            if "import" in row.doors:
                lines.append(row.text(user_id=f"i{number}"))
                self.scene.lines[row.case] = len(lines)
                lines.append(edges.good_turn(number))
        for spelling in (COMPOSED, DECOMPOSED):
            text = f"imported {spelling!a}"
            lines.append(json.dumps({**edges.GOOD_TURN, "user_id": spelling, "user_text": text}))
        file = self._directory / "turns.jsonl"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        arguments = ("import", str(file), "--format", "jsonlines", "--json")
        ran = await asyncio.to_thread(self._run, arguments, {})
        self.scene.imported = json.loads(ran.output) | {"status": ran.status}

    async def _write_records(self, process: OneProcess, client: httpx.AsyncClient) -> None:
        position = (await client.post("/v1/turns", json=edges.GOOD_TURN)).json()["position"]
        user = str(edges.GOOD_TURN["user_id"])
        found = await process.keyring.subjects_for(DEFAULT_TENANT, [user], create=False)
        hostile = HostileProducer(
            self._stores.kafka_bootstrap, found[user], int(position.partition(":")[0])
        )
        for row in edges.record_rows():
            await asyncio.to_thread(getattr(hostile, row.record))
            answer = await client.post(
                "/v1/turns", json={**edges.GOOD_TURN, "user_text": f"{_AFTERWARDS} {row.case}"}
            )
            assert answer.status_code == 202

    async def _look(self, process: OneProcess, client: httpx.AsyncClient) -> None:
        """Look at what there is when everything is done."""
        for partition in range(self._stores.partitions):
            for record in await process.records(TURNS, partition):
                await self._keep(process, record)
        for door, spelling in (("composed", COMPOSED), ("decomposed", DECOMPOSED)):
            listed = await client.get("/v1/memories", params={"user_id": spelling})
            self.scene.same_user[f"listing, {door}"] = _contents(listed.json())
            recalled = await client.post(
                "/v1/recall",
                json={"user_id": spelling, "query": "posted", "min_similarity": -1},
            )
            self.scene.same_user[f"recall, {door}"] = _contents(recalled.json())
            ran = await asyncio.to_thread(self._run, ("memories", "--user", spelling, "--json"), {})
            self.scene.same_user[f"command, {door}"] = _contents(json.loads(ran.output))
        for row in edges.command_rows():
            self.scene.ran[row.case] = await asyncio.to_thread(
                self._run, row.arguments, row.environment
            )
        ran = await asyncio.to_thread(self._run, ("audit", "--json"), {})
        self.scene.audit = json.loads(ran.output) | {"status": ran.status}

    async def _lose_the_tables(
        self, process: OneProcess, transport: httpx.ASGITransport, headers: Mapping[str, str]
    ) -> None:
        """Drop what an operator may drop by mistake, and ask again."""
        async with httpx.AsyncClient(
            transport=transport, base_url="http://test", headers=headers, timeout=60
        ) as client:

            async def ask() -> tuple[httpx.Response, ...]:
                return (
                    await client.get("/readyz"),
                    await client.post("/v1/recall", json={"user_id": "u", "query": "q"}),
                    await client.post("/v1/turns", json=edges.GOOD_TURN),
                )

            async def is_ready() -> bool:
                return (await client.get("/readyz")).status_code == httpx.codes.OK

            await eventually(is_ready, what="the gateway to be ready")
            self.scene.ready["nothing"] = await ask()
            async with process.read_model.connection() as connection:
                await connection.execute("DROP SCHEMA gen_g1 CASCADE")
            self.scene.ready["read model"] = await ask()
            async with process.keyring._store._pool.connection() as connection:
                await connection.execute("DROP SCHEMA keyring CASCADE")
            self.scene.ready["keyring"] = await ask()

    async def _all_closed(self, process: OneProcess) -> bool:
        """Tell whether the projection has read all turns and closed each."""
        async with process.read_model.connection() as connection, connection.transaction():
            await connection.execute("SELECT set_config('memledger.every_subject', 'yes', true)")
            cursor = await connection.execute(
                "SELECT (SELECT count(*) FROM open_turns) = 0 AND (SELECT sum(next_offset) "
                "FROM positions WHERE topic = %s) = %s",
                [TURNS, await self._appended()],
            )
            row = await cursor.fetchone()
        return row is not None and bool(row[0])

    async def _appended(self) -> int:
        """Return how many records the turns topic has had."""

        def ends() -> int:
            return sum(
                bounds(self._consumer, TURNS, partition)[1]
                for partition in range(self._stores.partitions)
            )

        return await asyncio.to_thread(ends)

    async def _keep(self, process: OneProcess, record: LogRecord) -> None:
        try:
            subject = record.header().subject
            keys = (await process.keyring.keys([subject]))[subject]
            assert isinstance(keys, SubjectKeys)
            opened = open_record(_KINDS[record.header().schema_name], record, keys)
        except Exception:  # noqa: BLE001 - what nobody should have written is not among the kept
            return
        place = f"{record.position.partition}:{record.position.offset}"
        if isinstance(opened, Turn):
            users = await process.keyring.user_ids([subject])
            self.scene.kept[place] = Kept(user_id=users[subject], turn=opened)
        else:
            self.scene.entered[place] = Entered(keys=keys, read=record, record=opened)

    def _run(self, arguments: tuple[str, ...], environment: Mapping[str, str]) -> Ran:
        """Run the command in this process, which is a second cheaper than another one."""
        ran = CliRunner().invoke(main, arguments, env={**self._environment, **environment})
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return Ran(status=ran.exit_code, output=ran.stdout, errors=ran.stderr)


async def _ask(client: httpx.AsyncClient, row: RequestRow) -> httpx.Response:
    """Send a request with its address as it is spelled."""
    request = client.build_request(row.method, "/", content=row.content, headers=row.headers)
    request.url = httpx.URL(scheme="http", host="test", raw_path=row.address.encode())
    return await client.send(request)


def _contents(answer: Mapping[str, Any]) -> list[str]:
    return sorted(memory["content"] for memory in answer["memories"])
