"""The profile: what stands for a user, to the byte the same until one of its facts changes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from projections.changes import Confirm, Pin
from projections.columns import confirm_columns, pin_columns
from projections.profile import TOKENS_MAX, Profile, Profiles, ProfileSection
from projections.tokens import EstimatedTokens
from schemas.injection import FRAME, InjectionForm, cut_injection
from schemas.memory import Confidence, Memory, MemoryKind, Source
from schemas.queries import load_queries
from schemas.slots import Slot
from tests.support.log_writer import NOON, at
from tests.support.stored import Stored, stored

_PROJECTOR = load_queries("projections", "sql/projector.sql")
SUBJECT = uuid4()


class _Scene:
    def __init__(self, tables: Stored) -> None:
        self.tables = tables

    async def add(self, content: str, slot: Slot, subject: UUID = SUBJECT, **fields: Any) -> Memory:
        return await self.tables.add(subject, content=content, slot=slot, **fields)

    async def pin(self, memory: Memory) -> None:
        pin = Pin(subject=SUBJECT, memory_id=memory.memory_id, pinned_at=at(5))
        await self.tables.run(SUBJECT, _PROJECTOR["pin_memories"], pin_columns([pin]))

    async def confirm(self, memory_id: UUID) -> None:
        confirm = Confirm(subject=SUBJECT, memory_id=memory_id, confirmed_at=at(60), renewal=None)
        await self.tables.run(SUBJECT, _PROJECTOR["confirm_memories"], confirm_columns([confirm]))

    async def profile(
        self,
        form: InjectionForm = InjectionForm.TEXT,
        subject: UUID | None = SUBJECT,
        tokens_max: int = TOKENS_MAX,
    ) -> Profile:
        read_model = self.tables.read_model
        profiles = Profiles(
            read_model, EstimatedTokens(), tokens_max=tokens_max, clock=lambda: at(100)
        )
        return await profiles.profile(subject, form)


def _lines(profile: Profile) -> list[str]:
    return [line.partition(": ")[2] for line in profile.block.splitlines()[2:-1]]


def test_a_profile_holds_what_stands_and_is_the_same_until_it_changes(postgres_url: str) -> None:
    async def act() -> None:
        async with stored(postgres_url) as tables:
            scene = _Scene(tables)
            nothing = await scene.profile()
            assert (nothing.block, nothing.memories, nothing.tokens.used) == ("", (), 0)
            assert await scene.profile(subject=None) == nothing
            pune = await _filled(scene)
            await _stays_the_same(scene, pune)
            await _changes_with_a_fact(scene, pune)
            await _fits(scene)

    asyncio.run(act())


async def _filled(scene: _Scene) -> Memory:
    """Store what belongs into the profile, and what does not, in no particular order."""
    await scene.add("Prefers the aisle", Slot.PREFERENCE, importance=4)
    await scene.add("Prefers trains", Slot.PREFERENCE, importance=4, valid_from=at(1))
    await scene.add("Likes jazz", Slot.PREFERENCE, importance=3)
    pune = await scene.add("Lives in Pune", Slot.RESIDENCE)
    nuts = await scene.add("Is allergic to nuts", Slot.ALLERGY, importance=5)
    await scene.add("Answer in German", Slot.RULE, kind=MemoryKind.PROCEDURAL)
    await scene.pin(await scene.add("Climbed the Eiger", Slot.EPISODE, kind=MemoryKind.EPISODIC))
    await scene.add("Is called Ann", Slot.NAME)
    await scene.add("Ben lives in Goa", Slot.RESIDENCE, about="Ben")
    await scene.add("Perhaps a nurse", Slot.OCCUPATION, confidence=Confidence.INFERRED)
    await scene.add("Is in Rome this week", Slot.RESIDENCE, expires_at=at(9_000))
    await scene.add("Answer in Latin", Slot.RULE, kind=MemoryKind.PROCEDURAL, expires_at=at(50))
    await scene.add("Moves house", Slot.TASK, importance=5)
    await scene.add("The assistant recommended rest", Slot.DIET, source=Source.ASSISTANT)
    await scene.add("Somebody else", Slot.NAME, subject=uuid4())

    profile = await scene.profile()
    assert _lines(profile) == [
        "Is allergic to nuts",
        "Answer in German",
        "Climbed the Eiger",
        "Is called Ann",
        "Lives in Pune",
        "Prefers the aisle",
        "Prefers trains",
    ]
    assert profile.memories[0].memory_id == nuts.memory_id
    assert [memory.section.value for memory in profile.memories] == [
        *("safety", "rules", "pins", "core", "core", "core", "core")
    ]
    assert set(profile.left_out.values()) == {0}
    assert FRAME in profile.block
    assert cut_injection(f"x{profile.block}y") == "xy"
    xml = await scene.profile(InjectionForm.XML)
    assert "<note since=" in xml.block
    assert cut_injection(f"x{xml.block}y") == "xy"
    return pune


async def _stays_the_same(scene: _Scene, pune: Memory) -> None:
    """Confirming, recalling, and storing what does not belong there change no byte."""
    before = await scene.profile()
    trains = before.memories[-1].memory_id
    for memory_id in (pune.memory_id, trains, trains):
        await scene.confirm(memory_id)
    await scene.tables.recall.recall(SUBJECT, "where do I live?")
    await scene.add("Likes tea", Slot.PREFERENCE)
    await scene.add("Went to the opera", Slot.EPISODE, kind=MemoryKind.EPISODIC, importance=5)
    assert await scene.profile() == before


async def _changes_with_a_fact(scene: _Scene, pune: Memory) -> None:
    before = await scene.profile()
    await scene.tables.close(SUBJECT, pune, valid_to=at(70), recorded_at=at(70))
    goa = await scene.add(
        "Lives in Goa", Slot.RESIDENCE, lineage_id=pune.lineage_id, valid_from=at(70)
    )
    after = await scene.profile()
    assert after.digest != before.digest
    assert _lines(after)[-3:] == ["Lives in Goa", "Prefers the aisle", "Prefers trains"]
    await scene.pin(goa)
    assert _lines(await scene.profile())[2:4] == ["Lives in Goa", "Climbed the Eiger"]


async def _fits(scene: _Scene) -> None:
    """A flood of one sort leaves the others their room, and what was cut is told."""
    for number in range(30):
        await scene.add(
            f"Rule {number:02}",
            Slot.RULE,
            kind=MemoryKind.PROCEDURAL,
            valid_from=NOON - timedelta(days=number),
        )
    await scene.add("Speaks " + "at length " * 150, Slot.LANGUAGE)
    profile = await scene.profile()
    assert profile.tokens.used <= TOKENS_MAX < 1_500
    assert profile.left_out[ProfileSection.RULES] == 11
    assert "Is allergic to nuts" in _lines(profile)
    assert "Is called Ann" in _lines(profile)
    # The oldest first, whatever the order in which they came.
    assert _lines(profile)[1:3] == ["Rule 29", "Rule 28"]

    small = await scene.profile(tokens_max=200)
    assert small.tokens.used <= 200
    assert _lines(small)[0] == "Is allergic to nuts"
    assert sum(small.left_out.values()) == sum(profile.left_out.values()) + len(
        profile.memories
    ) - len(small.memories)
