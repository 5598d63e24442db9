"""``python -m deploy.processes.worker``: closes turns."""

from __future__ import annotations

import asyncio
import logging

from deploy.addresses import resolve
from deploy.budgeting import budgets_of, costs_nothing_of
from deploy.processes.health import Health, health_app
from deploy.processes.serving import run_process, serving
from deploy.unknown_tenants import warn_of_unknown_tenants
from deploy.wiring import (
    check_topics,
    embedder_of,
    extractor_of,
    keyring_of,
    ledger_of,
    problem_of,
    producer_of,
    read_model_of,
)
from processors.budget_limits import VARIABLE, BudgetLimits
from processors.explicit_requests import wants_it_now
from processors.worker import Worker, WorkerParts
from projections.canary import ModelRecords, VerifiedEmbedder
from projections.consolidation import ProjectedConsolidation
from projections.spending import PostgresSpending
from projections.summaries import PostgresSummaries
from projections.vector_repair import Pace, VectorRepair
from projections.waiting import PostgresWaitingTurns
from schemas.settings import Settings
from schemas.tasks import end_tasks

logger = logging.getLogger(__name__)


async def main(settings: Settings, stop: asyncio.Event) -> None:
    """Work until ``stop`` is set."""
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    async with (
        extractor_of(settings) as extractor,
        embedder_of(settings, warm=True) as embedder,
        keyring_of(settings, addresses) as keyring,
        read_model_of(
            settings, addresses, embedder, name="worker", pool_size_max=8, migrate=True
        ) as read_model,
        ledger_of(read_model) as ledger,
        producer_of(addresses, name="worker") as producer,
    ):
        records = ModelRecords(read_model, erased_among=keyring.erased_among)
        verified = VerifiedEmbedder(embedder, records)
        await verified.begin()
        budgets = BudgetLimits.read(settings.budgets)
        await warn_of_unknown_tenants(VARIABLE, budgets.tenants, keyring)
        worker = Worker(
            WorkerParts(
                bootstrap=addresses.kafka_bootstrap,
                keyring=keyring,
                ledger=ledger,
                waiting=PostgresWaitingTurns(read_model),
                consolidating=ProjectedConsolidation(read_model),
                producer=producer,
                extractor=extractor,
                embedder=verified,
                budget=budgets_of(settings, extractor, PostgresSpending(read_model)),
                wants_it_now=wants_it_now,
                costs_nothing=costs_nothing_of(settings),
                summaries=PostgresSummaries(read_model) if settings.session_summaries else None,
            ),
            settings,
        )
        repair = VectorRepair(
            read_model,
            # What is made later may wait for an embedder that the turns leave alone.
            VerifiedEmbedder(embedder.without_breaker(), records),
            erased_among=keyring.erased_among,
            pace=Pace(call_s=settings.embedder_timeout_s),
        )

        async def not_ready() -> str | None:
            return worker.not_ready or verified.mismatch or problem_of(extractor)

        health = Health(problem=lambda: None, not_ready=not_ready)
        async with serving(
            health_app(health),
            host="127.0.0.1",
            port=settings.worker_port,
            variable="MEMLEDGER_WORKER_PORT",
        ):
            repairing = asyncio.create_task(repair.run(stop), name="vector-repair")
            try:
                await worker.run(stop)
            finally:
                await end_tasks([repairing])


if __name__ == "__main__":
    run_process("worker", main)
