"""The gateway's readiness, which anybody may ask, names the store that fails and nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import cast
from uuid import UUID

import httpx
import pytest

from deploy.processes import gateway
from projections.read_model import ReadModel
from schemas.errors import (
    KeyringUnavailable,
    LogUnavailable,
    MemledgerError,
    MigrationError,
    ReadModelUnavailable,
)
from schemas.keyring import Keyring
from tests.unit.test_documented_api import HEADERS
from tests.unit.test_documented_api import gateway as memory_gateway

SAID = 'connection to server at "db.internal" (10.0.0.7), port 5432 failed'


class _Keyring:
    def __init__(self, error: MemledgerError | None) -> None:
        self._error = error

    async def erased_among(self, _subjects: Collection[UUID]) -> set[UUID]:
        if self._error is not None:
            raise self._error
        return set()


class _ReadModel:
    def __init__(self, error: MemledgerError | None) -> None:
        self._error = error

    async def ping(self) -> None:
        if self._error is not None:
            raise self._error


def _reason(monkeypatch: pytest.MonkeyPatch, failing: MemledgerError | None) -> str | None:
    def partition_count(_bootstrap: str, _topic: str, *, timeout_s: float) -> int:
        assert timeout_s > 0
        if isinstance(failing, LogUnavailable):
            raise failing
        return 8

    monkeypatch.setattr(gateway, "partition_count", partition_count)
    keyring = _Keyring(
        failing if isinstance(failing, KeyringUnavailable | MigrationError) else None
    )
    read_model = _ReadModel(failing if isinstance(failing, ReadModelUnavailable) else None)
    return asyncio.run(
        gateway._unreachable(
            cast("Keyring", keyring), cast("ReadModel", read_model), bootstrap="kafka.internal:9092"
        )
    )


@pytest.mark.parametrize(
    ("error", "store"),
    [
        (KeyringUnavailable(SAID), "keyring"),
        (ReadModelUnavailable(SAID), "read model"),
        (LogUnavailable(SAID), "log"),
        (MigrationError(SAID), "keyring"),
    ],
)
def test_a_store_that_is_down_is_named_without_its_address(
    error: MemledgerError,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    reason = _reason(monkeypatch, error)
    assert reason is not None
    assert reason == f"the {store} cannot be used: the gateway's log tells why"
    assert SAID in caplog.text


def test_stores_that_answer_leave_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _reason(monkeypatch, None) is None


def test_requests_that_fill_the_room_turn_others_away_until_they_are_through() -> None:
    held, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b'{"turns": [' + b" " * 1_900
        held.set()
        await go_on.wait()
        yield b"1]}"

    async def act() -> None:
        app = memory_gateway(request_bytes_max=2_000, request_bytes_held_max=2_000)
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://test", headers=HEADERS
        ) as client:
            turn = b'{"user_id": "u", "conversation_id": "c", "user_text": "%s"}' % (b"a" * 99)
            first = asyncio.create_task(client.post("/v1/turns", content=slow()))
            await held.wait()
            refused = await client.post("/v1/turns", content=turn)
            assert (refused.status_code, refused.json()["code"]) == (503, "gateway_busy")
            assert refused.headers["retry-after"] == "1"
            # Questions have a room of their own.
            asked = await client.post("/v1/recall", content=b'{"user_id": "u", "query": "q"}')
            assert asked.status_code == 200
            go_on.set()
            assert (await first).status_code == 422
            assert (await client.post("/v1/turns", content=turn)).status_code == 202

    asyncio.run(act())
