"""Words, pins and safety on a real Postgres: one user's memories, and many questions to them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from projections.read_model import name_subjects
from projections.recall import EmptyReason, Explanation, RecallResult, Verdict
from projections.recall_explanation import CANDIDATES_MAX
from projections.words.postings import packed_words
from projections.words_repair import WordsRepair
from schemas.memory import Memory, MemoryKind
from schemas.slots import Slot
from tests.support.log_writer import NOON, at
from tests.support.stored import AngleEmbedder, Stored, stored

_FAR = 0.1
_PIN = "UPDATE memories SET pinned_at = %(at)s WHERE memory_id = %(memory_id)s"


async def _pin(tables: Stored, subject: UUID, memory: Memory, *, at: datetime) -> None:
    await tables.run(subject, _PIN, {"memory_id": memory.memory_id, "at": at})


def _contents(result: RecallResult) -> list[str]:
    return [memory.content for memory in result.memories]


def test_questions_to_one_users_memories(postgres_url: str) -> None:
    asyncio.run(_ask_one_user(postgres_url))


async def _ask_one_user(postgres_url: str) -> None:
    async with stored(postgres_url) as tables:
        await _words_find(tables)
        await _only_what_holds_counts(tables)
        await _what_always_is_served(tables)
        await _explanations(tables)
        await _floods(tables)


async def _words_find(tables: Stored) -> None:
    subject = uuid4()
    for content in ("Order ZX4411 arrived late", "对花生过敏", "Said hello to Ann", "Likes tea"):
        await tables.add(subject, cosine=_FAR, content=content)
    await tables.add(subject, cosine=None, content="Plays the violin")

    async def asked(question: str, **moments: datetime) -> RecallResult:
        return await tables.recall.recall(
            subject, question, as_of=moments.get("as_of"), known_at=moments.get("known_at")
        )

    assert _contents(await asked("Where is ZX4411?")) == ["Order ZX4411 arrived late"]
    assert _contents(await asked("花生过敏吗")) == ["对花生过敏"]
    # A memory that waits for its vector is found by its words, and has no score.
    (violin,) = (await asked("violins")).memories
    assert (violin.content, violin.score) == ("Plays the violin", None)
    for moment in ({"as_of": at(60)}, {"known_at": at(60)}):
        assert _contents(await asked("violins", **moment)) == ["Plays the violin"]
    nothing = await asked("hello")
    assert (nothing.memories, nothing.reason) == ((), EmptyReason.NONE_ABOVE_THRESHOLD)


async def _only_what_holds_counts(tables: Stored) -> None:
    """What was superseded, retracted, merged or has expired makes no word common."""
    lone, crowded = uuid4(), uuid4()
    for subject in (lone, crowded):
        await tables.add(subject, cosine=_FAR, content="Plays chess")
        await tables.add(subject, cosine=_FAR, content="Likes tea")
    gone = [
        await tables.add(crowded, cosine=_FAR, content=f"Plays chess {number}")
        for number in range(3)
    ]
    await tables.add(crowded, cosine=_FAR, content="Plays chess now", expires_at=at(-1))
    await tables.close(crowded, gone[0], valid_to=at(-2), recorded_at=at(-2))
    await tables.retract(crowded, gone[1], recorded_at=at(-2))
    await tables.merge(crowded, gone[2], into=gone[1], recorded_at=at(-2))
    scores = [
        [
            (candidate.content, candidate.bm25)
            for candidate in (await _explained(tables, subject, "chess")).candidates
        ]
        for subject in (lone, crowded)
    ]
    assert scores[0] == scores[1]
    assert scores[0][0][0] == "Plays chess"


async def _explained(tables: Stored, subject: UUID, question: str) -> Explanation:
    result = await tables.recall.recall(subject, question, explain=True)
    assert result.explanation is not None
    return result.explanation


async def _what_always_is_served(tables: Stored) -> None:
    subject = uuid4()
    for number in range(30):
        await tables.add(
            subject,
            cosine=0.99,
            content=f"Chatted about topic {number}",
            kind=MemoryKind.EPISODIC,
        )
    await tables.add(
        subject, cosine=-0.5, content="Allergic to nuts", slot=Slot.ALLERGY, importance=5
    )
    await tables.add(
        subject, cosine=None, content="Be brief", kind=MemoryKind.PROCEDURAL, slot=Slot.RULE
    )
    older = await tables.add(subject, cosine=_FAR, content="Is called Ann")
    newer = await tables.add(subject, cosine=_FAR, content="Lives in Oslo")
    await _pin(tables, subject, older, at=at(-10))
    await _pin(tables, subject, newer, at=at(-5))
    always = ["Lives in Oslo", "Is called Ann", "Allergic to nuts", "Be brief"]

    result = await tables.recall.recall(subject, "question", limit=2)
    assert _contents(result)[:4] == always
    assert len(result.memories) == 6
    assert result.left_out.limit == 28
    assert [memory.pinned for memory in result.memories] == [True, True, *[False] * 4]
    # They do not hide that the question found nothing.
    nothing = await tables.recall.recall(subject, "question", min_similarity=1)
    assert _contents(nothing) == always
    assert nothing.reason is EmptyReason.NONE_ABOVE_THRESHOLD
    # A superseded pin is served no more; in the past it is.
    await tables.close(subject, newer, valid_to=NOON - timedelta(minutes=1), recorded_at=NOON)
    assert "Lives in Oslo" not in _contents(await tables.recall.recall(subject, "question"))

    small = await tables.recall.recall(subject, "question", budget_tokens=1)
    assert (small.memories, small.reason) == ((), EmptyReason.NONE_WITHIN_BUDGET)
    assert small.left_out.budget == 3 + 20
    assert (small.tokens.used, small.tokens.budget) == (0, 1)


async def _explanations(tables: Stored) -> None:
    subject = uuid4()
    added = [
        await tables.add(subject, cosine=0.6 - number / 100, content=f"Thing {number}")
        for number in range(CANDIDATES_MAX + 20)
    ]
    twin = await tables.add(subject, cosine=0.6, content="The thing 0")
    result = await tables.recall.recall(subject, "tea", limit=3, explain=True)
    explanation = result.explanation
    assert explanation is not None
    assert explanation.words == ("tea",)
    assert len(explanation.candidates) == CANDIDATES_MAX
    assert sum(explanation.unlisted.values()) == len(added) + 1 - CANDIDATES_MAX
    by_id = {candidate.memory_id: candidate for candidate in explanation.candidates}
    verdicts = dict.fromkeys(Verdict, 0)
    for candidate in explanation.candidates:
        verdicts[candidate.verdict] += 1
    for verdict, number in explanation.unlisted.items():
        verdicts[verdict] += number
    assert verdicts[Verdict.SIMILAR] == len(result.memories) == 3
    assert verdicts[Verdict.DUPLICATE] == result.left_out.duplicates == 1
    assert verdicts[Verdict.LIMIT] == result.left_out.limit
    assert sum(verdicts.values()) == explanation.stored == len(added) + 1
    duplicate = next(c for c in by_id.values() if c.verdict is Verdict.DUPLICATE)
    assert {duplicate.memory_id, duplicate.duplicate_of} == {twin.memory_id, added[0].memory_id}


async def _floods(tables: Stored) -> None:
    """What was said many times takes no place of what was said once."""
    subject = uuid4()
    for _ in range(45):
        await tables.add(subject, cosine=0.9, content="Said over and over")
    others = [
        await tables.add(subject, cosine=0.8 - number / 100, content=f"Thing {number}")
        for number in range(4)
    ]
    for explain in (False, True):
        result = await tables.recall.recall(subject, "question", limit=4, explain=explain)
        contents = ["Said over and over", *(other.content for other in others[:3])]
        assert _contents(result) == contents
        assert (result.left_out.duplicates, result.left_out.limit) == (44, 1)


def test_rows_of_an_earlier_release_get_their_words(postgres_url: str) -> None:
    async def scenario() -> None:
        async with stored(postgres_url) as tables:
            subjects = [uuid4(), uuid4()]
            for subject in subjects:
                await tables.add(subject, cosine=_FAR, content="Plays the violin")
                await tables.run(subject, "UPDATE memories SET words = NULL", {})
            before = await tables.recall.recall(subjects[0], "violin")
            assert before.reason is EmptyReason.NONE_ABOVE_THRESHOLD

            repair = WordsRepair(tables.read_model)
            assert await repair.round() == 2
            assert await repair.round() == 0
            for subject in subjects:
                result = await tables.recall.recall(subject, "violin")
                assert _contents(result) == ["Plays the violin"]
            assert (
                await _words(tables, subjects)
                == [packed_words("Plays the violin", AngleEmbedder.dimension)] * 2
            )

    asyncio.run(scenario())


async def _words(tables: Stored, subjects: Sequence[UUID]) -> list[bytes]:
    async with tables.read_model.connection() as connection, connection.transaction():
        await name_subjects(connection, subjects)
        cursor = await connection.execute("SELECT words FROM memories", binary=True)
        return [words for (words,) in await cursor.fetchall()]
