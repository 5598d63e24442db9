"""``python -m deploy.processes.projector``: folds the log into the read model."""

from __future__ import annotations

import asyncio
import logging

from deploy.addresses import resolve
from deploy.processes.health import Health, health_app
from deploy.processes.serving import run_process, serving
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from projections.files.projection import FilesTopic
from projections.projector import Projector
from projections.recall_records import RecallRecords, RecallSweeper
from projections.words_repair import WordsRepair
from schemas.settings import Settings

logger = logging.getLogger(__name__)


async def main(settings: Settings, stop: asyncio.Event) -> None:
    """Project until ``stop`` is set."""
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    async with (
        embedder_of(settings) as embedder,
        keyring_of(settings, addresses) as keyring,
        read_model_of(settings, addresses, embedder, name="projector", migrate=True) as read_model,
        producer_of(addresses, name="projector") as producer,
    ):
        projector = Projector(
            bootstrap=addresses.kafka_bootstrap,
            read_model=read_model,
            keyring=keyring,
            producer=producer,
            partitions=settings.partitions,
            sides=[FilesTopic(partitions=settings.partitions), RecallRecords()],
        )
        sweeper = RecallSweeper(read_model, days=settings.recalls_days)
        health = Health(
            problem=lambda: None if projector.state.alive else "it does not go round its loop",
            not_ready=lambda: _not_ready(projector),
        )
        async with (
            serving(
                health_app(health),
                host="127.0.0.1",
                port=settings.projector_port,
                variable="MEMLEDGER_PROJECTOR_PORT",
            ),
            asyncio.TaskGroup() as tasks,
        ):
            tasks.create_task(sweeper.run(stop))
            tasks.create_task(WordsRepair(read_model).run(stop))
            await projector.run(stop)


async def _not_ready(projector: Projector) -> str | None:
    state = projector.state
    if state.parked:
        return f"partitions {sorted(state.parked)} are parked: see the log"
    return None if state.ready else "not caught up"


if __name__ == "__main__":
    run_process("projector", main)
