"""Importing a file: what the ledger does not hold yet is appended, in the order of the file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol
from uuid import UUID

from producers.append import Appended, AppendResult, TurnIdentity
from producers.importers.formats import AUTO, importer_for, open_export
from producers.importers.records import Conversation, ImportedTurn, Importer, Unreadable
from producers.importers.report import (
    ConversationReport,
    ImportProgress,
    ImportReport,
    RefusedTurn,
    ReportBuilder,
)
from producers.ports import KnownTurns
from producers.turns_input import TURNS_MAX, TurnInput, clean_turn
from schemas import text
from schemas.clock import utc_now
from schemas.errors import InvalidInput, LogBusy, LogUnavailable
from schemas.records import Origin

BATCH_CHARACTERS_MAX: Final = 8 * 1024 * 1024
"""The most text of one batch, so that long turns fill neither memory nor the producer's queue."""

BUSY_RETRIES_MAX: Final = 8
"""How often a batch waits for a busy log, half a second first and twice as long each time: two
minutes in all, after which the broker is not busy but stuck."""

_BUSY_WAIT_S: Final = 0.5


class ImportAppender(Protocol):
    """What an import needs of :class:`~producers.append.TurnAppender`."""

    async def append(
        self, tenant: str, inputs: Sequence[TurnInput], origin: Origin
    ) -> list[AppendResult]:
        """Append turns and return one result for each, in the same order."""
        ...

    async def identify(self, tenant: str, inputs: Sequence[TurnInput]) -> list[TurnIdentity]:
        """Return what the log would know each turn by."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """A turn that may be appended, and the report that counts it."""

    turn: TurnInput
    report: ConversationReport


def _ignored(_progress: ImportProgress) -> None:
    return


async def import_file(
    appender: ImportAppender,
    known: KnownTurns,
    *,
    tenant: str,
    user: str | None,
    path: Path,
    format_name: str = AUTO,
    progress: Callable[[ImportProgress], None] = _ignored,
    clock: Callable[[], datetime] = utc_now,
) -> ImportReport:
    """Append every turn of an export that the ledger does not hold.

    Turns are told apart by their ids in the export, so the same file twice adds nothing and a
    longer export adds what is new. What was appended a moment ago and is not projected yet counts
    as new: it is appended again under the same id, which changes nothing.

    Args:
        appender: appends turns.
        known: tells which turns the ledger holds.
        tenant: whose users these are.
        user: whose conversations these are where the file does not tell.
        path: the export.
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
    owner = None if user is None else text.clean_user_id(user)
    importer = await asyncio.to_thread(importer_for, path, format_name)
    if owner is None and not importer.names_users:
        raise InvalidInput(
            field="user",
            problem=f"a {importer.name} export does not say whose it is",
            remedy="name the user with --user",
        )
    builder = ReportBuilder(importer.name)
    batches = _batches(_drafts(importer, path, owner, builder, now=clock()))
    seen: set[tuple[UUID, UUID]] = set()
    # Read in a thread, one batch at a time, so that the appender's loop is never kept waiting.
    while batch := await asyncio.to_thread(next, batches, None):
        new = await _unknown(appender, known, tenant, batch, seen, builder=builder)
        await _append(appender, tenant, new, builder)
        progress(builder.progress())
    progress(builder.progress())
    return builder.report()


def _drafts(
    importer: Importer, path: Path, owner: str | None, builder: ReportBuilder, *, now: datetime
) -> Iterator[_Draft]:
    """Yield the turns of a file that may be appended; note the others."""
    with open_export(path) as stream:
        for part in importer.conversations(stream, now=now):
            builder.note_read(stream.tell())
            if isinstance(part, Unreadable):
                builder.note_unreadable(part)
            else:
                yield from _drafts_of(part, owner, builder)


def _drafts_of(part: Conversation, owner: str | None, builder: ReportBuilder) -> Iterator[_Draft]:
    user_id = part.user_id if part.user_id is not None else owner
    report = builder.conversation(user_id, part)
    for turn in part.turns:
        try:
            cleaned = _checked(part, turn, user_id)
        except InvalidInput as error:
            refused = RefusedTurn(turn_id=turn.client_turn_id, reason=str(error))
            builder.note_refused(report, refused)
        else:
            yield _Draft(turn=cleaned, report=report)


def _checked(part: Conversation, turn: ImportedTurn, user_id: str | None) -> TurnInput:
    if user_id is None:
        raise InvalidInput(
            field="user_id",
            problem="is missing",
            remedy="put it on the line, or name the user with --user",
        )
    return clean_turn(
        user_id=user_id,
        conversation_id=part.conversation_id,
        user_text=turn.user_text,
        assistant_text=turn.assistant_text,
        turn_id=turn.client_turn_id,
        occurred_at=turn.occurred_at,
        utc_offset_minutes=turn.utc_offset_minutes,
    )


def _batches(drafts: Iterator[_Draft]) -> Iterator[list[_Draft]]:
    batch: list[_Draft] = []
    characters = 0
    for draft in drafts:
        batch.append(draft)
        characters += len(draft.turn.user_text) + len(draft.turn.assistant_text or "")
        if len(batch) == TURNS_MAX or characters >= BATCH_CHARACTERS_MAX:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


async def _unknown(
    appender: ImportAppender,
    known: KnownTurns,
    tenant: str,
    batch: Sequence[_Draft],
    seen: set[tuple[UUID, UUID]],
    *,
    builder: ReportBuilder,
) -> list[_Draft]:
    """Return the turns that neither the ledger nor this import has; count the others."""
    identities = await appender.identify(tenant, [draft.turn for draft in batch])
    turns_of: dict[UUID, list[UUID]] = {}
    for identity in identities:
        turns_of.setdefault(identity.subject, []).append(identity.turn_id)
    held = {
        subject: await known.known_turns(subject, turn_ids)
        for subject, turn_ids in turns_of.items()
    }
    new: list[_Draft] = []
    for draft, identity in zip(batch, identities, strict=True):
        key = (identity.subject, identity.turn_id)
        if key in seen:
            draft.report.repeated += 1
        elif identity.turn_id in held[identity.subject]:
            builder.note_already_there(draft.report)
        else:
            new.append(draft)
        seen.add(key)
    return new


async def _append(
    appender: ImportAppender, tenant: str, drafts: Sequence[_Draft], builder: ReportBuilder
) -> None:
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
        results = await appender.append(tenant, [draft.turn for draft in waiting], Origin.IMPORT)
        waiting = _settle(waiting, results, builder)
    if waiting:
        raise _stopped(LogBusy("the log is busy"), builder)


def _settle(
    drafts: Sequence[_Draft], results: Sequence[AppendResult], builder: ReportBuilder
) -> list[_Draft]:
    """Count what is settled; return the turns for which the log was too busy."""
    busy: list[_Draft] = []
    failed: LogUnavailable | None = None
    for draft, result in zip(drafts, results, strict=True):
        if isinstance(result, Appended):
            builder.note_accepted(draft.report)
        elif isinstance(result.error, LogBusy):
            busy.append(draft)
        elif isinstance(result.error, LogUnavailable):
            failed = result.error
        else:
            refused = RefusedTurn(turn_id=draft.turn.turn_id or "", reason=str(result.error))
            builder.note_refused(draft.report, refused)
    if failed is not None:
        raise _stopped(failed, builder)
    return busy


def _stopped(error: LogUnavailable, builder: ReportBuilder) -> LogUnavailable:
    return LogUnavailable(
        f"{error}; the import stopped after {builder.progress().accepted} turns, which stand: "
        "run it again, nothing is added twice"
    )
