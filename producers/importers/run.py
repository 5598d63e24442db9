"""Importing a file: what the ledger does not hold yet is appended, in the order of the file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from producers.importers.destinations import Destination, Unappended
from producers.importers.formats import AUTO, choose, named
from producers.importers.reading import Draft, Owner, drafts_of
from producers.importers.recent import Recent
from producers.importers.report import ImportProgress, ImportReport, ReportBuilder
from producers.importers.sources import Export
from producers.importers.stable_ids import digest_of
from producers.turns_input import TURNS_MAX
from schemas import text
from schemas.clock import utc_now
from schemas.errors import (
    InvalidInput,
    KeyringUnavailable,
    LogBusy,
    LogUnavailable,
    ReadModelUnavailable,
)
from schemas.withholding import WithheldReason

BATCH_CHARACTERS_MAX: Final = 8 * 1024 * 1024
"""The most text of one batch, so that long turns fill neither memory nor the producer's queue."""

BUSY_RETRIES_MAX: Final = 8
"""How often a batch waits for a busy log, half a second first and twice as long each time: two
minutes in all, after which the broker is not busy but stuck."""

SEEN_MAX: Final = 100_000
"""Of how many turns it is remembered that they came in this file: 20 MB. One that comes again after
so many others is appended again under its id where the ledger does not show it yet, which changes
nothing."""

_BUSY_WAIT_S: Final = 0.5
_SAME_ID: Final = InvalidInput(
    field="turn_id",
    problem="is also that of a turn in front of it in this file, which says something else",
    remedy="give every turn an id of its own",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Import:
    """One run.

    Attributes:
        destination: where the turns go.
        tenant: whose users these are.
        builder: counts what becomes of them.
        seen: what each turn of this file said, by user and turn id.
    """

    destination: Destination
    tenant: str
    builder: ReportBuilder
    seen: Recent[bytes]


def _ignored(_progress: ImportProgress) -> None:
    return


async def import_file(
    destination: Destination,
    *,
    tenant: str,
    user: str | None,
    path: Path,
    opened: BinaryIO | None = None,
    format_name: str = AUTO,
    progress: Callable[[ImportProgress], None] = _ignored,
    clock: Callable[[], datetime] = utc_now,
) -> ImportReport:
    """Append every turn of an export that the ledger does not hold.

    Turns are told apart by their ids in the export, so the same file twice adds nothing and a
    longer export adds what is new. What was appended a moment ago and is not projected yet counts
    as new: it is appended again under the same id, which changes nothing.

    Args:
        destination: where the turns go.
        tenant: whose users these are.
        user: whose conversations these are where the file does not tell.
        path: the export.
        opened: the export itself, where it is open already; see
            :class:`~producers.importers.sources.Export`.
        format_name: a format's name, or ``auto`` to go by the content.
        progress: called after every batch.
        clock: the current time, aware.

    Returns:
        What became of every turn. Turns that were refused are in it and cost no other turn.

    Raises:
        InvalidInput: the file cannot be read or is of no known format, or a user must be named.
        LogUnavailable: the broker does not answer. What stands by then stands; the import can be
            run again.
        KeyringUnavailable, ReadModelUnavailable: they cannot be asked; likewise.
        UnknownTenant: no such tenant.
    """
    owner = Owner(None if user is None else text.clean_user_id(user))
    asked = named(format_name)
    with Export(path, opened) as export:
        choice = await asyncio.to_thread(choose, export, asked)
        if owner.user_id is None and not choice.importer.names_users:
            raise InvalidInput(
                field="user",
                problem=f"the format {choice.importer.name} does not say whose a file is",
                remedy="name the user with --user",
            )
        builder = ReportBuilder(choice.importer.name)
        run = _Import(
            destination=destination, tenant=tenant, builder=builder, seen=Recent(SEEN_MAX)
        )
        batches = _batches(drafts_of(export, choice, owner, builder, now=clock()))
        # Read in a thread, one batch at a time, so that the appender's loop is never kept waiting.
        while batch := await asyncio.to_thread(next, batches, None):
            try:
                await _append(run, await _new_among(run, batch))
            except (KeyringUnavailable, ReadModelUnavailable, LogUnavailable) as error:
                raise type(error)(f"{error}; {_standing(builder)}") from error
            progress(builder.progress())
        progress(builder.progress())
    return builder.report()


def _batches(drafts: Iterator[Draft]) -> Iterator[list[Draft]]:
    batch: list[Draft] = []
    characters = 0
    for draft in drafts:
        batch.append(draft)
        characters += len(draft.turn.user_text) + len(draft.turn.assistant_text or "")
        if len(batch) == TURNS_MAX or characters >= BATCH_CHARACTERS_MAX:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


async def _new_among(run: _Import, batch: Sequence[Draft]) -> list[Draft]:
    """Return the turns that neither the ledger nor this file had before; count the others."""
    held = await run.destination.held(run.tenant, [draft.turn for draft in batch])
    new: list[Draft] = []
    for draft, is_held in zip(batch, held, strict=True):
        key, said = _key_of(draft), _said_by(draft)
        before = run.seen.get(key)
        if before is None:
            run.seen.set(key, said)
        if before is not None and before != said:
            run.builder.note_refused(draft.tally, draft.read, str(_SAME_ID))
        elif before is not None:
            run.builder.note_repeated(draft.tally)
        elif is_held:
            run.builder.note_already_there(draft.tally)
        else:
            new.append(draft)
    return new


def _key_of(draft: Draft) -> bytes:
    return digest_of(draft.turn.user_id, draft.turn.turn_id or "")


def _said_by(draft: Draft) -> bytes:
    return digest_of(draft.turn.user_text, draft.turn.assistant_text or "")


async def _append(run: _Import, drafts: Sequence[Draft]) -> None:
    """Append the turns, waiting while the log is busy.

    Raises:
        LogUnavailable: the broker does not answer, or is still busy after the last wait.
    """
    waiting = list(drafts)
    for attempt in range(BUSY_RETRIES_MAX + 1):
        if not waiting:
            return
        if attempt:
            await asyncio.sleep(_BUSY_WAIT_S * 2 ** (attempt - 1))
        errors = await run.destination.append(run.tenant, [draft.turn for draft in waiting])
        waiting = _settle(run.builder, waiting, errors)
    if waiting:
        raise LogBusy("the log is busy")


def _settle(
    builder: ReportBuilder,
    drafts: Sequence[Draft],
    errors: Sequence[Unappended | None],
) -> list[Draft]:
    """Count what is settled; return the turns for which the log was too busy."""
    busy: list[Draft] = []
    failed: LogUnavailable | None = None
    for draft, error in zip(drafts, errors, strict=True):
        if error is None:
            builder.note_accepted(draft.tally, draft.read)
        elif isinstance(error, WithheldReason):
            builder.note_withheld(draft.tally)
        elif isinstance(error, LogBusy):
            busy.append(draft)
        elif isinstance(error, LogUnavailable):
            failed = error
        else:
            builder.note_refused(draft.tally, draft.read, str(error))
    if failed is not None:
        raise failed
    return busy


def _standing(builder: ReportBuilder) -> str:
    return (
        f"the import stopped after {builder.progress().accepted} turns, which stand: "
        "run it again, nothing is added twice"
    )
