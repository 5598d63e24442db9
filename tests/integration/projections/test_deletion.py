"""A deleted memory is gone from every table, and from whatever another release adds."""

from __future__ import annotations

import asyncio
import re
from uuid import UUID

from projections.flags import PostgresFlags
from projections.held_memories import HeldMemories
from projections.ledger import PostgresLedger
from projections.memories import Memories
from projections.turns import PostgresTurns
from schemas.events import MemoriesDeleted, MemoryPinned, ProposalFlagged, RejectionReason
from schemas.flags import FlagState
from schemas.memory import Confidence, Memory, MemoryKind, statement_key
from schemas.proposals import Action, Operation
from schemas.queries import load_queries
from schemas.slots import Slot
from schemas.suppression import SuppressionKeying
from tests.conftest import TestStores
from tests.support.log_writer import NOON, TENANT, LogWriter, at
from tests.support.projection import Projection, opened

SECRET = "plays the bassoon"
_DELETING = load_queries("projections", "sql/projector.sql")["delete_memories"]

_IDS_ALONE = {"recalls"}
"""They name what was served, and tell of what is gone that it is: an id, and no word of it."""

_REBUILT = (
    "turns, open_turns, waiting_turns, memories, flags, rejections, erased_outcomes, "
    "refused_outcomes, suppressions, spending"
)

_HOLDING = """
    SELECT columns.table_name
    FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE columns.table_schema = current_schema() AND tables.table_type = 'BASE TABLE'
        AND columns.column_name = ANY ('{memory_id,memory_ids}')
    GROUP BY columns.table_name
    ORDER BY columns.table_name
"""
_BYTES = """
    SELECT columns.table_name, columns.column_name
    FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE columns.table_schema = current_schema() AND tables.table_type = 'BASE TABLE'
        AND columns.data_type = 'bytea'
"""
_CASCADING = """
    SELECT constraints.conrelid::regclass::text
    FROM pg_constraint AS constraints
    WHERE constraints.contype = 'f' AND constraints.confdeltype = 'c'
        AND constraints.confrelid = 'memories'::regclass
"""


def not_deleted(holding: set[str], cascading: set[str], query: str) -> set[str]:
    """Return the tables that hold something of a memory and keep it when it is deleted."""
    emptied = set(re.findall(r"DELETE FROM (\w+)", query))
    return holding - cascading - emptied - _IDS_ALONE


def test_a_table_that_nothing_deletes_from_is_found() -> None:
    assert not_deleted({"memories", "words", "notes"}, {"words"}, _DELETING) == {"notes"}


