"""What golden logs hold beside turns: sessions that end, curations, flags and consolidations."""

from __future__ import annotations

from uuid import UUID

from schemas import ids
from schemas.commands import (
    ConsolidationStart,
    Curation,
    FlagDecision,
    SessionEnd,
    SessionEndCause,
    SystemFact,
)
from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoriesMerged,
    MemoryAdded,
    MemoryEnded,
    ProposalFlagged,
    RejectionReason,
)
from schemas.keyring import SubjectKeys
from schemas.memory import Memory, MemoryKind, Provenance, Source
from schemas.proposals import Action, Operation, Speaker, Usage
from schemas.records import Closing, Deferral, DeferralCause, Settled
from schemas.slots import Slot
from tests.histories.made import memory_of, operation
from tests.histories.writing import GoldenWriter, Written, WrittenTurn, at

_USAGE = Usage(
    calls=2, input_tokens=900, output_tokens=120, cache_read_tokens=700, cache_write_tokens=50
)


def write_scenes_beside_turns(writer: GoldenWriter, keys: SubjectKeys) -> None:
    """Append a user's session, facts of a system, flags and consolidations."""
    trips = _session(writer, keys)
    home = _system_fact(writer, keys)
    _flags(writer, keys)
    first = _consolidation(writer, keys, trips)
    _second_consolidation(writer, keys, trips, first, home)


def _session(writer: GoldenWriter, keys: SubjectKeys) -> tuple[Memory, Memory]:
    """Let three turns wait for their session, and a fourth for a budget; end the session."""
    first = _deferred(writer, keys, "d1", "I flew to Rome in May.", minutes=200)
    second = _deferred(writer, keys, "d2", "And by train in July.", minutes=210)
    third = _deferred(writer, keys, "d4", "What was that?", minutes=220)
    end = SessionEnd(
        turn_id=ids.session_end_id(keys.subject, first.turn_id, second.turn_id, 0),
        conversation_id="conversation 1",
        cause=SessionEndCause.IDLE,
        occurred_at=at(260),
        received_at=at(260),
    )
    ended = writer.command("a session that is over", keys, end)
    operations = [
        _trip(first, "Flew to Rome in May"),
        _trip(second, "Went to Rome by train in July"),
    ]
    place = writer.proposal(
        "what a whole session holds",
        ended,
        operations,
        usage=_USAGE,
        stop_reasons=("max_tokens", "end_turn"),
        failed=(third.turn_id,),
    )
    flown, gone = (
        memory_of(
            ended,
            index,
            Slot.EPISODE,
            proposed.content,
            kind=MemoryKind.EPISODIC,
            turn_id=proposed.turn_id,
            conversation_id="conversation 1",
            quote=proposed.quote,
        )
        for index, proposed in enumerate(operations)
    )
    writer.outcome(
        "it settles three turns, of which one could not be answered",
        ended,
        Closing.STORED,
        [MemoryAdded(memory=flown), MemoryAdded(memory=gone)],
        proposal_offset=place,
        settled=(
            Settled(turn_id=first.turn_id, turn_offset=first.offset, closing=Closing.STORED),
            Settled(turn_id=second.turn_id, turn_offset=second.offset, closing=Closing.STORED),
            Settled(turn_id=third.turn_id, turn_offset=third.offset, closing=Closing.DEAD_LETTERED),
        ),
        extractor="openai",
        model="model-1",
        usage=_USAGE,
    )
    _deferred(writer, keys, "d3", "Naples next year?", minutes=270, cause=DeferralCause.BUDGET)
    return flown, gone


def _deferred(
    writer: GoldenWriter,
    keys: SubjectKeys,
    client_id: str,
    text: str,
    *,
    minutes: int,
    cause: DeferralCause = DeferralCause.SESSION,
) -> WrittenTurn:
    turn = writer.turn("a turn that waits", keys, client_id, text, said_at=at(minutes))
    deferral = Deferral(
        conversation_id=turn.turn.conversation_id,
        cause=cause,
        occurred_at=turn.occurred_at,
        received_at=turn.received_at,
    )
    writer.outcome(f"deferred: {cause.value}", turn, Closing.DEFERRED, deferral=deferral)
    return turn


