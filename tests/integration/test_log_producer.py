"""A producer outlives a client that failed for good: nobody waits for ever, later appends stand."""

from __future__ import annotations

import asyncio
import logging
import os

import pytest

from schemas.errors import LogUnavailable
from schemas.log.producer import LogProducer
from schemas.topics import TURNS
from tests.contracts.logs import sealed
from tests.support.brokers import new_producer
from tests.support.failing_client import fail_for_good
from tests.support.waiting import eventually

# Together more than a broker acknowledges between two calls.
RECORDS = 200
RECORD_BYTES = 200_000


def test_a_client_that_fails_for_good_is_replaced(
    ledger_bootstrap: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def act() -> None:
        producer = new_producer(ledger_bootstrap)
        try:
            assert await producer.append(TURNS, 0, sealed()) == 0
            failed = producer._producer
            value = os.urandom(RECORD_BYTES)
            waiting = [producer.submit(TURNS, 1, sealed(value=value)) for _ in range(RECORDS)]
            fail_for_good(failed)

            async with asyncio.timeout(20):
                outcomes = await asyncio.gather(*waiting, return_exceptions=True)
            assert any(isinstance(outcome, LogUnavailable) for outcome in outcomes)
            assert all(isinstance(outcome, LogUnavailable | int) for outcome in outcomes)

            async def appended() -> list[int] | None:
                try:
                    return [await producer.append(TURNS, 2, sealed())]
                except LogUnavailable:
                    return None

            assert await eventually(appended, what="another client to take over") == [0]
            assert producer._producer is not failed
            assert await producer.append(TURNS, 2, sealed()) == 1
        finally:
            await producer.close()

    with caplog.at_level(logging.ERROR, logger="schemas.log.producer"):
        asyncio.run(act())
    (record,) = caplog.records
    assert "made by a test" in record.getMessage()


def test_a_client_that_fails_while_it_is_closed_leaves_nobody_waiting(
    ledger_bootstrap: str,
) -> None:
    async def act() -> None:
        producer = new_producer(ledger_bootstrap)
        await producer.append(TURNS, 0, sealed())
        value = os.urandom(RECORD_BYTES)
        waiting = [producer.submit(TURNS, 1, sealed(value=value)) for _ in range(RECORDS)]
        fail_for_good(producer._producer)
        await producer.close()
        async with asyncio.timeout(20):
            await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(act())


def test_what_is_not_acknowledged_when_it_is_closed_is_told_as_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def act() -> None:
        producer = LogProducer("127.0.0.1:1", client_id="test")
        waiting = producer.submit(TURNS, 0, sealed())
        await producer.close()
        async with asyncio.timeout(20):
            with pytest.raises(LogUnavailable):
                await waiting

    monkeypatch.setattr("schemas.log.producer._FLUSH_S", 0.1)
    asyncio.run(act())


def test_what_is_submitted_once_it_is_closed_is_told_as_unavailable() -> None:
    async def act() -> None:
        producer = LogProducer("127.0.0.1:1", client_id="test", quiet=True)
        await producer.close()
        await producer.close()
        with pytest.raises(LogUnavailable, match="closed"):
            producer.submit(TURNS, 0, sealed())

    asyncio.run(act())