def test_every_table_of_memories_is_deleted_from_and_nothing_tells_of_one(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            holding = {str(row[0]) for row in await projection.rows(_HOLDING)}
            cascading = {str(row[0]) for row in await projection.rows(_CASCADING)}
            assert "memories" in holding
            assert not_deleted(holding, cascading, _DELETING) == set()
            await _deleted_everywhere(projection)

    asyncio.run(scenario())


async def _deleted_everywhere(projection: Projection) -> None:
    writer, other = await projection.writer(), await projection.writer()
    turn, gone, _ = await writer.stored(content=SECRET, slot=Slot.NOTE)
    _, kept, _ = await writer.stored(content="likes tea", slot=Slot.NOTE)
    _, twin, _ = await other.stored(content=SECRET, slot=Slot.NOTE)
    flagging, deleting = await writer.turn(), await writer.turn()
    pinned = MemoryPinned(
        memory_id=gone.memory_id,
        pinned=True,
        turn_id=flagging.turn_id,
        actor="ann",
        pinned_at=at(1),
    )
    flags = [_flag(flagging.turn_id, 1, SECRET), _flag(flagging.turn_id, 2, "likes mate")]
    await writer.append(writer.outcome(flagging, [pinned, *flags]))
    await projection.catch_up()
    model = projection.read_model
    memories, turns = Memories(model), PostgresTurns(model, partitions=projection.stores.partitions)
    before = await memories.list_memories(writer.subject)
    assert {it.content: it.pinned_at for it in before.memories} == {
        SECRET: at(1),
        "likes tea": None,
    }
    keying = SuppressionKeying.of_subject(writer.keys.id_secret)
    keys = tuple(sorted(keying.suppression_keys(gone)))
    deleted = MemoriesDeleted(
        memory_ids=(gone.memory_id,),
        suppresses=keys,
        turn_id=deleting.turn_id,
        actor="ann",
        deleted_at=at(2),
    )
    await writer.append(writer.outcome(deleting, [deleted]))
    await projection.catch_up()

    listed = await memories.list_memories(writer.subject, history=True)
    assert [it.memory_id for it in listed.memories] == [kept.memory_id]
    assert (await turns.account(writer.subject, turn.turn_id)).memories == ()
    waiting = await PostgresFlags(model).page(TENANT, state=FlagState.OPEN)
    assert [flag.operation.content for flag in waiting.flags] == ["likes mate"]
    held = HeldMemories(model)
    assert await held.get(writer.subject, gone.memory_id) is None
    assert await held.get(other.subject, gone.memory_id) is None
    assert (await held.get(other.subject, twin.memory_id)) is not None
    await _suppressed_of_its_user_alone(projection, writer, other, keys)
    await _digests_go_with_the_words(projection, gone, twin)
    assert (await projection.compare()).equal
    for table in {str(row[0]) for row in await projection.rows(_HOLDING)} - _IDS_ALONE:
        rows = await projection.rows(f"SELECT * FROM {table}")  # noqa: S608 - a table's own name
        assert not any(str(gone.memory_id) in str(row) for row in rows), table
    await _rebuilt(projection)
    await _suppressed_of_its_user_alone(projection, writer, other, keys)
    await _digests_go_with_the_words(projection, gone, twin)


async def _rebuilt(projection: Projection) -> None:
    """Empty the tables and read the log again."""
    async with projection.read_model.connection() as connection:
        await connection.execute(f"TRUNCATE {_REBUILT}")
    await projection.reset_positions()
    assert await projection.rows("SELECT FROM suppressions") == []
    await projection.catch_up()
    assert (await projection.compare()).equal


async def _suppressed_of_its_user_alone(
    projection: Projection, writer: LogWriter, other: LogWriter, keys: tuple[bytes, ...]
) -> None:
    ledger = await PostgresLedger.open(projection.read_model)
    try:
        for one, expected in ((writer, dict.fromkeys(keys, at(2))), (other, {})):
            related = await ledger.related(
                subject=one.subject,
                slots=(),
                statement_keys=(),
                memory_ids=(),
                suppression_keys=(*keys, b"0" * 16),
            )
            assert related.suppressed == expected
    finally:
        await ledger.close()


async def _digests_go_with_the_words(projection: Projection, gone: Memory, twin: Memory) -> None:
    """Check that no row tells what was deleted to whoever guesses it."""
    guessed = statement_key(gone.kind, gone.about, gone.content, gone.valid_from)
    columns = await projection.rows(_BYTES)
    assert ("memories", "statement_key") in columns
    holding = [
        (table, column, rows)
        for table, column in columns
        if (rows := await projection.rows(_holding(str(table), str(column), guessed)))
    ]
    # Who has not deleted it still holds the words beside their digest.
    assert holding == [("memories", "statement_key", [(twin.memory_id,)])]


def _holding(table: str, column: str, guessed: bytes) -> str:
    shown = "memory_id" if table == "memories" else "1"
    query = f"SELECT {shown} FROM {table} WHERE {column}"  # noqa: S608 - the catalogue's own names
    return f"{query} = '\\x{guessed.hex()}'::bytea"


def _flag(turn_id: UUID, number: int, content: str) -> ProposalFlagged:
    return ProposalFlagged(
        flag_id=UUID(int=number),
        operation=number,
        reasons=(RejectionReason.OPERATOR_OBLIGATION,),
        proposed=Operation(
            action=Action.ADD,
            kind=MemoryKind.SEMANTIC,
            slot=Slot.NOTE,
            about="user",
            content=content,
            importance=3,
            confidence=Confidence.STATED,
            quote=content,
        ),
        turn_id=turn_id,
        conversation_id="one",
        said_at=NOON,
        utc_offset_minutes=0,
        flagged_at=NOON,
    )
