"""``python -m deploy.processes.worker``: closes turns."""

from __future__ import annotations

import asyncio
import logging

from deploy.addresses import resolve
from deploy.processes.health import Health, health_app
from deploy.processes.serving import run_process, serving
from deploy.wiring import (
    check_topics,
    embedder_of,
    keyring_of,
    ledger_of,
    producer_of,
    read_model_of,
)
from processors.extractors.loading import make_extractor
from processors.worker import Worker, WorkerParts
from schemas.settings import Settings

logger = logging.getLogger(__name__)


async def main(settings: Settings, stop: asyncio.Event) -> None:
    """Work until ``stop`` is set."""
    addresses = resolve(settings)
    extractor = make_extractor(settings.extractor)
    await check_topics(settings, addresses)
    async with (
        embedder_of(settings, warm=True) as embedder,
        keyring_of(settings, addresses) as keyring,
        read_model_of(
            settings, addresses, embedder, name="worker", pool_size_max=8, migrate=True
        ) as read_model,
        ledger_of(read_model) as ledger,
        producer_of(addresses, name="worker") as producer,
    ):
        worker = Worker(
            WorkerParts(
                bootstrap=addresses.kafka_bootstrap,
                keyring=keyring,
                ledger=ledger,
                producer=producer,
                extractor=extractor,
                embedder=embedder,
            ),
            settings,
        )

        async def not_ready() -> str | None:
            return worker.not_ready

        health = Health(problem=lambda: None, not_ready=not_ready)
        async with serving(health_app(health), host="127.0.0.1", port=settings.worker_port):
            await worker.run(stop)


if __name__ == "__main__":
    run_process("worker", main)
