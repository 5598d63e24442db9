"""The summary of a session that ends: what it is made from, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from processors.closers.session_turns import SESSION_BYTES_MAX, SessionTurns
from processors.extraction import Proposer, without_injection
from processors.opened import Opened, open_cause
from processors.partition_state import PartitionState
from processors.ports import TurnRecords
from processors.shown_turns import shown_characters
from processors.summarising import SourceText, summary_event
from schemas.commands import SessionEnd
from schemas.errors import RecordInvalid, SealBroken
from schemas.keyring import SubjectKeys
from schemas.log.sealed import LogRecord
from schemas.proposals import Proposal
from schemas.records import Turn
from schemas.summaries import SummarySource, SummaryWork, WithoutSummary
from schemas.summary_events import SessionNotSummarised, SessionSummarised
from schemas.tree import Punctured

SUMMARY_TURNS_MAX: Final = 100
"""Most turns that one summary tells of; those behind them are left to the next end of the session,
which a worker brings about by itself."""

SUMMARY_SHOWN_MAX: Final = 40_000
"""Most characters of turns that one question shows, some 10,000 tokens: what is beyond is left to
the next end likewise."""

_BATCH: Final = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryPlan:
    """What a summary is to be made from.

    Attributes:
        texts: its turns, by offset; none where there is none to make.
        more: whether turns are left to the next end of the session.
        without: why there will be none, where that is known before anybody is asked.
    """

    texts: tuple[SourceText, ...] = ()
    more: bool = False
    without: WithoutSummary | None = None


NO_PLAN: Final = SummaryPlan()


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryParts:
    """What summaries need.

    Attributes:
        work: tells which turns no summary tells of; ``None`` where none are to be made.
        records: reads them again.
        proposer: asks the extractor.
        clock: the time, aware.
    """

    work: SummaryWork | None
    records: TurnRecords
    proposer: Proposer
    clock: Callable[[], datetime]


class SessionSummaries:
    """Makes the summaries of sessions.

    Args:
        parts: what that needs.
    """

    def __init__(self, parts: SummaryParts) -> None:
        self._parts = parts

    async def plan(
        self,
        end: SessionEnd,
        opened: Opened,
        state: PartitionState,
        settles: SessionTurns,
        *,
        exhausted: bool,
    ) -> SummaryPlan:
        """Return what the summary of a session is to be made from.

        That is every turn of the conversation in front of this end that no summary tells of, the
        first of them; of those that wait, the ones that this end settles.

        Args:
            end: the end of the session.
            opened: its record.
            state: its partition.
            settles: the turns that it settles.
            exhausted: whether the tenant's budget is.

        Raises:
            LogUnavailable: the broker does not answer.
            ReadModelUnavailable: the projection does not.
        """
        parts = self._parts
        if parts.work is None:
            return NO_PLAN
        untold = await parts.work.turns_without(
            subject=opened.keys.subject,
            conversation_id=end.conversation_id,
            below=opened.record.position.offset,
            limit=SUMMARY_TURNS_MAX + 1,
        )
        offsets = {turn.turn_id: turn.turn_offset for turn in untold if not turn.waits}
        offsets |= {one.turn.turn_id: one.turn_offset for one in settles.readable}
        if not offsets and not (exhausted and untold):
            return NO_PLAN
        if not parts.proposer.summarises:
            return SummaryPlan(without=WithoutSummary.NO_SUMMARIZER)
        if exhausted:
            return SummaryPlan(without=WithoutSummary.BUDGET)
        first = sorted(offsets, key=lambda turn_id: offsets[turn_id])[:SUMMARY_TURNS_MAX]
        wanted = {turn_id: offsets[turn_id] for turn_id in first}
        texts, cut = await self._texts(wanted, opened, state, settles, shown_max=SUMMARY_SHOWN_MAX)
        return SummaryPlan(texts=texts, more=cut or len(offsets) > len(wanted))

    async def event(
        self,
        end: SessionEnd,
        opened: Opened,
        state: PartitionState,
        settles: SessionTurns,
        *,
        plan: SummaryPlan,
        proposal: Proposal | None,
    ) -> SessionSummarised | SessionNotSummarised | None:
        """Return what becomes of a session's summary; ``None`` where there is nothing to say.

        The turns of one that was proposed are read again where that was before: one of them may
        have been erased since.

        Args:
            end: the end of the session.
            opened: its record.
            state: its partition.
            settles: the turns that it settles.
            plan: what it was to be made from.
            proposal: what was proposed; ``None`` where nobody was asked.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        now = self._parts.clock()
        if proposal is None or proposal.summary is None:
            if plan.without is None:
                return None
            return SessionNotSummarised(
                conversation_id=end.conversation_id, reason=plan.without, made_at=now
            )
        proposed = proposal.summary
        texts: Sequence[SourceText] = plan.texts
        known = {text.source for text in texts}
        if not known.issuperset(proposed.sources):
            wanted = {source.turn_id: source.turn_offset for source in proposed.sources}
            texts, _ = await self._texts(wanted, opened, state, settles, shown_max=None)
        named = set(proposed.sources)
        return summary_event(
            proposed,
            [text for text in texts if text.source in named],
            conversation_id=end.conversation_id,
            prompt_hash=proposal.prompt_hash,
            now=now,
        )

    async def _texts(
        self,
        wanted: Mapping[UUID, int],
        opened: Opened,
        state: PartitionState,
        settles: SessionTurns,
        *,
        shown_max: int | None,
    ) -> tuple[tuple[SourceText, ...], bool]:
        """Return the turns that can be read, by offset, and whether some found no room."""
        read = {one.turn.turn_id: one.turn for one in settles.readable}
        found: list[SourceText] = []
        room, shown = SESSION_BYTES_MAX, 0
        ordered = sorted(wanted.items(), key=lambda item: item[1])
        for start in range(0, len(ordered), _BATCH):
            batch = ordered[start : start + _BATCH]
            missing = [offset for turn_id, offset in batch if turn_id not in read]
            records = {
                record.position.offset: record
                for record in await self._parts.records.read(state.partition, missing)
            }
            for turn_id, offset in batch:
                record = settles.records.get(turn_id) or records.get(offset)
                text = _text(turn_id, record, opened.keys, read.get(turn_id))
                if text is None or record is None:
                    continue
                shown += shown_characters(text.turn)
                room -= len(record.value or b"")
                if found and shown_max is not None and (shown > shown_max or room < 0):
                    return tuple(found), True
                found.append(text)
        return tuple(found), False


def sources_of(texts: Iterable[SourceText]) -> tuple[SummarySource, ...]:
    """Return how a summary names turns."""
    return tuple(text.source for text in texts)


def _text(
    turn_id: UUID, record: LogRecord | None, keys: SubjectKeys, read: Turn | None
) -> SourceText | None:
    """Return a turn as it is summed up; ``None`` for one that cannot be read any more."""
    if record is None or record.value is None:
        return None
    try:
        header = record.header()
        turn = open_cause(record, header, keys) if read is None else read
    except (Punctured, SealBroken, RecordInvalid):
        return None
    if not isinstance(turn, Turn) or turn.turn_id != turn_id:
        return None
    source = SummarySource.of(
        turn_id=turn_id, turn_offset=record.position.offset, address=header.address
    )
    return SourceText(turn=without_injection(turn), source=source)
