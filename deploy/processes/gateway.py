"""``python -m deploy.processes.gateway``: the HTTP API."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Final
from uuid import UUID, uuid4

from fastapi import FastAPI, Request

from deploy.addresses import Addresses, resolve
from deploy.processes.api_page import api_page_route
from deploy.processes.edge import RequestEdge
from deploy.processes.etags import ConditionalGets, tag_key_of
from deploy.processes.health import Health, health_routes
from deploy.processes.mcp_door import InProcessCalls, add_mcp_door, running_doors
from deploy.processes.page_door import PageDoor, add_page_door
from deploy.processes.pausing import pause_router
from deploy.processes.rate_limits import VARIABLE as RATES_VARIABLE
from deploy.processes.rate_limits import RateLimiter, RateLimits
from deploy.processes.serving import run_process, serving
from deploy.processes.user_tokens import UserTokenHolders, user_token_router
from deploy.unknown_tenants import Tenants, warn_of_unknown_tenants
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from processors.turn_records import KafkaTurnRecords
from producers.append import TurnAppender
from producers.command_routes import Caller, command_router
from producers.commands import CommandAppender
from producers.curation_routes import curation_router
from producers.curations import CurationAppender
from producers.memory_tool import MemoryTool
from producers.memory_tool_routes import memory_tool_router
from producers.routes import ingest_router
from producers.subject_records import SubjectRecords
from projections.canary import ModelRecords, VerifiedEmbedder
from projections.file_routes import file_router
from projections.files.answers import FileAnswers
from projections.files.listings import FileListings
from projections.flag_routes import flag_router
from projections.flags import PostgresFlags
from projections.held_memories import HeldMemories
from projections.memories import Memories
from projections.profile import Profiles
from projections.profile_routes import profile_router
from projections.read_model import ReadModel
from projections.recall import Recall
from projections.recall_log import RecallLog
from projections.recall_policies import VARIABLE as POLICIES_VARIABLE
from projections.recall_policies import Policies
from projections.recall_routes import recall_router
from projections.recalls import PostgresRecalls
from projections.routes import query_router
from projections.summaries import PostgresSummaries
from projections.summary_routes import summary_router
from projections.tokens import token_counter
from projections.touched import OutcomeRecords, TouchedMemories
from projections.turn_routes import turn_router
from projections.turns import PostgresTurns
from schemas.commands import CuratedMemory
from schemas.errors import LogUnavailable, MemledgerError
from schemas.http import bearer_token, install_problem_handlers
from schemas.http_body import JsonBodies
from schemas.keyring import Keyring
from schemas.keyring.api_keys import ApiKey
from schemas.keyring.signing import SigningKeys
from schemas.log.admin import partition_count
from schemas.log.producer import LogProducer
from schemas.ports import Embedder
from schemas.settings import Settings
from schemas.topics import FILES, TURNS, memories_topic
from schemas.user_tokens import UserTokens

logger = logging.getLogger(__name__)

_READY_TIMEOUT_S: Final = 5.0


async def main(settings: Settings, stop: asyncio.Event) -> None:
    """Serve the API until ``stop`` is set."""
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    async with (
        embedder_of(settings, warm=True) as embedder,
        keyring_of(settings, addresses, pool_size_max=8) as keyring,
        read_model_of(
            settings, addresses, embedder, name="gateway", pool_size_max=16, migrate=True
        ) as read_model,
        producer_of(addresses, name="gateway") as producer,
    ):
        await warn_of_tenants(settings, keyring)
        records = ModelRecords(read_model, erased_among=keyring.erased_among)
        verified = VerifiedEmbedder(embedder, records)
        await verified.begin()
        recall_log = RecallLog(producer, keyring.keys, partitions=settings.partitions)
        outcomes = KafkaTurnRecords(
            addresses.kafka_bootstrap,
            client_id="memledger-gateway",
            topic=memories_topic(settings.generation),
        )
        app = make_app(
            settings,
            addresses,
            keyring=keyring,
            read_model=read_model,
            producer=producer,
            embedder=verified,
            recall_log=recall_log,
            outcomes=outcomes,
        )
        # A full collection looks at all there is, 100,000 objects that stay for good, and recalls
        # wait meanwhile.
        gc.collect()
        gc.freeze()
        try:
            async with (
                running_doors(app),
                serving(
                    app,
                    host=settings.gateway_host,
                    port=settings.gateway_port,
                    variable="MEMLEDGER_GATEWAY_PORT",
                ) as port,
            ):
                logger.info("listening on http://%s:%d", settings.gateway_host, port)
                await stop.wait()
        finally:
            await recall_log.close()
            await outcomes.close()


async def warn_of_tenants(settings: Settings, tenants: Tenants) -> None:
    """Warn of tenants that there are not and that files of the settings name.

    Args:
        settings: name the files.
        tenants: knows which tenants there are.

    Raises:
        ConfigurationError: a file cannot be used.
        KeyringUnavailable: the tenants cannot be asked for.
    """
    rates = RateLimits.read(settings.rate_limits).tenants
    await warn_of_unknown_tenants(RATES_VARIABLE, rates, tenants)
    policies = Policies.read(settings.recall_policies).tenants
    await warn_of_unknown_tenants(POLICIES_VARIABLE, policies, tenants)


def make_app(
    settings: Settings,
    addresses: Addresses,
    *,
    keyring: Keyring,
    read_model: ReadModel,
    producer: LogProducer,
    embedder: Embedder,
    recall_log: RecallLog | None = None,
    outcomes: OutcomeRecords | None = None,
) -> FastAPI:
    """Return the application with every route.

    Args:
        settings: the settings.
        addresses: where the stores are.
        keyring: an open keyring.
        read_model: the generation's tables.
        producer: appends to the log.
        embedder: the embedder that the read model was built with.
        recall_log: records what was served; whoever gives none does not wait for what is under way
            when it ends.
        outcomes: reads outcomes of the log again; without it, what a turn confirmed or withdrew is
            told in general.
    """
    recall_log = recall_log or RecallLog(producer, keyring.keys, partitions=settings.partitions)
    app = FastAPI(
        title="memledger",
        version=version("memledger"),
        summary="Long-term memory for fleets of chat assistants, kept as a ledger.",
        # An address is right or unknown: a redirection would repeat the host that a caller names.
        redirect_slashes=False,
        # Those pages load scripts from a host of others.
        docs_url=None,
        redoc_url=None,
    )
    install_problem_handlers(app)
    signing = SigningKeys(settings.keys_home)
    limiter = RateLimiter(RateLimits.read(settings.rate_limits))
    # The one that is added last is the outermost.
    app.add_middleware(ConditionalGets, key=tag_key_of(signing))
    app.add_middleware(RequestEdge)

    calls = InProcessCalls()

    async def authenticate(token: str) -> str:
        tenant = calls.tenant(token) or await keyring.authenticate(token)
        limiter.admit_request(tenant)
        return tenant

    async def tenant_of(request: Request) -> str:
        return await authenticate(bearer_token(request))

    async def caller_of(token: str) -> Caller:
        tenant = await authenticate(token)
        key = f"api-key {ApiKey.parse(token).key_id}" if calls.tenant(token) is None else "mcp"
        return Caller(tenant=tenant, name=key)

    async def holder_of(token: str) -> tuple[str, str]:
        return await authenticate(token), ApiKey.parse(token).key_id

    async def find_subject(tenant: str, user_id: str) -> UUID | None:
        found = await keyring.subjects_for(tenant, [user_id], create=False)
        return found[user_id].subject if user_id in found else None

    async def is_paused(tenant: str, user_id: str) -> bool:
        found = await keyring.subjects_for(tenant, [user_id], create=False)
        return user_id in found and found[user_id].paused

    held = HeldMemories(read_model)

    async def find_memory(tenant: str, user_id: str, memory_id: UUID) -> CuratedMemory | None:
        subject = await find_subject(tenant, user_id)
        return None if subject is None else await held.get(subject, memory_id)

    records = SubjectRecords(keyring, producer, settings.partitions)
    commands = CommandAppender(records)
    curations = CurationAppender(records, find_memory)
    flags = PostgresFlags(read_model)
    tokens_of_notes = token_counter(settings.tokenizer)
    # Routes are looked through in their order: what chats wait for comes first.
    app.include_router(
        query_router(
            recall=Recall(
                read_model,
                embedder,
                partitions=settings.partitions,
                min_similarity=settings.recall_min_similarity,
                policies=Policies.read(settings.recall_policies),
                tokens=tokens_of_notes,
            ),
            memories=Memories(read_model),
            authenticate=tenant_of,
            find_subject=find_subject,
            is_paused=is_paused,
            on_served=recall_log.note,
        )
    )
    app.include_router(
        ingest_router(
            TurnAppender(keyring, producer, settings.partitions),
            authenticate,
            admit=limiter.admit_turns,
            bodies=JsonBodies(
                bytes_max=settings.request_bytes_max,
                held_bytes_max=settings.request_bytes_held_max,
                remedy="send fewer turns in one request",
            ),
        )
    )
    app.include_router(command_router(commands, flags, caller_of))
    app.include_router(curation_router(curations, commands, caller_of))
    app.include_router(
        flag_router(
            flags=flags,
            authenticate=tenant_of,
            find_subject=find_subject,
            user_ids=keyring.user_ids,
        )
    )
    app.include_router(
        recall_router(
            recalls=PostgresRecalls(read_model, keyring.keys, days=settings.recalls_days),
            authenticate=tenant_of,
            find_subject=find_subject,
        )
    )

    app.include_router(
        profile_router(
            profiles=Profiles(read_model, tokens_of_notes),
            authenticate=tenant_of,
            find_subject=find_subject,
            is_paused=is_paused,
        )
    )

    app.include_router(
        summary_router(
            summaries=PostgresSummaries(read_model),
            authenticate=tenant_of,
            find_subject=find_subject,
            is_paused=is_paused,
        )
    )

    file_records = SubjectRecords(keyring, producer, settings.partitions, topic=FILES)
    app.include_router(
        memory_tool_router(
            MemoryTool(file_records, FileAnswers(read_model), find_subject, is_paused),
            authenticate,
        )
    )
    app.include_router(
        file_router(
            listings=FileListings(read_model), authenticate=tenant_of, find_subject=find_subject
        )
    )
    app.include_router(
        turn_router(
            turns=PostgresTurns(
                read_model,
                partitions=settings.partitions,
                touched=None if outcomes is None else TouchedMemories(outcomes, keyring.keys),
            ),
            authenticate=tenant_of,
            find_subject=find_subject,
        )
    )

    app.include_router(
        pause_router(authenticate=tenant_of, pause=keyring.pause, set_paused=keyring.set_paused)
    )
    tokens = UserTokens(signing)
    app.include_router(user_token_router(tokens, holder_of))
    if settings.mcp:
        add_mcp_door(app, UserTokenHolders(tokens, keyring), calls, limiter.admit_request)

    add_page_door(
        app,
        PageDoor(
            tokens=tokens,
            keyring=keyring,
            read_model=read_model,
            curations=curations,
            partitions=settings.partitions,
            admit=limiter.admit_request,
            authenticate=tenant_of,
            find_subject=find_subject,
        ),
    )

    async def not_ready() -> str | None:
        return await _unreachable(keyring, read_model, bootstrap=addresses.kafka_bootstrap)

    app.routes.append(api_page_route(app))
    app.routes.extend(health_routes(Health(problem=lambda: None, not_ready=not_ready)))
    return app


async def _unreachable(keyring: Keyring, read_model: ReadModel, *, bootstrap: str) -> str | None:
    """Return which store a request would fail for, or ``None``.

    Whoever asks needs no key, so where the store is and what it said goes to the log alone.
    """

    async def log() -> None:
        count = await asyncio.to_thread(
            partition_count, bootstrap, TURNS, timeout_s=_READY_TIMEOUT_S
        )
        if count is None:
            raise LogUnavailable(f"the topic {TURNS} does not exist")

    checks: dict[str, Callable[[], Awaitable[object]]] = {
        "keyring": lambda: keyring.erased_among([uuid4()]),
        "read model": read_model.ping,
        "log": log,
    }
    deadline = asyncio.get_running_loop().time() + _READY_TIMEOUT_S
    for store, check in checks.items():
        try:
            async with asyncio.timeout_at(deadline):
                await check()
        except MemledgerError as error:
            logger.warning("not ready: the %s: %s", store, error)
            return f"the {store} cannot be used: the gateway's log tells why"
        except TimeoutError:
            return f"the {store} did not answer within {_READY_TIMEOUT_S:g} s"
    return None


if __name__ == "__main__":
    run_process("gateway", main)
