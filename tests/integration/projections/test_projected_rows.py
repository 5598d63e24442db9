"""The projector's SQL does what the fold says, however the log is cut into batches."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projections.canonical_rows import (
    closed_turn_row,
    closed_turn_rows,
    flag_row_of_columns,
    flag_row_of_fold,
    rejection_row_of_columns,
    rejection_row_of_fold,
    row_of_columns,
    row_of_fold,
    suppression_row,
    waiting_row_of_columns,
    waiting_row_of_fold,
)
from projections.fold import LoggedOutcome, SubjectState
from projections.read_model import name_subjects, name_tenants
from schemas import ids
from schemas.log.sealed import LogPosition, LogRecord
from schemas.queries import load_queries
from schemas.records import Outcome
from schemas.topics import memories_topic
from tests.conftest import GENERATION, TestStores
from tests.support.histories import AGAIN_AND_AGAIN, histories
from tests.support.log_writer import DIMENSION, EMBEDDER, TENANT, LogWriter
from tests.support.projection import Projection, opened

_PARTITION = 0
_TOPIC = memories_topic(GENERATION)
_QUERIES = load_queries("projections", "sql/digest.sql")


@pytest.fixture
def running(stores: TestStores) -> Iterator[tuple[asyncio.Runner, Projection]]:
    """A read model that stays open for all examples, with the loop that it belongs to."""
    with asyncio.Runner() as runner:
        opening = opened(stores)
        projection = runner.run(opening.__aenter__())
        yield runner, projection
        runner.run(opening.__aexit__(None, None, None))


@given(data=st.data())
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_however_the_log_is_cut_into_batches_the_rows_are_those_of_the_fold(
    running: tuple[asyncio.Runner, Projection], data: st.DataObject
) -> None:
    history = data.draw(st.just(AGAIN_AND_AGAIN) | histories())
    log = [*history]
    for again in data.draw(st.lists(st.sampled_from(history), max_size=3)):
        log.insert(data.draw(st.integers(log.index(again) + 1, len(log))), again)
    cuts = sorted({0, len(log)} | data.draw(st.sets(st.integers(0, len(log)))))
    altered = {place for place in range(len(log)) if data.draw(st.booleans())}
    runner, projection = running

    table, folded = runner.run(_table_and_fold(projection, log, cuts, altered))

    assert table == folded


async def _table_and_fold(
    projection: Projection, log: Sequence[Outcome], cuts: Sequence[int], altered: Collection[int]
) -> tuple[list[str], list[str]]:
    """Return the rows of both; the records at some places are altered, so nobody can use them."""
    writer = await projection.writer()
    begin = (await projection.positions())[_TOPIC, _PARTITION]
    records = [
        _record(writer, outcome, begin + index, altered=index in altered)
        for index, outcome in enumerate(log)
    ]
    spent_before = await _spending(projection)
    for start, end in pairwise(cuts):
        await projection.apply(records[start:end])
    state = SubjectState(subject=writer.subject)
    for index, outcome in enumerate(log):
        if index in altered:
            state.refuse(ids.outcome_id(GENERATION, outcome.turn_id), begin + index)
        else:
            state.apply(LoggedOutcome(offset=begin + index, outcome=outcome))
    folded = [
        row_of_fold(row, embedder=EMBEDDER, dimension=DIMENSION) for row in state.memories.values()
    ]
    folded += closed_turn_rows(state.closed).values()
    folded += [waiting_row_of_fold(turn, partition=_PARTITION) for turn in state.waiting.values()]
    folded += [
        flag_row_of_fold(flag_id, row, tenant=writer.keys.tenant)
        for flag_id, row in state.flags.items()
    ]
    folded += [rejection_row_of_fold(rejection) for rejection in state.rejected.values()]
    folded += [f"{key.hex()} {suppression_row(at)}" for key, at in state.suppressed.items()]
    folded += [
        f"{on.day} {on.extractor} {on.model} {spent.closings} {spent.turns} "
        f"{list(spent.usage.model_dump().values())}"
        for on, spent in state.spent.items()
    ]
    table = await _rows(projection, writer) + await _spent_since(projection, spent_before)
    return sorted(table), sorted(folded)


def _record(writer: LogWriter, outcome: Outcome, offset: int, *, altered: bool) -> LogRecord:
    sealed = writer.sealed_outcome(outcome)
    value = sealed.value[:-1] + bytes([sealed.value[-1] ^ altered])
    return LogRecord(
        position=LogPosition(topic=_TOPIC, partition=_PARTITION, offset=offset),
        timestamp_ms=0,
        key=sealed.key,
        value=value,
        headers=sealed.headers,
    )


async def _rows(projection: Projection, writer: LogWriter) -> list[str]:
    asked = {"subjects": [writer.subject]}
    async with projection.read_model.connection() as connection, connection.transaction():
        await name_subjects(connection, [writer.subject])
        found = await connection.execute(_QUERIES["select_memories"], asked, binary=True)
        rows = [
            row_of_columns(columns, dimension=projection.read_model.dimension)
            for _, *columns in await found.fetchall()
        ]
        found = await connection.execute(_QUERIES["select_turns"], asked, binary=True)
        rows += [closed_turn_row(*columns) for _, *columns in await found.fetchall()]
        found = await connection.execute(_QUERIES["select_waiting"], asked, binary=True)
        rows += [waiting_row_of_columns(columns) for _, _, *columns in await found.fetchall()]
        found = await connection.execute(_QUERIES["select_flags"], asked, binary=True)
        rows += [flag_row_of_columns(columns) for _, *columns in await found.fetchall()]
        found = await connection.execute(_QUERIES["select_suppressions"], asked, binary=True)
        rows += [f"{key.hex()} {suppression_row(at)}" for _, key, at in await found.fetchall()]
        found = await connection.execute(_QUERIES["select_rejections"], asked, binary=True)
        return rows + [rejection_row_of_columns(columns) for _, *columns in await found.fetchall()]


async def _spending(projection: Projection) -> dict[tuple[Any, ...], tuple[int, ...]]:
    async with projection.read_model.connection() as connection, connection.transaction():
        await name_tenants(connection, [TENANT])
        found = await connection.execute(_QUERIES["select_spending"], {"partition": _PARTITION})
        return {tuple(row[1:4]): tuple(row[4:]) for row in await found.fetchall()}


async def _spent_since(
    projection: Projection, before: dict[tuple[Any, ...], tuple[int, ...]]
) -> list[str]:
    """Return what was added to the sums, which are those of every example so far."""
    found = []
    for (day, extractor, model), sums in (await _spending(projection)).items():
        so_far = before.get((day, extractor, model), (0,) * len(sums))
        closings, turns, *usage = (now - was for now, was in zip(sums, so_far, strict=True))
        if closings:
            found.append(f"{day} {extractor} {model} {closings} {turns} {usage}")
    return found
