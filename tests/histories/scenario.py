"""What a golden log of today's schemas holds: every event, and whatever a reader must cope with.

Where a schema gets a new version, this is brought up to date and recorded under a new name. The
logs that were recorded before stay as they are.
"""

from __future__ import annotations

from uuid import UUID

from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemoryRetracted,
    MemorySuperseded,
    ProposalRejected,
    RejectionReason,
    Renewal,
)
from schemas.memory import Confidence, Memory, MemoryKind, Precision, Source
from schemas.proposals import Action, InvalidItem
from schemas.records import Closing, DeadLetter, Origin
from schemas.slots import Slot
from tests.histories.beside_turns import write_scenes_beside_turns
from tests.histories.curated import write_curations
from tests.histories.files import write_file_commands
from tests.histories.folding import fold_log
from tests.histories.golden import Fault, GoldenLog
from tests.histories.made import embedding, memory_of, operation
from tests.histories.served import RECALL, write_recalls
from tests.histories.summarised import write_summaries
from tests.histories.writing import (
    GENERATION,
    GoldenWriter,
    WrittenTurn,
    at,
    forgotten,
    key_material,
    keys_of,
)

ANN = keys_of(UUID(int=1))
BEN = keys_of(UUID(int=2))
CLEO = keys_of(UUID(int=3))
DAN = keys_of(UUID(int=4))
EVE = keys_of(UUID(int=5))

DAY = 24 * 60
"""Minutes."""


def today(name: str) -> GoldenLog:
    """Return a log as today's code writes it, with what it means."""
    writer = GoldenWriter()
    _changes_of_mind(writer)
    _refusals(writer)
    _failures(writer)
    forgotten_turn = _forgotten_turn(writer)
    _erased_user(writer)
    write_scenes_beside_turns(writer, DAN)
    write_file_commands(writer, DAN)
    write_curations(writer, EVE)
    write_recalls(writer, ANN)
    write_summaries(writer, EVE)
    keys = key_material([ANN, DAN, EVE, forgotten(forgotten_turn)], [(CLEO.subject, at(3 * DAY))])
    log = GoldenLog(
        name=name, plain=tuple(writer.plain), sealed=tuple(writer.sealed), keys=keys, folded=None
    )
    return GoldenLog(name=name, plain=log.plain, sealed=log.sealed, keys=keys, folded=fold_log(log))


def _changes_of_mind(writer: GoldenWriter) -> None:
    """Add, supersede, backfill, confirm and retract, and append two records twice."""
    munich = writer.turn("a first fact", ANN, "t1", "I live in Munich.", said_at=at(0))
    add = operation(Action.ADD, Slot.RESIDENCE, "Lives in Munich", "I live in Munich.")
    at_munich = writer.proposal("an addition", munich, [add])
    first = memory_of(munich, 0, Slot.RESIDENCE, "Lives in Munich", embedding=embedding(1))
    writer.outcome(
        "a memory with a vector",
        munich,
        Closing.STORED,
        [MemoryAdded(memory=first)],
        proposal_offset=at_munich,
    )
    writer.append_again("the first turn again, after a retry", munich)

    moved = writer.turn(
        "two facts, a zone, and a recall that was served",
        ANN,
        "t2",
        "I moved to Zürich today. I love tea, 緑茶が好き 🍵",
        said_at=at(40 * DAY),
        utc_offset_minutes=60,
        assistant_text=None,
        recall_id=RECALL,
    )
    update = operation(
        Action.UPDATE,
        Slot.RESIDENCE,
        "Lives in Zürich",
        "I moved to Zürich today.",
        reference=first.memory_id,
        valid_from=at(40 * DAY),
    )
    tea = operation(Action.ADD, Slot.PREFERENCE, "Loves tea", "I love tea, 緑茶が好き 🍵")
    at_moved = writer.proposal("an update of a named memory, and an addition", moved, [update, tea])
    second = memory_of(
        moved, 0, Slot.RESIDENCE, "Lives in Zürich", lineage_id=first.lineage_id, importance=4
    )
    taste = memory_of(
        moved, 1, Slot.PREFERENCE, "Loves tea", source=Source.CURATION, embedding=embedding(2)
    )
    decided: list[MemoryEvent] = [
        MemorySuperseded(closes=first.memory_id, memory=second),
        MemoryAdded(memory=taste),
    ]
    writer.outcome(
        "one closes, two open",
        moved,
        Closing.STORED,
        decided,
        proposal_offset=at_moved,
        recall_id=RECALL,
    )

    bern = writer.turn(
        "a late turn, said between the two before it, from an import",
        ANN,
        "t3",
        "I live in Bern now.",
        said_at=at(20 * DAY),
        received_at=at(41 * DAY),
        origin=Origin.IMPORT,
    )
    between = memory_of(
        bern,
        0,
        Slot.RESIDENCE,
        "Lives in Bern",
        lineage_id=first.lineage_id,
        valid_to=second.valid_from,
    )
    writer.outcome(
        "a version between two others",
        bern,
        Closing.STORED,
        [MemoryBackfilled(after=first.memory_id, memory=between)],
    )
    kyoto = writer.turn(
        "a turn that is older than all",
        ANN,
        "t4",
        "京都に住んでいます。",
        said_at=at(-90 * DAY),
        received_at=at(42 * DAY),
        origin=Origin.IMPORT,
    )
    oldest = memory_of(
        kyoto,
        0,
        Slot.RESIDENCE,
        "京都に住んでいる",
        lineage_id=first.lineage_id,
        valid_to=first.valid_from,
    )
    writer.outcome(
        "a version before all others",
        kyoto,
        Closing.STORED,
        [MemoryBackfilled(after=None, memory=oldest)],
    )
    _confirmed_and_retracted(writer, second, taste)
    writer.outcome("the outcome of t2 again, decided otherwise", moved, Closing.NOTHING_FOUND)


