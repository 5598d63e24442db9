"""What a recall served: told again by its id, its block written once more to the byte."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from projections.injection import Injection, NoteLine, as_told, carried, headers_of, write_block
from projections.read_model import ReadModel
from projections.reading import Row, read_answers
from projections.recall_log import KeysOf
from projections.recall_records import kept_from
from schemas.clock import utc_now
from schemas.errors import UnknownRecall
from schemas.injection import TEMPLATE, InjectionForm
from schemas.keyring import Erased
from schemas.memory import MemoryKind, Precision, Source
from schemas.queries import load_queries
from schemas.recalls import block_digest

_QUERIES: Final = load_queries("projections", "sql/recalls.sql")
_OF_ONE: Final = ("select_recall", "select_served", "select_servings")


class BlockState(StrEnum):
    """What became of the block that was served."""

    REPRODUCED = "reproduced"
    """It is shown as it was served: its digest is that of the record."""
    INCOMPLETE = "incomplete"
    """A memory that it held was deleted or forgotten since, so it is not shown."""
    DIFFERS = "differs"
    """All its memories are there, and what they come to now is not what was served: never shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedNote:
    """One memory that was served.

    Attributes:
        memory_id: the version.
        score: how near the policy held it to be; ``None`` where it was not compared.
        content: what it says; ``None`` where it is not there any more.
        times_served: by how many recalls it was served, in the days that are kept.
        last_served_at: when last.
    """

    memory_id: UUID
    score: float | None
    content: str | None
    times_served: int
    last_served_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallAccount:
    """What a recall served.

    Attributes:
        recall_id: the recall.
        served_at: when.
        policy: the name of the policy that chose.
        reason: why the question brought nothing; ``None`` where it brought something.
        generation: the generation that was asked.
        budget_tokens: the most tokens that the notes were given; ``None`` where none were told.
        as_of, known_at: the moments that were asked for.
        memories: what was served, in order.
        gone: those of them that were deleted or forgotten since.
        block: what became of the block.
        format: how the notes were handed over.
        injection: the notes as they were handed over; ``None`` where they cannot be shown, and
            where a message would have held none.
        injection_headers: headers that a request needs in which the message stands.
        turn_ids: the turns that were answered with it, as they told; closed ones alone.
    """

    recall_id: UUID
    served_at: datetime
    policy: str
    reason: str | None
    generation: str
    budget_tokens: int | None
    as_of: datetime | None
    known_at: datetime | None
    memories: tuple[ServedNote, ...]
    gone: tuple[UUID, ...]
    block: BlockState
    format: InjectionForm
    injection: Injection
    injection_headers: Mapping[str, str]
    turn_ids: tuple[UUID, ...]


class PostgresRecalls:
    """What was served, as one generation's read model has it."""

    def __init__(
        self,
        read_model: ReadModel,
        keys_of: KeysOf,
        *,
        days: int,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire the parts.

        Args:
            read_model: the generation's tables.
            keys_of: gives the subjects' keys, under which blocks are known again.
            days: for how many days it is told what was served.
            clock: the current time, aware.
        """
        self._read_model = read_model
        self._keys_of = keys_of
        self._days = days
        self._clock = clock

    async def account(self, subject: UUID | None, recall_id: UUID) -> RecallAccount:
        """Return what a recall served, as far as the projection has come.

        Args:
            subject: whose memories it served; ``None`` for a user of whom nothing was ever heard.
            recall_id: the recall.

        Raises:
            UnknownRecall: nothing is known of it for this subject, or no more.
            KeyringUnavailable: the keyring cannot be reached.
            ReadModelUnavailable: the read model cannot be reached.
        """
        if subject is None:
            raise unknown_recall()
        kept = kept_from(self._clock(), self._days)
        asked = {"subject": subject, "recall_id": recall_id, "kept_from": kept}
        recalls, served, servings = await read_answers(
            self._read_model, subject, [_QUERIES[name] for name in _OF_ONE], asked
        )
        if not recalls:
            raise unknown_recall()
        keys = (await self._keys_of([subject]))[subject]
        if isinstance(keys, Erased):
            raise unknown_recall()
        return _account(recall_id, keys.id_secret, recalls[0], served, servings)


def unknown_recall() -> UnknownRecall:
    """Return the error for a recall of which nothing is known, whoever else may have it."""
    return UnknownRecall(
        "nothing is known of a recall of this id that was served for this user: it may be past its "
        "days, or not read yet, or could not be recorded; take the recall_id that was answered"
    )


def _account(
    recall_id: UUID,
    id_secret: bytes,
    row: Row,
    served: Sequence[Row],
    servings: Sequence[Row],
) -> RecallAccount:
    found = {memory["memory_id"]: memory for memory in served}
    counted = {serving["memory_id"]: serving for serving in servings}
    form = InjectionForm(row["form"])
    gone = tuple(one for one in row["memory_ids"] if one not in found)
    text = None if gone else _block(row, found, form)
    state = BlockState.INCOMPLETE if gone else BlockState.REPRODUCED
    if text is not None and not hmac.compare_digest(
        block_digest(id_secret, recall_id, text), row["digest"]
    ):
        text = None
    if text is None and not gone:
        state = BlockState.DIFFERS
    return RecallAccount(
        recall_id=recall_id,
        served_at=row["served_at"].astimezone(UTC),
        policy=row["policy"],
        reason=row["reason"],
        generation=row["generation"],
        budget_tokens=row["budget_tokens"],
        as_of=_utc(row["as_of"]),
        known_at=_utc(row["known_at"]),
        memories=tuple(
            ServedNote(
                memory_id=memory_id,
                score=score,
                content=found[memory_id]["content"] if memory_id in found else None,
                times_served=counted[memory_id]["times"],
                last_served_at=counted[memory_id]["last_served_at"].astimezone(UTC),
            )
            for memory_id, score in zip(row["memory_ids"], row["scores"], strict=True)
        ),
        gone=gone,
        block=state,
        format=form,
        injection=None if text is None else carried(text, form),
        injection_headers=headers_of(form),
        turn_ids=tuple(row["turn_ids"]),
    )


def _block(row: Row, found: Mapping[UUID, Row], form: InjectionForm) -> str | None:
    """Return the block that the served memories come to; ``None`` for a template of long ago."""
    if row["template"] != TEMPLATE:
        return None
    lines = [
        _line(found[memory_id], until)
        for memory_id, until in zip(row["memory_ids"], row["until"], strict=True)
    ]
    return write_block(lines, form, row["template"])


def _line(memory: Row, until: str | None) -> NoteLine:
    precision = Precision(memory["valid_from_precision"])
    return NoteLine(
        content=memory["content"],
        about=memory["about"],
        source=Source(memory["source"]),
        is_rule=memory["kind"] == MemoryKind.PROCEDURAL.value,
        since=as_told(memory["valid_from"].astimezone(UTC), precision),
        until=until,
    )


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)
