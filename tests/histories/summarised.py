"""What golden logs hold of summaries: one that stands, one whose turn is gone, ends without any."""

from __future__ import annotations

from uuid import UUID

from schemas.commands import SessionEnd, SessionEndCause
from schemas.events import (
    MemoryEvent,
    RejectionReason,
)
from schemas.keyring import SubjectKeys
from schemas.records import Closing
from schemas.summaries import ProposedSummary, SummarySource, WithoutSummary
from schemas.summary_events import SentencesRefused, SessionNotSummarised, SessionSummarised
from tests.histories.golden import Fault
from tests.histories.writing import GoldenWriter, Written, WrittenTurn, at

_CONVERSATION = "conversation 1"


def write_summaries(writer: GoldenWriter, keys: SubjectKeys) -> None:
    """Append turns of a user and the ends of their session, each with what it came to."""
    booked, seat, gone = (
        _turn(writer, keys, f"s{number}", text, minutes=800 + number)
        for number, text in enumerate(
            ("I need a train to Graz.", "A window seat, please.", "My code is in the mail.")
        )
    )
    refused = (SentencesRefused(reason=RejectionReason.ONE_TIME_CODE, sentences=1),)
    _ended(
        writer, keys, 1, (booked, seat), "Wants a train to Graz and a window seat.", refused=refused
    )
    _ended(writer, keys, 2, (gone,), "Waits for a mail.")
    writer.outcome(
        "the outcome of a turn that was forgotten", gone, Closing.ERASED, fault=Fault.TOMBSTONE
    )
    for number, (reason, sources) in enumerate(
        (
            (WithoutSummary.NO_SUMMARIZER, ()),
            (WithoutSummary.REFUSED, (_source(gone),)),
            (WithoutSummary.UNAVAILABLE, ()),
        ),
        3,
    ):
        without = SessionNotSummarised(
            conversation_id=_CONVERSATION,
            reason=reason,
            sources=sources,
            refused=refused if sources else (),
            made_at=at(820 + number),
        )
        _outcome(writer, _end(writer, keys, number), without)


def _turn(
    writer: GoldenWriter, keys: SubjectKeys, client_id: str, text: str, *, minutes: int
) -> WrittenTurn:
    turn = writer.turn("a turn that is summed up", keys, client_id, text, said_at=at(minutes))
    writer.outcome("of a conversation", turn, Closing.NOTHING_FOUND, conversation_id=_CONVERSATION)
    return turn


def _source(turn: WrittenTurn) -> SummarySource:
    return SummarySource.of(turn_id=turn.turn_id, turn_offset=turn.offset, address=turn.address)


def _end(writer: GoldenWriter, keys: SubjectKeys, number: int) -> Written:
    end = SessionEnd(
        turn_id=UUID(int=0x5E00 + number),
        conversation_id=_CONVERSATION,
        cause=SessionEndCause.SUMMARY if number % 2 else SessionEndCause.EXPLICIT,
        occurred_at=at(820 + number),
        received_at=at(820 + number),
    )
    return writer.command("a session that is summed up", keys, end)


def _ended(
    writer: GoldenWriter,
    keys: SubjectKeys,
    number: int,
    turns: tuple[WrittenTurn, ...],
    text: str,
    *,
    refused: tuple[SentencesRefused, ...] = (),
) -> None:
    ended = _end(writer, keys, number)
    sources = tuple(map(_source, turns))
    proposed = ProposedSummary(text=text, sources=sources, shortened=1)
    place = writer.proposal("what it came to", ended, [], summary=proposed)
    summarised = SessionSummarised(
        conversation_id=_CONVERSATION,
        summary=text,
        sources=sources,
        first_said_at=turns[0].occurred_at,
        last_said_at=turns[-1].occurred_at,
        shortened=1,
        refused=refused,
        cut=2,
        more=bool(refused),
        prompt_hash="0123456789abcdef",
        made_at=at(830),
    )
    _outcome(writer, ended, summarised, proposal_offset=place)


def _outcome(
    writer: GoldenWriter, ended: Written, event: MemoryEvent, proposal_offset: int | None = None
) -> None:
    writer.outcome(
        "with what became of its summary",
        ended,
        Closing.NOTHING_FOUND,
        [event],
        proposal_offset=proposal_offset,
        extractor="openai",
        model="model-1",
        conversation_id=_CONVERSATION,
    )
