"""What becomes of one record of the turns topic, on every path."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from processors import metrics
from processors.partition_state import PartitionState
from schemas import ids, registry
from schemas.errors import (
    ExtractionFailed,
    ExtractionRejected,
    KeyringUnavailable,
    ReadModelUnavailable,
)
from schemas.events import MemoryAdded
from schemas.keyring import SubjectKeys
from schemas.log.accounting import turn_id_of_unaccountable
from schemas.log.sealed import HEADER_NAME, LogRecord, open_record
from schemas.ports import ExtractionRequest, Vectors
from schemas.records import Closing, DeadLetter, Outcome
from schemas.sealing import Header, seal
from schemas.topics import DEAD_LETTERS, TURNS, memories_topic, proposals_topic
from schemas.tree import address_for
from tests.support.embedder import CountingEmbedder
from tests.support.extractors import NotingExtractor
from tests.support.log_writer import memory
from tests.support.memory_ledger import closings
from tests.support.memory_log import Delivery
from tests.support.memory_worker import GENERATION, MemorySite, MemoryWorker
from tests.support.turns import NOON, new_keys, sealed_turn
from tests.support.virtual_time import run_virtual

A_LONG_TIME_S = 3600.0


class Desk:
    """One worker that holds partition 0, and the log it works on."""

    def __init__(
        self,
        *,
        extractor: NotingExtractor | None = None,
        embedder: CountingEmbedder | None = None,
    ) -> None:
        self.site = MemorySite()
        self.extractor = extractor or NotingExtractor()
        self.embedder = embedder or CountingEmbedder()
        self.keys = self.site.subject()
        self.worker = MemoryWorker(self.site, self.extractor, self.embedder)

    async def hold(self) -> PartitionState:
        """Take the partition over and return its state, ready."""
        state = await self.worker.takeover.claim(0)
        making_ready = asyncio.create_task(self.worker.takeover.make_ready(state))
        await state.ready.wait()
        making_ready.cancel()
        return state

    async def handle(self, record: LogRecord) -> None:
        """Take the partition over and work on one record."""
        state = await self.hold()
        await self.worker.work.handle(record, state)
        assert state.known.needed == 0
        assert state.paid == {}

    def count(self, topic: str) -> int:
        return self.site.log.end(topic, 0)

    @property
    def proposals(self) -> int:
        return self.count(proposals_topic(GENERATION))

    @property
    def outcomes(self) -> list[Outcome]:
        return list(self.site.ledger.outcomes(0).values())

    async def outcome(self) -> Outcome:
        """Return the only outcome there is, as the projection sees it."""
        await self.site.ledger.project(0)
        assert self.count(memories_topic(GENERATION)) == 1
        (outcome,) = self.outcomes
        return outcome

    async def dead_letter(self) -> DeadLetter:
        """Return the only dead letter there is."""
        (record,) = self.site.log.records(DEAD_LETTERS, 0)
        return open_record(DeadLetter, record, await self.site.keyring.system_subject())


def turn_id(record: LogRecord) -> UUID:
    return record.header().record_id


def failing(topic: str, *deliveries: Delivery) -> Callable[[str], Awaitable[Delivery]]:
    """Deliver to a topic as told, one by one, and then as usual."""
    left = list(deliveries)

    async def deliver(to: str) -> Delivery:
        return left.pop(0) if to == topic and left else Delivery.ACKNOWLEDGED

    return deliver


async def waits(task: asyncio.Task[None]) -> bool:
    """Tell whether a task is still waiting after a long time."""
    done, _ = await asyncio.wait([task], timeout=A_LONG_TIME_S)
    return not done


def test_a_turn_closes_as_stored_with_a_memory_that_has_its_vector() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        await desk.handle(record)
        outcome = await desk.outcome()
        assert (outcome.turn_id, outcome.closing) == (turn_id(record), Closing.STORED)
        assert (outcome.turn_partition, outcome.turn_offset) == (0, 0)
        (event,) = outcome.events
        assert isinstance(event, MemoryAdded)
        assert event.memory.content == "I live in Rome."
        assert event.memory.embedding is not None
        assert outcome.proposal_offset == 0
        assert outcome.proposals_floor == 1
        assert desk.proposals == 1

    run_virtual(run())


def test_an_outcome_tells_which_recall_its_turn_was_answered_with() -> None:
    async def run() -> None:
        desk, recall_id = Desk(), uuid4()
        answered = sealed_turn(
            desk.keys, "I live in Rome.", partitions=desk.site.partitions, recall_id=recall_id
        )
        await desk.handle(desk.site.append(answered))
        assert (await desk.outcome()).recall_id == recall_id

        other = Desk()
        await other.handle(other.site.say(other.keys, "I live in Rome."))
        assert (await other.outcome()).recall_id is None

    run_virtual(run())


def test_the_extractor_is_shown_the_memories_nearest_to_the_users_own_words() -> None:
    async def run() -> None:
        desk = Desk(extractor=NotingExtractor(known_max=1))
        desk.site.ledger.nearest = (memory(uuid4(), uuid4(), content="lives in Oslo"),)
        await desk.handle(desk.site.say(desk.keys, "I moved."))
        (request,) = desk.extractor.requests
        assert [known.memory.content for known in request.known] == ["lives in Oslo"]
        assert desk.embedder.texts[0] == ["I moved."]

    run_virtual(run())


def test_an_embedder_that_fails_hides_memories_and_loses_nothing() -> None:
    async def run() -> None:
        desk = Desk(extractor=NotingExtractor(known_max=1), embedder=CountingEmbedder(failures=100))
        desk.site.ledger.nearest = (memory(uuid4(), uuid4()),)
        await desk.handle(desk.site.say(desk.keys, "I moved."))
        (request,) = desk.extractor.requests
        assert request.known == ()
        assert (await desk.outcome()).closing is Closing.STORED

    run_virtual(run())


def test_a_missing_vector_is_counted_once_however_often_its_outcome_is_appended() -> None:
    def counted() -> float:
        (family,) = metrics.EMBEDDINGS_MISSING.collect()
        return next(one.value for one in family.samples if one.name.endswith("_total"))

    async def run() -> None:
        desk = Desk(embedder=CountingEmbedder(failures=100))
        lost = (Delivery.LOST, Delivery.LOST)
        desk.worker.producer.deliver = failing(memories_topic(GENERATION), *lost)
        await desk.handle(desk.site.say(desk.keys, "I live in Rome."))
        assert len(desk.embedder.texts) == 3, "it is embedded at every attempt"

    before = counted()
    run_virtual(run())
    assert counted() == before + 1


def test_a_turn_that_was_sent_twice_is_closed_once() -> None:
    async def run() -> None:
        desk = Desk()
        sealed = sealed_turn(desk.keys, "I live in Rome.", partitions=1)
        first, again = desk.site.append(sealed), desk.site.append(sealed)
        state = await desk.hold()
        await desk.worker.work.handle(first, state)
        await desk.worker.work.handle(again, state)
        await desk.outcome()
        assert len(desk.extractor.requests) == 1

    run_virtual(run())


def test_a_turn_that_the_ledger_had_closed_is_not_even_opened() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        await desk.handle(record)
        lookups = desk.site.keyring.lookups
        state = await desk.worker.takeover.claim(0)
        state.ready.set()
        await desk.worker.work.handle(record, state)
        assert desk.site.keyring.lookups == lookups
        assert len(desk.extractor.requests) == 1

    run_virtual(run())


def test_a_tombstone_needs_no_work() -> None:
    async def run() -> None:
        desk = Desk()
        desk.site.log.append_raw(TURNS, 0, key=b"key")
        await desk.handle(desk.site.log.records(TURNS, 0)[0])
        assert desk.count(memories_topic(GENERATION)) == desk.count(DEAD_LETTERS) == 0

    run_virtual(run())


def test_a_record_without_a_readable_header_is_kept_and_accounted_for() -> None:
    async def run() -> None:
        desk = Desk()
        desk.site.log.append_raw(TURNS, 0, value=b"poison", headers=[("other", b"header")])
        (record,) = desk.site.log.records(TURNS, 0)
        await desk.handle(record)
        outcome = await desk.outcome()
        assert outcome.turn_id == turn_id_of_unaccountable(record)
        assert outcome.closing is Closing.DEAD_LETTERED
        letter = await desk.dead_letter()
        assert (letter.stage, letter.value) == ("open", b"poison")
        assert letter.headers == (("other", b"header"),)
        assert letter.offset == 0

    run_virtual(run())


def test_a_record_in_another_subjects_partition_is_accounted_for_under_the_system() -> None:
    async def run() -> None:
        desk = Desk()
        desk.site.partitions = 2
        desk.worker = MemoryWorker(desk.site, desk.extractor, desk.embedder)
        keys = desk.site.subject(partition=1)
        misplaced = replace(sealed_turn(keys, "text", partitions=2), partition=0)
        record = desk.site.append(misplaced)
        await desk.handle(record)
        assert (await desk.dead_letter()).error == "RecordUnaccountable"
        (memories,) = desk.site.log.records(memories_topic(GENERATION), 0)
        system = await desk.site.keyring.system_subject()
        outcome = open_record(Outcome, memories, system)
        assert outcome.turn_id == turn_id_of_unaccountable(record)
        assert desk.extractor.requests == []

    run_virtual(run())


def test_a_broken_seal_is_kept_and_closes_its_turn() -> None:
    async def run() -> None:
        desk = Desk()
        sealed = sealed_turn(desk.keys, "text", partitions=1)
        value = sealed.record.value[:-1] + bytes([sealed.record.value[-1] ^ 1])
        record = desk.site.append(replace(sealed, record=replace(sealed.record, value=value)))
        await desk.handle(record)
        outcome = await desk.outcome()
        assert (outcome.turn_id, outcome.closing) == (turn_id(record), Closing.DEAD_LETTERED)
        assert outcome.error == "SealBroken"
        letter = await desk.dead_letter()
        assert (letter.stage, letter.value) == ("open", value)

    run_virtual(run())


def sealed_payload(
    keys: SubjectKeys, payload: bytes, *, schema: str = "turn", version: int = 1
) -> tuple[bytes, bytes]:
    """Return header and value of a turn whose payload is anything at all."""
    record_id = uuid4()
    address = address_for(NOON.date(), record_id)
    header = Header(
        subject=keys.subject,
        record_id=record_id,
        address=address,
        schema_name=schema,
        schema_version=version,
    ).encode()
    return header, seal(keys.leaf_key(address), header, payload)


def poison(desk: Desk, payload: bytes, *, schema: str = "turn", version: int = 1) -> LogRecord:
    header, value = sealed_payload(desk.keys, payload, schema=schema, version=version)
    offset = desk.site.log.append_raw(TURNS, 0, value=value, headers=[(HEADER_NAME, header)])
    return desk.site.log.records(TURNS, 0, offset)[0]


def test_a_payload_that_does_not_fit_its_schema_is_kept_and_closes_its_turn() -> None:
    async def run(payload: bytes, schema: str, version: int, error: str) -> None:
        desk = Desk()
        record = poison(desk, payload, schema=schema, version=version)
        await desk.handle(record)
        outcome = await desk.outcome()
        assert (outcome.turn_id, outcome.closing) == (turn_id(record), Closing.DEAD_LETTERED)
        letter = await desk.dead_letter()
        assert (letter.stage, letter.error) == ("decode", error)
        assert desk.extractor.requests == []

    turn = registry.encode(sealed_turn(new_keys(), "text", partitions=1).turn)
    unknown_field = turn[:-1] + b',"surprise":1}'
    run_virtual(run(b"not JSON", "turn", 1, "RecordInvalid"))
    run_virtual(run(unknown_field, "turn", 1, "RecordInvalid"))
    run_virtual(run(turn, "turn", 2, "UnknownSchema"))
    run_virtual(run(turn, "proposal", 1, "UnknownSchema"))
    # Its id is not the one in the header, by which the projection knows it.
    run_virtual(run(turn, "turn", 1, "RecordInvalid"))


def test_the_next_good_record_is_processed_after_a_poisoned_one() -> None:
    async def run() -> None:
        desk = Desk()
        bad, good = poison(desk, b"not JSON"), desk.site.say(desk.keys, "I live in Rome.")
        state = await desk.hold()
        for record in (bad, good):
            await desk.worker.work.handle(record, state)
        assert closings(desk.site.ledger, 0) == {
            turn_id(bad): Closing.DEAD_LETTERED,
            turn_id(good): Closing.STORED,
        }

    run_virtual(run())


def test_an_extraction_that_fails_for_good_is_a_dead_letter_and_never_nothing_found() -> None:
    async def run(error: ExtractionFailed, calls: int) -> None:
        async def fail(_: ExtractionRequest) -> None:
            raise error

        desk = Desk(extractor=NotingExtractor(step=fail))
        await desk.handle(desk.site.say(desk.keys, "I live in Rome."))
        assert (await desk.outcome()).closing is Closing.DEAD_LETTERED
        letter = await desk.dead_letter()
        assert (letter.stage, letter.error) == ("extract", type(error).__name__)
        assert len(desk.extractor.requests) == calls

    run_virtual(run(ExtractionFailed("not JSON"), 3))
    run_virtual(run(ExtractionRejected("refused"), 1))


def test_a_turn_of_an_erased_subject_closes_as_erased_under_the_system() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        desk.site.keyring.erase(desk.keys.subject)
        await desk.handle(record)
        outcome = await desk.outcome()
        assert (outcome.turn_id, outcome.closing) == (turn_id(record), Closing.ERASED)
        (memories,) = desk.site.log.records(memories_topic(GENERATION), 0)
        assert memories.header().subject == (await desk.site.keyring.system_subject()).subject
        assert desk.extractor.requests == []

    run_virtual(run())


def test_a_forgotten_turn_closes_as_erased() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        punctured = desk.keys.seeds.puncture(record.header().address)
        desk.site.keyring.put(replace(desk.keys, seeds=punctured))
        await desk.handle(record)
        assert (await desk.outcome()).closing is Closing.ERASED

    run_virtual(run())


def test_a_missing_key_is_waited_for_and_never_taken_for_an_erasure() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        desk.site.keyring.lose(desk.keys.subject)
        handling = asyncio.create_task(desk.handle(record))
        assert await waits(handling)
        assert desk.count(memories_topic(GENERATION)) == desk.count(DEAD_LETTERS) == 0
        desk.site.keyring.put(desk.keys)
        await handling
        assert (await desk.outcome()).closing is Closing.STORED

    run_virtual(run())


def test_a_keyring_or_a_ledger_that_cannot_be_reached_is_waited_for() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        state = await desk.hold()
        desk.site.keyring.failure = KeyringUnavailable("down")
        handling = asyncio.create_task(desk.worker.work.handle(record, state))
        assert await waits(handling)
        desk.site.keyring.failure = None
        desk.site.ledger.failure = ReadModelUnavailable("down")
        assert await waits(handling)
        desk.site.ledger.failure = None
        await handling
        assert (await desk.outcome()).closing is Closing.STORED
        assert desk.count(DEAD_LETTERS) == 0

    run_virtual(run())


def test_a_log_that_fails_between_proposal_and_outcome_never_costs_a_second_call() -> None:
    async def run(topic: str, delivery: Delivery) -> None:
        desk = Desk()
        desk.worker.producer.deliver = failing(topic, delivery, delivery)
        await desk.handle(desk.site.say(desk.keys, "I live in Rome."))
        assert len(desk.extractor.requests) == 1
        await desk.site.ledger.project(0)
        assert [outcome.closing for outcome in desk.outcomes] == [Closing.STORED]

    run_virtual(run(proposals_topic(GENERATION), Delivery.LOST))
    run_virtual(run(memories_topic(GENERATION), Delivery.LOST))
    run_virtual(run(memories_topic(GENERATION), Delivery.UNACKNOWLEDGED))


def test_an_unacknowledged_proposal_holds_the_floor_back() -> None:
    async def run() -> None:
        desk = Desk()
        desk.worker.producer.deliver = failing(proposals_topic(GENERATION), Delivery.UNACKNOWLEDGED)
        await desk.handle(desk.site.say(desk.keys, "I live in Rome."))
        assert len(desk.extractor.requests) == 1
        assert desk.proposals == 2
        assert (await desk.outcome()).proposals_floor == 0

    run_virtual(run())


def test_a_ledger_that_fails_after_the_outcome_never_costs_a_second_call() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        state = await desk.hold()
        ledger = desk.site.ledger

        async def break_ledger(topic: str) -> Delivery:
            if topic == memories_topic(GENERATION):
                ledger.failure = ReadModelUnavailable("down")
                ledger.at_once = False
            return Delivery.ACKNOWLEDGED

        desk.worker.producer.deliver = break_ledger
        handling = asyncio.create_task(desk.worker.work.handle(record, state))
        assert await waits(handling)
        ledger.failure = None
        assert await waits(handling)
        await ledger.project(0)
        await handling
        assert len(desk.extractor.requests) == 1
        assert (await desk.outcome()).closing is Closing.STORED

    run_virtual(run())


def test_a_proposal_that_stood_is_decided_without_a_call() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        state = await desk.hold()

        async def lose_outcomes(topic: str) -> Delivery:
            return Delivery.LOST if topic == memories_topic(GENERATION) else Delivery.ACKNOWLEDGED

        desk.worker.producer.deliver = lose_outcomes
        crashed = asyncio.create_task(desk.worker.work.handle(record, state))
        assert await waits(crashed)
        crashed.cancel()
        successor = MemoryWorker(desk.site, desk.extractor, desk.embedder, owner="successor")
        desk.worker = successor
        await desk.handle(record)
        assert len(desk.extractor.requests) == 1
        outcome = await desk.outcome()
        assert (outcome.closing, outcome.proposal_offset) == (Closing.STORED, 0)

    run_virtual(run())


def test_a_worker_that_lost_the_partition_does_nothing_until_it_has_claimed_it_again() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        state = await desk.hold()
        desk.worker.lease.heartbeat.clear()
        await desk.site.ledger.claim(0, "another")
        handling = asyncio.create_task(desk.worker.work.handle(record, state))
        assert await waits(handling)
        assert desk.extractor.requests == []
        assert desk.site.ledger.owner(0) == "another"
        desk.worker.lease.heartbeat.set()
        await handling
        assert desk.site.ledger.owner(0) == desk.worker.owner
        assert (await desk.outcome()).closing is Closing.STORED

    run_virtual(run())


def test_a_worker_whose_lease_is_spent_calls_no_extractor() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        state = await desk.hold()
        desk.worker.lease.left_s = 0.0
        desk.worker.lease.heartbeat.clear()
        handling = asyncio.create_task(desk.worker.work.handle(record, state))
        assert await waits(handling)
        assert desk.extractor.requests == []
        desk.worker.lease.heartbeat.set()
        await handling
        assert len(desk.extractor.requests) == 1

    run_virtual(run())


class BuggyEmbedder(CountingEmbedder):
    """Stands for a bug of our own: it raises what no embedder may."""

    def __init__(self, *, on_third: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.tried = 0
        self._on_third = on_third

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.tried += 1
        if self.tried == 3:
            self._on_third()
        raise KeyError(texts[0])


def test_a_bug_of_our_own_is_tried_three_times_and_then_kept() -> None:
    async def run() -> None:
        embedder = BuggyEmbedder()
        desk = Desk(embedder=embedder)
        record = desk.site.say(desk.keys, "a user's words")
        await desk.handle(record)
        assert embedder.tried == 3
        assert len(desk.extractor.requests) == 1
        outcome = await desk.outcome()
        assert (outcome.turn_id, outcome.closing) == (turn_id(record), Closing.DEAD_LETTERED)
        letter = await desk.dead_letter()
        assert (letter.stage, letter.error) == ("reconcile", "KeyError")
        # The letter outlives the user, under the system's key.
        assert "words" not in letter.detail

    run_virtual(run())


def test_an_extractor_that_raises_what_nobody_foresaw_is_asked_again_and_then_given_up() -> None:
    async def run() -> None:
        async def bug(request: ExtractionRequest) -> None:
            raise KeyError(request.turn.user_text)

        desk = Desk(extractor=NotingExtractor(step=bug))
        record = desk.site.say(desk.keys, "a user's words")
        await desk.handle(record)
        assert len(desk.extractor.requests) == 3
        outcome = await desk.outcome()
        assert (outcome.turn_id, outcome.closing) == (turn_id(record), Closing.DEAD_LETTERED)
        assert outcome.error == "KeyError"
        letter = await desk.dead_letter()
        assert (letter.stage, letter.error) == ("extract", "KeyError")
        assert "words" not in letter.detail

    run_virtual(run())


def test_a_subject_erased_while_a_bug_is_tried_again_closes_under_its_own_turn() -> None:
    async def run() -> None:
        desk = Desk()
        desk.embedder = BuggyEmbedder(on_third=lambda: desk.site.keyring.erase(desk.keys.subject))
        desk.worker = MemoryWorker(desk.site, desk.extractor, desk.embedder)
        record = desk.site.say(desk.keys, "I live in Rome.")
        await desk.handle(record)
        outcome = await desk.outcome()
        assert (outcome.turn_id, outcome.closing) == (turn_id(record), Closing.ERASED)

    run_virtual(run())


def test_what_does_not_fit_into_one_record_is_given_up_in_the_open() -> None:
    async def run(topic: str, stage: str) -> None:
        desk = Desk()

        desk.worker.producer.too_large.append(topic)
        await desk.handle(desk.site.say(desk.keys, "I live in Rome."))
        letter = await desk.dead_letter()
        assert (letter.stage, letter.error) == (stage, "InputTooLarge")
        assert (await desk.outcome()).closing is Closing.DEAD_LETTERED
        assert len(desk.extractor.requests) == 1

    run_virtual(run(proposals_topic(GENERATION), "extract"))
    run_virtual(run(memories_topic(GENERATION), "reconcile"))


def test_a_dead_letter_of_a_record_with_enormous_headers_fits() -> None:
    async def run() -> None:
        desk = Desk()
        headers = [("small", b"kept"), ("large", bytes(3 * 1024 * 1024))]
        desk.site.log.append_raw(TURNS, 0, value=bytes(700 * 1024), headers=headers)
        await desk.handle(desk.site.log.records(TURNS, 0)[0])
        letter = await desk.dead_letter()
        assert letter.headers == (("small", b"kept"), ("large", b""))
        assert letter.value is not None
        assert letter.value_bytes == 700 * 1024 > len(letter.value)

    run_virtual(run())


def test_no_wait_outlives_a_revoke() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        state = await desk.worker.takeover.claim(0)
        waiting = [asyncio.create_task(desk.worker.work.handle(record, state))]
        desk.site.keyring.failure = KeyringUnavailable("down")
        state.ready.set()
        waiting.append(asyncio.create_task(desk.worker.work.handle(record, state)))
        await asyncio.sleep(A_LONG_TIME_S)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=1)
        assert all(task.cancelled() for task in waiting)

    run_virtual(run())


def test_ids_of_outcomes_follow_from_their_turns() -> None:
    async def run() -> None:
        desk = Desk()
        record = desk.site.say(desk.keys, "I live in Rome.")
        await desk.handle(record)
        (proposal,) = desk.site.log.records(proposals_topic(GENERATION), 0)
        (outcome,) = desk.site.log.records(memories_topic(GENERATION), 0)
        assert proposal.header().record_id == ids.proposal_id(GENERATION, turn_id(record))
        assert outcome.header().record_id == ids.outcome_id(GENERATION, turn_id(record))
        assert proposal.header().address == outcome.header().address == record.header().address

    run_virtual(run())