def _confirmed_and_retracted(writer: GoldenWriter, home: Memory, taste: Memory) -> None:
    for minutes, client_id in ((43 * DAY, "t5"), (42.5 * DAY, "t6")):
        again = writer.turn(
            "the same statement", ANN, client_id, "As I said: Zürich.", said_at=at(minutes)
        )
        confirmed = MemoryConfirmed(
            memory_id=home.memory_id,
            turn_id=again.turn_id,
            quote="As I said: Zürich.",
            confirmed_at=again.turn.occurred_at,
            # The later of the two counts, though it was read first.
            renewal=Renewal(expires_at=at(minutes + 90 * DAY)),
        )
        writer.outcome("a confirmation", again, Closing.STORED, [confirmed])
    wrong = writer.turn("a correction", ANN, "t7", "I never said I love tea.", said_at=at(44 * DAY))
    retract = operation(
        Action.RETRACT,
        Slot.PREFERENCE,
        "Loves tea",
        "I never said I love tea.",
        reference=taste.memory_id,
    )
    at_wrong = writer.proposal("a retraction", wrong, [retract])
    retracted = MemoryRetracted(
        memory_id=taste.memory_id,
        turn_id=wrong.turn_id,
        quote="I never said I love tea.",
        retracted_at=at(44 * DAY),
    )
    writer.outcome("a retraction", wrong, Closing.STORED, [retracted], proposal_offset=at_wrong)


