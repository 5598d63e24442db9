"""The extractor that keeps every user turn as an episode."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors.verbatim import VerbatimExtractor
from processors.gate import Said, refusals
from schemas.injection import BLOCK_END, BLOCK_START
from schemas.memory import MemoryKind
from schemas.ports import Extraction, ExtractionRequest, Extractor
from schemas.records import Turn
from schemas.slots import Slot
from tests.support.deciding import turn


def extract(said: Turn) -> Extraction:
    return asyncio.run(VerbatimExtractor().extract(ExtractionRequest(turn=said, known=())))


def test_a_turn_is_one_episode_in_the_users_words() -> None:
    said = turn(" I live in Pune.\n> quoted\n", assistant_text="Noted.")
    (one,) = extract(said).operations
    assert one.content == one.quote == said.user_text
    assert (one.kind, one.slot, one.importance) == (MemoryKind.EPISODIC, Slot.EPISODE, 2)


@pytest.mark.parametrize("text", ["", " \n\t", f"{BLOCK_START}\n- 2024-01-01 x\n{BLOCK_END}"])
def test_a_turn_that_is_blank_without_our_notes_gives_nothing(text: str) -> None:
    assert extract(turn(text)) == Extraction(operations=())


@given(st.text(alphabet="wxyz \n\u00f6\u00df\u6771\u4eac\u3002!", max_size=80))
def test_what_it_keeps_passes_the_gate(text: str) -> None:
    said = turn(text + " a")
    assert [refusals(one, Said(said)) for one in extract(said).operations] == [()]


def test_the_longest_turn_passes_the_gate() -> None:
    said = turn("word " * 70_000)
    (one,) = extract(said).operations
    assert refusals(one, Said(said)) == ()


def test_it_is_an_extractor_that_looks_at_no_memories() -> None:
    extractor = VerbatimExtractor()
    assert isinstance(extractor, Extractor)
    assert (extractor.name, extractor.known_max) == ("verbatim", 0)
