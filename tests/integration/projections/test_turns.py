"""What became of each record: how it closed, what was noted of it, what was refused and why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request

from processors.turn_records import KafkaTurnRecords
from projections.memories import Memories, MemoryState
from projections.positions import TurnPosition
from projections.touched import TouchedMemories
from projections.turn_routes import turn_router
from projections.turns import PostgresTurns, TurnAccount, TurnPage, TurnSummary
from schemas import ids
from schemas.errors import InvalidInput, UnknownTurn
from schemas.events import (
    FlagApproved,
    MemoryAdded,
    MemoryConfirmed,
    MemoryRetracted,
    MemorySuperseded,
    ProposalFlagged,
    ProposalRejected,
    RejectionReason,
)
from schemas.flags import FlagState
from schemas.http import install_problem_handlers
from schemas.memory import Memory
from schemas.records import Closing, DeferralCause
from schemas.topics import memories_topic
from tests.conftest import TestStores
from tests.support.log_writer import AppendedTurn, LogWriter, at, memory
from tests.support.projection import Projection, opened


@dataclass(frozen=True, kw_only=True, slots=True)
class _Story:
    """Records of one user.

    Attributes:
        told: a memory was added, an operation refused, and one flagged.
        refused: refused whole, by an outcome of before it was told which turn that is of.
        settled: it waited for its session, and was refused at its end.
        beside: it waited for the same session; nothing was refused that is known to be of it.
        waits: it waits for its tenant's budget.
        end: the end of that session; two operations were refused, one of nobody knows which turn.
        moved: it supersedes the memory of the first.
        approval: of the flag, which could not be carried out.
        still_open: nothing became of it yet.
        repeated: it confirms the memory of the one that moved, and withdraws that of the first.
        added, flag: of the first.
    """

    told: AppendedTurn
    refused: AppendedTurn
    settled: AppendedTurn
    beside: AppendedTurn
    waits: AppendedTurn
    end: AppendedTurn
    moved: AppendedTurn
    approval: AppendedTurn
    still_open: AppendedTurn
    repeated: AppendedTurn
    added: Memory
    flag: ProposalFlagged


def _rejected(
    place: int, *reasons: RejectionReason, of: AppendedTurn | None = None
) -> ProposalRejected:
    return ProposalRejected(
        operation=place, reasons=reasons, turn_id=None if of is None else of.turn_id
    )


async def _write(writer: LogWriter) -> _Story:
    told = await writer.turn()
    added, flag = writer.new_memory(told), writer.flag(told, index=2)
    secret = _rejected(1, RejectionReason.SECRET, RejectionReason.PASSWORD, of=told)
    await writer.append(writer.outcome(told, [MemoryAdded(memory=added), secret, flag]))
    refused = await writer.turn()
    dull = _rejected(0, RejectionReason.NOT_WORTH_KEEPING)
    await writer.append(writer.outcome(refused, [dull], closing=Closing.REJECTED))
    settled, beside = await writer.deferred(), await writer.deferred()
    waits = await writer.deferred(cause=DeferralCause.BUDGET)
    end, _ = await writer.settle(
        settled,
        beside,
        closing=Closing.REJECTED,
        events=[
            _rejected(0, RejectionReason.EVIDENCE_NOT_IN_USER_TEXT, of=settled),
            _rejected(1, RejectionReason.INVALID_ITEM),
        ],
    )
    moved = await writer.turn()
    later = memory(
        ids.memory_id(ids.outcome_id(writer.generation, moved.turn_id), 0),
        moved.turn_id,
        lineage_id=added.lineage_id,
        valid_from=at(9),
    )
    supersedes = MemorySuperseded(closes=added.memory_id, memory=later)
    await writer.append(writer.outcome(moved, [supersedes]))
    approval = await writer.turn()
    approved = FlagApproved(flag_id=flag.flag_id, actor="eve", reason="so", decided_at=at(30))
    undone = _rejected(0, RejectionReason.UNKNOWN_REFERENCE, of=told)
    decided = writer.outcome(
        approval, [approved, undone], closing=Closing.REJECTED, decided_at=at(30)
    )
    await writer.append(decided)
    repeated = await writer.turn()
    confirms = MemoryConfirmed(
        memory_id=later.memory_id, turn_id=repeated.turn_id, quote="still", confirmed_at=at(40)
    )
    withdraws = MemoryRetracted(
        memory_id=added.memory_id, turn_id=repeated.turn_id, quote="never", retracted_at=at(40)
    )
    await writer.append(writer.outcome(repeated, [confirms, withdraws]))
    return _Story(
        told=told,
        refused=refused,
        settled=settled,
        beside=beside,
        waits=waits,
        end=end,
        moved=moved,
        approval=approval,
        still_open=await writer.turn(),
        repeated=repeated,
        added=added,
        flag=flag,
    )


def _refusals(account: TurnAccount) -> list[tuple[UUID, int, list[str], UUID | None]]:
    return [
        (one.record_id, one.place, [reason.value for reason in one.reasons], one.turn_id)
        for one in account.rejected
    ]


def _closings(page: TurnPage) -> list[tuple[UUID, str | None, int, list[str]]]:
    return [
        (
            one.turn_id,
            None if one.closing is None else one.closing.value,
            one.memories,
            [reason.value for reason in one.reasons],
        )
        for one in page.turns
    ]


def test_every_record_tells_what_became_of_it(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            ann, ben = await projection.writer(), await projection.writer("other")
            story = await _write(ann)
            of_ben, _, _ = await ben.stored()
            await projection.catch_up()
            turns = PostgresTurns(projection.read_model, partitions=stores.partitions)

            async def account(turn: AppendedTurn) -> TurnAccount:
                return await turns.account(ann.subject, turn.turn_id)

            await _check_accounts(story, account)
            listed = await Memories(projection.read_model).list_memories(ann.subject, history=True)
            (noted,) = (await account(story.told)).memories
            assert noted in listed.memories
            assert noted.state is MemoryState.RETRACTED

            await _check_words(story, projection, ann)
            await _check_listing(story, turns, ann)
            closed = await turns.closed(ann.subject, story.approval.turn_id)
            assert closed is not None
            assert (closed.closing, closed.reasons) == (
                Closing.REJECTED,
                (RejectionReason.UNKNOWN_REFERENCE,),
            )
            assert await turns.closed(ann.subject, story.still_open.turn_id) is None
            assert await turns.closed(ben.subject, story.told.turn_id) is None
            for subject, turn in ((ann.subject, of_ben), (ben.subject, story.told), (None, of_ben)):
                with pytest.raises(UnknownTurn, match="memledger turns"):
                    await turns.account(subject, turn.turn_id)
            await _check_route(turns, story, ann, ben)

    asyncio.run(scenario())


async def _check_words(story: _Story, projection: Projection, ann: LogWriter) -> None:
    """What was noted, in words: what was confirmed and withdrawn is read from the log again."""
    records = KafkaTurnRecords(
        projection.stores.kafka_bootstrap, client_id="test", topic=memories_topic("g1")
    )
    turns = PostgresTurns(
        projection.read_model,
        partitions=projection.stores.partitions,
        touched=TouchedMemories(records, projection.keyring.keys),
    )

    async def noted(turn: AppendedTurn) -> tuple[str, ...]:
        return (await turns.account(ann.subject, turn.turn_id)).noted

    first = story.added.content
    (later,) = (await turns.account(ann.subject, story.moved.turn_id)).memories
    assert await noted(story.repeated) == (
        f"Noted before, and confirmed: {later.content}",
        f"Withdrawn: {first}",
    )
    assert (await noted(story.told))[0] == f"Noted: {first} (withdrawn since)"
    assert await noted(story.moved) == (f"Noted: {later.content}",)
    assert await noted(story.refused) == ("Not noted: something that is not worth keeping",)
    assert await noted(story.waits) == ("Waiting: it is looked at later",)
    assert await noted(story.still_open) == ("Not processed yet",)
    await records.close()
    untold = PostgresTurns(projection.read_model, partitions=projection.stores.partitions)
    assert (await untold.account(ann.subject, story.repeated.turn_id)).noted == (
        "Something that was noted before was confirmed or changed",
    )


async def _check_accounts(
    story: _Story, account: Callable[[AppendedTurn], Awaitable[TurnAccount]]
) -> None:
    told, settled, end = story.told.turn_id, story.settled.turn_id, story.end.turn_id
    of_told = await account(story.told)
    assert (of_told.turn_id, of_told.closing, of_told.generation) == (told, Closing.STORED, "g1")
    assert of_told.position == f"{story.told.partition}:{story.told.offset}"
    approval = (story.approval.turn_id, 0, ["unknown_reference"], told)
    assert _refusals(of_told) == [(told, 1, ["secret", "password"], told), approval]
    assert of_told.rejected[1].rejected_at == at(30)
    (flag,) = of_told.flags
    assert (flag.flag_id, flag.state) == (story.flag.flag_id, FlagState.APPROVED)
    assert flag.reasons == (RejectionReason.OPERATOR_OBLIGATION,)

    of_approval = await account(story.approval)
    assert (_refusals(of_approval), of_approval.flags) == ([approval], (flag,))
    assert of_approval.memories == ()

    refused = story.refused.turn_id
    assert _refusals(await account(story.refused)) == [(refused, 0, ["not_worth_keeping"], None)]

    both = [
        (end, 0, ["evidence_not_in_user_text"], settled),
        (end, 1, ["invalid_item"], None),
    ]
    of_settled, of_end = await account(story.settled), await account(story.end)
    assert (of_settled.closing, of_settled.settled_by) == (Closing.REJECTED, end)
    assert (of_settled.waits_for, of_settled.settled) == (None, ())
    assert _refusals(of_settled) == _refusals(of_end) == both
    assert (of_end.settled, of_end.settled_by) == ((settled, story.beside.turn_id), None)
    assert _refusals(await account(story.beside)) == both[1:]

    waits = await account(story.waits)
    assert (waits.closing, waits.waits_for) == (Closing.DEFERRED, DeferralCause.BUDGET)
    still_open = await account(story.still_open)
    assert (still_open.closing, still_open.memories, still_open.rejected) == (None, (), ())


async def _check_listing(story: _Story, turns: PostgresTurns, ann: LogWriter) -> None:
    whole = await turns.page(ann.subject)
    assert not whole.more
    assert _closings(whole) == [
        (story.still_open.turn_id, None, 0, []),
        (story.repeated.turn_id, "stored", 0, []),
        (story.approval.turn_id, "rejected", 0, ["unknown_reference"]),
        (story.moved.turn_id, "stored", 1, []),
        (
            story.end.turn_id,
            "stored",
            0,
            ["evidence_not_in_user_text", "invalid_item"],
        ),
        (story.waits.turn_id, "deferred", 0, []),
        (story.beside.turn_id, "rejected", 0, ["invalid_item"]),
        (
            story.settled.turn_id,
            "rejected",
            0,
            ["evidence_not_in_user_text", "invalid_item"],
        ),
        (story.refused.turn_id, "rejected", 0, ["not_worth_keeping"]),
        (story.told.turn_id, "stored", 1, ["password", "secret", "unknown_reference"]),
    ]
    rejected = await turns.page(ann.subject, closing=Closing.REJECTED)
    assert rejected.turns == tuple(one for one in whole.turns if one.closing is Closing.REJECTED)
    assert (await turns.page(ann.subject, still_open=True)).turns == whole.turns[:1]
    paged: list[TurnSummary] = []
    before: TurnPosition | None = None
    while True:
        page = await turns.page(ann.subject, before=before, limit=3)
        paged += page.turns
        if not page.more:
            break
        before = TurnPosition.parse("before", page.turns[-1].position)
    assert tuple(paged) == whole.turns
    assert (await turns.page(None)).turns == ()
    elsewhere = TurnPosition(partition=ann.partition + 1, offset=3)
    with pytest.raises(InvalidInput, match="where this user has no turns"):
        await turns.page(ann.subject, before=elsewhere)


async def _check_route(turns: PostgresTurns, story: _Story, ann: LogWriter, ben: LogWriter) -> None:
    subjects = {("ours", "ann"): ann.subject, ("theirs", "ben"): ben.subject}

    async def authenticate(request: Request) -> str:
        return request.headers["authorization"]

    async def find_subject(tenant: str, user_id: str) -> UUID | None:
        return subjects.get((tenant, user_id))

    app = FastAPI()
    install_problem_handlers(app)
    app.include_router(
        turn_router(turns=turns, authenticate=authenticate, find_subject=find_subject)
    )
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:

        async def get(turn: object, tenant: str = "ours", **query: str) -> httpx.Response:
            asked = {"user_id": "ann"} | query
            headers = {"authorization": tenant}
            return await client.get(f"/v1/turns/{turn}", params=asked, headers=headers)

        told = story.told.turn_id
        answer = await get(told)
        assert answer.status_code == 200
        body = answer.json()
        assert (body["closing"], body["waits_for"], body["settled_by"]) == ("stored", None, None)
        assert body["rejected"][0] == {
            "place": 1,
            "reasons": ["secret", "password"],
            "turn_id": str(told),
            "record_id": str(told),
            "rejected_at": "2026-03-01T12:00:00Z",
        }
        assert body["memories"][0]["memory_id"] == str(story.added.memory_id)
        assert body["flags"][0]["state"] == "approved"
        nobodys = await get(uuid4())
        assert (nobodys.status_code, nobodys.json()["code"]) == (404, "unknown_turn")
        for other in (
            await get(told, "theirs", user_id="ben"),
            await get(told, "theirs"),
            await get(told, user_id="never heard of"),
            await get("no-id"),
        ):
            assert (other.status_code, other.json()) == (404, nobodys.json())
        assert (await get(told, state="open")).status_code == 422
        assert (await get(told, user_id="")).status_code == 422