def _trip(turn: WrittenTurn, content: str) -> Operation:
    return operation(
        Action.ADD,
        Slot.EPISODE,
        content,
        turn.turn.user_text,
        kind=MemoryKind.EPISODIC,
        turn_id=turn.turn_id,
    )


def _system_fact(writer: GoldenWriter, keys: SubjectKeys) -> Memory:
    """Remember what one of the operator's systems knows, and what the assistant said."""
    provenance = Provenance(system="orders", type="delivery_address", reference="order 17")
    fact = SystemFact(
        kind=MemoryKind.SEMANTIC,
        slot=Slot.NOTE,
        about="user",
        content="Commutes to Naples",
        importance=3,
        provenance=provenance,
        expires_at=at(90_000),
    )
    curation = Curation(
        turn_id=UUID(int=0xC1),
        source=Source.SYSTEM,
        actor="orders",
        decision=fact,
        occurred_at=at(300),
        received_at=at(300),
    )
    told = writer.command("a fact of a system", keys, curation)
    known = memory_of(told, 0, Slot.NOTE, fact.content, source=Source.SYSTEM, provenance=provenance)
    writer.outcome("with its provenance", told, Closing.STORED, [MemoryAdded(memory=known)])
    asked = writer.turn("a question", keys, "d4", "Where shall I stay?", said_at=at(310))
    quote = "I see."
    said = operation(
        Action.ADD, Slot.EPISODE, "Was told: I see", quote, kind=MemoryKind.EPISODIC
    ).model_copy(update={"said_by": Speaker.ASSISTANT})
    place = writer.proposal("what the assistant said", asked, [said])
    episode = memory_of(
        asked,
        0,
        Slot.EPISODE,
        said.content,
        kind=MemoryKind.EPISODIC,
        source=Source.ASSISTANT,
        quote=quote,
    )
    writer.outcome(
        "attributed", asked, Closing.STORED, [MemoryAdded(memory=episode)], proposal_offset=place
    )
    return known


def _flags(writer: GoldenWriter, keys: SubjectKeys) -> None:
    """Leave two claims to a person, who approves one and refuses the other, twice."""
    turn = writer.turn("two claims", keys, "d5", "50% off for ever! And a refund.", said_at=at(320))
    claims = [
        operation(Action.ADD, Slot.NOTE, "Has 50% off for ever", "50% off for ever!"),
        operation(Action.ADD, Slot.NOTE, "Gets a refund", "And a refund."),
    ]
    place = writer.proposal("what the operator would owe", turn, claims)
    raised = [
        ProposalFlagged(
            flag_id=turn.flag_id(index),
            operation=index,
            reasons=(RejectionReason.OPERATOR_OBLIGATION,),
            proposed=claim,
            turn_id=turn.turn_id,
            conversation_id=turn.turn.conversation_id,
            said_at=turn.occurred_at,
            utc_offset_minutes=turn.turn.utc_offset_minutes,
            flagged_at=at(321),
        )
        for index, claim in enumerate(claims)
    ]
    writer.outcome("left to a person", turn, Closing.FLAGGED, raised, proposal_offset=place)
    _decide(writer, keys, raised[0], approved=False, minutes=330)
    _decide(writer, keys, raised[1], approved=True, minutes=340)
    _decide(writer, keys, raised[1], approved=False, minutes=350)


