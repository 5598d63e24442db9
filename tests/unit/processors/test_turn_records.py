"""Reading turns again while the broker is silent."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import KafkaError, TopicPartition

from processors.turn_records import KafkaTurnRecords
from schemas.errors import LogUnavailable


class Failed:
    """A message that tells of a failure."""

    def error(self) -> KafkaError:
        """Return the failure."""
        return KafkaError(KafkaError._ALL_BROKERS_DOWN)


class SilentConsumer:
    """Answers nothing until it is let go, and then that the broker is away.

    Attributes:
        asked: set once somebody waits for it.
        let_go: ends its silence.
        at_work: how many wait for it, and at most did.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()
        self.at_work = [0, 0]
        self.closed = 0

    def assign(self, partitions: list[TopicPartition]) -> None:
        """Be told what to read."""

    def consume(self, count: int, timeout: float) -> list[Failed]:  # noqa: ARG002 - the client's signature
        """Keep silent."""
        self.at_work[0] += 1
        self.at_work[1] = max(self.at_work)
        self.asked.set()
        assert self.let_go.wait(30)
        self.at_work[0] -= 1
        return [Failed()]

    def close(self) -> None:
        """Be closed."""
        self.closed += 1


def test_a_silent_broker_keeps_no_thread_that_others_share(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = SilentConsumer()
    monkeypatch.setattr(
        "processors.turn_records.reader.new_consumer", lambda *_args, **_settings: silent
    )

    async def run() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        records = KafkaTurnRecords("nowhere:1", client_id="test")
        reads = [asyncio.create_task(records.read(0, [number])) for number in range(3)]
        try:
            assert await asyncio.wait_for(asyncio.to_thread(silent.asked.wait, 10), timeout=10)
        finally:
            silent.let_go.set()
        results = await asyncio.gather(*reads, return_exceptions=True)
        assert [type(result) for result in results] == [LogUnavailable] * 3
        await records.close()

    asyncio.run(run())
    assert silent.at_work == [0, 1]
    assert silent.closed == 3