def _refusals(writer: GoldenWriter) -> None:
    """Refuse with every reason, keep what is beside it, and find nothing."""
    mixed = writer.turn(
        "items that cannot be read", ANN, "t8", "I'm allergic to nuts. Be brief.", said_at=at(50)
    )
    operations = [
        operation(Action.ADD, Slot.NAME, "Is called Bob", "my name is Bob", importance=2),
        operation(
            Action.ADD,
            Slot.ALLERGY,
            "Is allergic to nuts",
            "I'm allergic to nuts.",
            importance=5,
            valid_from=at(0),
            valid_from_precision=Precision.YEAR,
        ),
        operation(
            Action.ADD,
            Slot.RULE,
            "Answer briefly",
            "Be brief.",
            kind=MemoryKind.PROCEDURAL,
            confidence=Confidence.INFERRED,
            expires_at=at(500 * DAY),
        ),
    ]
    invalid = [
        InvalidItem(position=1, problem="importance is 9, the greatest is 5"),
        InvalidItem(position=4, problem="has no content"),
    ]
    at_mixed = writer.proposal("a proposal with invalid items", mixed, operations, invalid)
    nuts = memory_of(
        mixed,
        1,
        Slot.ALLERGY,
        "Is allergic to nuts",
        importance=5,
        valid_from=at(0),
        valid_from_precision=Precision.YEAR,
    )
    brief = memory_of(
        mixed,
        2,
        Slot.RULE,
        "Answer briefly",
        kind=MemoryKind.PROCEDURAL,
        confidence=Confidence.INFERRED,
        expires_at=at(500 * DAY),
        source=Source.SYSTEM,
    )
    writer.outcome(
        "one is refused, two are kept",
        mixed,
        Closing.STORED,
        [
            ProposalRejected(
                operation=0,
                reasons=(RejectionReason.EVIDENCE_NOT_IN_USER_TEXT,),
                turn_id=mixed.turn_id,
            ),
            MemoryAdded(memory=nuts),
            MemoryAdded(memory=brief),
        ],
        proposal_offset=at_mixed,
    )
    refused = writer.turn("refused whole", ANN, "t9", "Forget it.", said_at=at(60))
    at_refused = writer.proposal("an empty proposal", refused, [])
    writer.outcome(
        "every reason there is",
        refused,
        Closing.REJECTED,
        [ProposalRejected(operation=0, reasons=tuple(RejectionReason))],
        proposal_offset=at_refused,
    )
    small_talk = writer.turn("small talk", ANN, "t10", "Hi! ¿Qué tal?\u2028Ça va?", said_at=at(70))
    writer.outcome("nothing found", small_talk, Closing.NOTHING_FOUND)


def _failures(writer: GoldenWriter) -> None:
    """Give up a turn that can be opened, and records that cannot."""
    hopeless = writer.turn("a turn that no answer comes for", ANN, "t11", "Hm.", said_at=at(80))
    record = writer.last()
    letter = DeadLetter(
        topic=record.position.topic,
        partition=record.position.partition,
        offset=record.position.offset,
        generation=GENERATION,
        stage="extract",
        error="ExtractionFailed",
        detail="the answer was cut off, in each of 3 attempts",
        value=record.value,
        value_bytes=len(record.value or b""),
        headers=tuple(record.headers),
        occurred_at=at(81),
    )
    writer.dead_letter("a record that is kept whole", record, letter)
    writer.outcome(
        "a dead-lettered turn", hopeless, Closing.DEAD_LETTERED, error="ExtractionFailed"
    )
    poisoned = writer.turn("a turn whose outcome is damaged", ANN, "t12", "Oh.", said_at=at(90))
    writer.outcome("an altered one", poisoned, Closing.NOTHING_FOUND, fault=Fault.ALTERED)
    writer.outcome("one without its header", poisoned, Closing.STORED, fault=Fault.NO_HEADER)
    writer.append_again("a turn without its header", poisoned, Fault.NO_HEADER)


def _forgotten_turn(writer: GoldenWriter) -> WrittenTurn:
    """Note two episodes, of which one turn is forgotten: its key first, its records later."""
    kept = writer.turn("an episode", BEN, "b1", "We climbed the Eiger.", said_at=at(100))
    writer.outcome("kept", kept, Closing.STORED, [MemoryAdded(memory=_episode(kept))])
    gone = writer.turn("a turn that is forgotten", BEN, "b2", "We lost the rope.", said_at=at(110))
    writer.outcome("unreadable", gone, Closing.STORED, [MemoryAdded(memory=_episode(gone))])
    writer.append_again("its tombstone", gone, Fault.TOMBSTONE)
    writer.outcome("the outcome's tombstone", gone, Closing.STORED, fault=Fault.TOMBSTONE)
    return gone


def _erased_user(writer: GoldenWriter) -> None:
    """Store something for a user whose keys are destroyed before the log is read."""
    told = writer.turn("a user who is erased", CLEO, "c1", "My name is Cleo.", said_at=at(120))
    named = memory_of(told, 0, Slot.NAME, "Is called Cleo")
    writer.outcome("unreadable", told, Closing.STORED, [MemoryAdded(memory=named)])
    late = writer.turn("a turn found erased", CLEO, "c2", "Still here?", said_at=at(130))
    writer.outcome("the system closes it", late, Closing.ERASED, by_system=True)


def _episode(written: WrittenTurn) -> Memory:
    return memory_of(
        written,
        0,
        Slot.EPISODE,
        written.turn.user_text,
        kind=MemoryKind.EPISODIC,
        about="user and sister",
        importance=1,
    )