def _decide(
    writer: GoldenWriter,
    keys: SubjectKeys,
    flag: ProposalFlagged,
    *,
    approved: bool,
    minutes: int,
) -> None:
    decision = FlagDecision(
        flag_id=flag.flag_id,
        approved=approved,
        reason="as billed" if approved else "nobody promised that",
        operation=flag.proposed,
        source_turn_id=flag.turn_id,
        conversation_id=flag.conversation_id,
        said_at=flag.said_at,
        utc_offset_minutes=flag.utc_offset_minutes,
    )
    # Derived from the flag alone, but for the one that comes too late.
    first = ids.flag_decision_id(flag.flag_id)
    curation = Curation(
        turn_id=first if minutes < 350 else UUID(int=0xC2),
        source=Source.CURATION,
        actor="eve",
        decision=decision,
        occurred_at=at(minutes),
        utc_offset_minutes=120,
        received_at=at(minutes),
    )
    written = writer.command("a person decides", keys, curation)
    if approved:
        kept = memory_of(
            written,
            1,
            Slot.NOTE,
            flag.proposed.content,
            source=Source.CURATION,
            turn_id=flag.turn_id,
            quote=flag.proposed.quote,
        )
        approval = FlagApproved(
            flag_id=flag.flag_id, actor="eve", reason=decision.reason, decided_at=at(minutes)
        )
        writer.outcome("carried out", written, Closing.STORED, [approval, MemoryAdded(memory=kept)])
    else:
        refusal = FlagRefused(
            flag_id=flag.flag_id, actor="eve", reason=decision.reason, decided_at=at(minutes)
        )
        writer.outcome("refused", written, Closing.NOTHING_FOUND, [refusal])


def _consolidation(writer: GoldenWriter, keys: SubjectKeys, trips: tuple[Memory, Memory]) -> Memory:
    """Let one memory stand for two."""
    start = ConsolidationStart(
        turn_id=ids.consolidation_id(keys.subject, trips[1].memory_id), occurred_at=at(400)
    )
    started = writer.command("a consolidation", keys, start)
    sources = tuple(trip.memory_id for trip in trips)
    merge = operation(Action.MERGE, Slot.EPISODE, "Went to Rome twice", "", merges=sources)
    place = writer.proposal("a merge", started, [merge])
    merged = _merged(started, merge.content, sources)
    writer.outcome(
        "one for two",
        started,
        Closing.STORED,
        [MemoriesMerged(memory=merged)],
        proposal_offset=place,
        extractor="openai",
        model="model-1",
        usage=_USAGE,
    )
    return merged


def _second_consolidation(
    writer: GoldenWriter,
    keys: SubjectKeys,
    trips: tuple[Memory, Memory],
    first: Memory,
    home: Memory,
) -> None:
    """Let another stand for the same and for the first; end what contradicts it."""
    start = ConsolidationStart(
        turn_id=ids.consolidation_id(keys.subject, home.memory_id), occurred_at=at(500)
    )
    started = writer.command("a later consolidation", keys, start)
    sources = tuple(trip.memory_id for trip in trips)
    operations = [
        operation(Action.MERGE, Slot.EPISODE, "Often goes to Rome", "", merges=sources),
        operation(
            Action.CONTRADICT,
            Slot.NOTE,
            "Commutes to Naples and often goes to Rome",
            "",
            reference=home.memory_id,
            against=first.memory_id,
        ),
    ]
    place = writer.proposal("a merge and a contradiction", started, operations)
    merged = _merged(started, operations[0].content, sources)
    writer.outcome(
        "one for two and for the one before",
        started,
        Closing.STORED,
        [
            MemoriesMerged(memory=merged, replaces=(first.memory_id,)),
            MemoryEnded(
                memory_id=home.memory_id,
                valid_to=at(450),
                because_of=merged.memory_id,
                ended_at=at(500),
            ),
        ],
        proposal_offset=place,
    )
    skipped = writer.turn(
        "small talk that no model is asked about", keys, "d6", "Thanks!", said_at=at(510)
    )
    writer.proposal("nobody was asked", skipped, [], skipped="small_talk")
    writer.outcome("nothing", skipped, Closing.NOTHING_FOUND)


def _merged(written: Written, content: str, sources: tuple[UUID, ...]) -> Memory:
    return memory_of(
        written, 0, Slot.EPISODE, content, kind=MemoryKind.EPISODIC, merged_from=sources
    )
