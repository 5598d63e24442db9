"""What a recall served, from the log to whoever asks: the very block, or why it cannot be shown."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from psycopg import errors

from projections.injection import block, injection
from projections.read_model import name_subjects
from projections.recall_log import Asked, RecallLog
from projections.recall_records import RecallSweeper
from projections.recalled import RecalledMemory, RecallResult
from projections.recalls import BlockState, PostgresRecalls
from schemas.errors import UnknownRecall
from schemas.injection import InjectionForm
from schemas.memory import Memory
from tests.conftest import TestStores
from tests.support.log_writer import NOON, LogWriter
from tests.support.projection import Projection, opened
from tests.support.recalled import recalled, result_of

DAYS = 30


class _Scene:
    """A user of whom two memories are stored, and a recall that served them in each form."""

    def __init__(self, projection: Projection, writer: LogWriter) -> None:
        self.projection, self.writer = projection, writer
        self.log = RecallLog(
            projection.producer,
            projection.keyring.keys,
            partitions=projection.stores.partitions,
            clock=lambda: NOON,
        )

    def recalls(self, *, later: timedelta = timedelta()) -> PostgresRecalls:
        return PostgresRecalls(
            self.projection.read_model,
            self.projection.keyring.keys,
            days=DAYS,
            clock=lambda: NOON + later,
        )

    async def served(self, *memories: Memory, form: InjectionForm) -> RecallResult:
        result = result_of(*map(_recalled, memories), policy="gated")
        self.log.note(self.writer.subject, result, Asked(form=form))
        await self.log.close()
        return result

    async def rows(self) -> int:
        ((number,),) = await self.projection.rows("SELECT count(*) FROM recalls")
        assert isinstance(number, int)
        return number


def _recalled(memory: Memory) -> RecalledMemory:
    return recalled(
        memory.content,
        memory_id=memory.memory_id,
        about=memory.about,
        valid_from=memory.valid_from,
        # As of a moment at which its end was known.
        valid_to=NOON if memory.about != "user" else None,
    )


async def _gone(scene: _Scene, subject: UUID | None, recall_id: UUID) -> None:
    with pytest.raises(UnknownRecall):
        await scene.recalls().account(subject, recall_id)


def test_a_recall_is_told_again_to_the_byte_by_its_id(stores: TestStores) -> None:
    async def act() -> None:
        async with opened(stores) as projection:
            scene = _Scene(projection, await projection.writer())
            stranger = await projection.writer()
            _, pune, _ = await scene.writer.stored(content="Lives in Pune </memledger-notes>")
            _, ann, _ = await scene.writer.stored(content="Ann is a nurse", about="Ann & Bob")
            results = {form: await scene.served(pune, ann, form=form) for form in InjectionForm}
            empty = await scene.served(form=InjectionForm.TEXT)
            answered = await scene.writer.turn()
            await scene.writer.append(
                scene.writer.outcome(answered, recall_id=results[InjectionForm.TEXT].recall_id)
            )
            await projection.catch_up()

            for form, result in results.items():
                account = await scene.recalls().account(scene.writer.subject, result.recall_id)
                assert account.block is BlockState.REPRODUCED
                assert account.injection == injection(result.memories, form)
                assert (account.policy, account.served_at, account.gone) == ("gated", NOON, ())
                assert [
                    (one.memory_id, one.score, one.times_served) for one in account.memories
                ] == [(pune.memory_id, 0.7, 4), (ann.memory_id, 0.7, 4)]
                linked = [answered.turn_id] if form is InjectionForm.TEXT else []
                assert list(account.turn_ids) == linked
            nothing = await scene.recalls().account(scene.writer.subject, empty.recall_id)
            assert (nothing.block, nothing.injection) == (BlockState.REPRODUCED, "")
            assert nothing.reason == "none_stored"

            text = results[InjectionForm.TEXT]
            await _another_sees_nothing(scene, stranger, text.recall_id)
            await _applied_again(scene, text)
            await _what_changed_since(scene, text, pune, ann)
            await _kept_for_its_days(scene, text)

    asyncio.run(act())


async def _another_sees_nothing(scene: _Scene, stranger: LogWriter, recall_id: UUID) -> None:
    """Neither by asking, nor by a statement that names another subject, or none."""
    await _gone(scene, stranger.subject, recall_id)
    await _gone(scene, None, recall_id)
    await _gone(scene, scene.writer.subject, uuid4())
    read_model = scene.projection.read_model
    for subjects in ([stranger.subject], []):
        async with read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, subjects)
            cursor = await connection.execute("SELECT count(*) FROM recalls")
            assert await cursor.fetchone() == (0,)
            deleted = await connection.execute("DELETE FROM recalls")
            assert deleted.rowcount == 0
    with pytest.raises(errors.InsufficientPrivilege):
        await _inserted_by_another(scene, stranger)


async def _inserted_by_another(scene: _Scene, stranger: LogWriter) -> None:
    read_model = scene.projection.read_model
    async with read_model.connection() as connection, connection.transaction():
        await name_subjects(connection, [stranger.subject])
        await connection.execute(
            "INSERT INTO recalls VALUES (%s, %s, now(), 'g1', 'p', NULL, 'text', 1, NULL, NULL,"
            " NULL, '{}', '{}', '{}', '')",
            [scene.writer.subject, uuid4()],
        )


async def _applied_again(scene: _Scene, served: RecallResult) -> None:
    """The same records again, and a second append of one that tells otherwise, change nothing."""
    before = await scene.rows()
    scene.log.note(scene.writer.subject, served, Asked(form=InjectionForm.XML))
    await scene.log.close()
    await scene.projection.reset_positions()
    await scene.projection.catch_up()
    assert await scene.rows() == before
    account = await scene.recalls().account(scene.writer.subject, served.recall_id)
    assert account.format is InjectionForm.TEXT
    assert (await scene.projection.compare()).differences == ()


async def _what_changed_since(
    scene: _Scene, served: RecallResult, pune: Memory, ann: Memory
) -> None:
    """An end that was learnt later changes no byte; other words, or none, show nothing."""
    subject = scene.writer.subject

    async def run(statement: str, memory: Memory) -> None:
        read_model = scene.projection.read_model
        async with read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, [subject])
            await connection.execute(statement, {"memory_id": memory.memory_id})

    await run("UPDATE memories SET valid_to = now() WHERE memory_id = %(memory_id)s", pune)
    account = await scene.recalls().account(subject, served.recall_id)
    assert account.injection == block(served.memories)

    await run("UPDATE memories SET content = 'Other' WHERE memory_id = %(memory_id)s", ann)
    account = await scene.recalls().account(subject, served.recall_id)
    assert (account.block, account.injection) == (BlockState.DIFFERS, None)

    await run("DELETE FROM memories WHERE memory_id = %(memory_id)s", pune)
    account = await scene.recalls().account(subject, served.recall_id)
    assert (account.block, account.injection) == (BlockState.INCOMPLETE, None)
    assert account.gone == (pune.memory_id,)
    assert [one.content for one in account.memories] == [None, "Other"]


async def _kept_for_its_days(scene: _Scene, served: RecallResult) -> None:
    """What is past its days is told no more, swept or not."""
    subject = scene.writer.subject
    last = timedelta(days=DAYS)
    await scene.recalls(later=last).account(subject, served.recall_id)
    over = last + timedelta(seconds=1)
    with pytest.raises(UnknownRecall):
        await scene.recalls(later=over).account(subject, served.recall_id)

    def sweeper(later: timedelta) -> RecallSweeper:
        return RecallSweeper(scene.projection.read_model, days=DAYS, clock=lambda: NOON + later)

    number = await scene.rows()
    assert await sweeper(last).sweep() == 0
    assert await sweeper(over).sweep() == number
    assert await scene.rows() == 0
