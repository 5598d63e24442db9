"""Turns on a real broker and keyring: order, ids, and what an erasure in between does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest

from producers.append import TurnAppender
from producers.subject_records import Appended, AppendResult, Refused
from producers.turns_input import TEXT_CHARACTERS_MAX, TurnInput
from schemas.errors import LogUnavailable
from schemas.keyring import Erased, Keyring, SubjectKeys
from schemas.log.producer import LogProducer
from schemas.log.reader import read_to_end
from schemas.log.sealed import LogRecord, open_record
from schemas.records import Origin, Turn
from schemas.topics import TURNS
from tests.conftest import TestStores
from tests.support.brokers import new_producer

TENANT = "acme"


class ErasingKeyring:
    """A keyring in which somebody erases a user just before the producer asks for erasures.

    A second process does it, so that this one's cache learns of it by nothing but asking.
    """

    def __init__(self, keyring: Keyring, other: Keyring, user: str) -> None:
        self._keyring = keyring
        self._other = other
        self._user = user
        self.destroyed: UUID | None = None

    async def subjects_for(
        self, tenant: str, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        return await self._keyring.subjects_for(tenant, user_ids, create=create)

    async def keys(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        return await self._keyring.keys(subjects)

    async def erased_among(self, subjects: Collection[UUID]) -> set[UUID]:
        if self.destroyed is None:
            found = await self._other.subjects_for(TENANT, [self._user], create=False)
            self.destroyed = found[self._user].subject
            await self._other.destroy(self.destroyed)
        return await self._keyring.erased_among(subjects)

    async def fresh_keys(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        return await self._keyring.fresh_keys(subjects)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Two processes' keyrings and one producer."""

    keyring: Keyring
    other: Keyring
    producer: LogProducer


@asynccontextmanager
async def parts(stores: TestStores) -> AsyncIterator[Parts]:
    keyring = await Keyring.open(stores.keyring_url, stores.key_directory, migrate=True)
    other = await Keyring.open(stores.keyring_url, stores.key_directory)
    producer = new_producer(stores.kafka_bootstrap)
    try:
        await keyring.ensure_tenant(TENANT)
        yield Parts(keyring=keyring, other=other, producer=producer)
    finally:
        await producer.close()
        await keyring.close()
        await other.close()


def turn(user: str, said: str, turn_id: str | None = None) -> TurnInput:
    return TurnInput(user_id=user, conversation_id="c", user_text=said, turn_id=turn_id)


def accepted(results: list[AppendResult]) -> list[Appended]:
    assert all(isinstance(result, Appended) for result in results), results
    return [result for result in results if isinstance(result, Appended)]


async def log_of(stores: TestStores, *partitions: int) -> list[LogRecord]:
    """Read some partitions of the turns topic, or all where none is named."""

    def read() -> list[LogRecord]:
        return [
            record
            for partition in partitions or range(stores.partitions)
            for record in read_to_end(
                stores.kafka_bootstrap, TURNS, partition, start=0, client_id="test"
            )
        ]

    return await asyncio.to_thread(read)


def said_by(records: list[LogRecord], keys: SubjectKeys) -> list[str]:
    return [
        open_record(Turn, record, keys).user_text
        for record in records
        if record.header().subject == keys.subject
    ]


def test_turns_stand_where_the_answer_says_and_in_order(stores: TestStores) -> None:
    async def scenario() -> None:
        async with parts(stores) as used:
            appender = TurnAppender(used.keyring, used.producer, stores.partitions)
            turns = [turn(f"user-{number % 7}", str(number)) for number in range(100)]
            results = accepted(await appender.append(TENANT, turns, Origin.HTTP))

            records = await log_of(stores)
            at = {
                f"{record.position.partition}:{record.position.offset}": record
                for record in records
            }
            users = {given.user_id for given in turns}
            keys = await used.keyring.subjects_for(TENANT, users, create=False)
            for given, result in zip(turns, results, strict=True):
                read = open_record(Turn, at[result.position], keys[given.user_id])
                assert (read.turn_id, read.user_text) == (result.turn_id, given.user_text)
            for user in users:
                assert said_by(records, keys[user]) == [
                    given.user_text for given in turns if given.user_id == user
                ]

    asyncio.run(scenario())


def test_an_erasure_before_the_answer_moves_the_turn_to_the_users_new_subject(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with parts(stores) as used:
            # Cached, under a lease that is still valid when the erasure comes.
            await used.keyring.subjects_for(TENANT, ["u", "v"], create=True)
            erasing = ErasingKeyring(used.keyring, used.other, "u")
            appender = TurnAppender(erasing, used.producer, stores.partitions)
            turns = [turn("u", "one", "t1"), turn("v", "two"), turn("u", "three")]
            results = accepted(await appender.append(TENANT, turns, Origin.HTTP))

            records = await log_of(stores)
            keys = await used.other.subjects_for(TENANT, ["u", "v"], create=False)
            assert erasing.destroyed not in {None, keys["u"].subject}
            assert said_by(records, keys["u"]) == ["one", "three"]
            assert said_by(records, keys["v"]) == ["two"]
            positions = {
                f"{record.position.partition}:{record.position.offset}": record.header()
                for record in records
            }
            for result in (results[0], results[2]):
                assert positions[result.position].subject == keys["u"].subject
                assert positions[result.position].record_id == result.turn_id

    asyncio.run(scenario())


def test_a_retry_lands_under_the_same_id_and_another_key(stores: TestStores) -> None:
    async def scenario() -> None:
        async with parts(stores) as used:
            appender = TurnAppender(used.keyring, used.producer, stores.partitions)
            for _ in range(2):
                (result,) = accepted(
                    await appender.append(TENANT, [turn("u", "hi", "t")], Origin.HTTP)
                )
            first, second = await log_of(stores, result.partition)
            assert first.header().record_id == second.header().record_id
            assert first.key != second.key

    asyncio.run(scenario())


def test_a_turn_at_the_limit_fits_a_record_however_it_is_escaped(stores: TestStores) -> None:
    async def scenario() -> None:
        async with parts(stores) as used:
            appender = TurnAppender(used.keyring, used.producer, stores.partitions)
            said = [character * TEXT_CHARACTERS_MAX for character in ("a", "\x01", "é", '"')]
            turns = [turn("u", text) for text in said]
            results = accepted(await appender.append(TENANT, turns, Origin.HTTP))
            keys = await used.keyring.subjects_for(TENANT, ["u"], create=False)
            records = await log_of(stores, results[0].partition)
            assert said_by(records, keys["u"]) == said

    asyncio.run(scenario())


def test_a_broker_that_is_not_there_is_refused_and_not_accepted(
    stores: TestStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schemas.log.producer.DELIVERY_TIMEOUT_MS", 1_000)

    async def scenario() -> None:
        async with parts(stores) as used:
            nowhere = LogProducer("127.0.0.1:1", client_id="test")
            try:
                appender = TurnAppender(used.keyring, nowhere, stores.partitions)
                (result,) = await appender.append(TENANT, [turn("u", "hi")], Origin.HTTP)
            finally:
                await nowhere.close()
            assert isinstance(result, Refused)
            assert isinstance(result.error, LogUnavailable)

    asyncio.run(scenario())
