"""Asking a model to look through a subject's memories, and reading what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from processors.extractors.model import prompt
from processors.extractors.model.asking import TOKENS_MAX, Inquiry
from processors.extractors.model.chunks import PIECE_CHARACTERS, PIECES_MAX
from processors.extractors.model.provider import Question
from processors.extractors.model.reading import BadItem, each, problem_of
from processors.extractors.model.schema import (
    CONSOLIDATION,
    SCHEMAS,
    ContradictionItem,
    MergeItem,
)
from processors.extractors.model.unfinished import Items
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.ports import KnownMemory
from schemas.proposals import Action, Operation
from schemas.slots import Slot

_LINE_CHARACTERS: Final = prompt.MEMORY_CHARACTERS_MAX + 100
MEMORIES_MAX: Final = PIECE_CHARACTERS // _LINE_CHARACTERS
"""Most memories that one question shows."""

_MERGES: Final = "merges"
_CONTRADICTIONS: Final = "contradictions"

Known = Mapping[str, Memory]


def consolidation_inquiry(memories: Sequence[KnownMemory]) -> Inquiry:
    """Return what to ask about a subject's memories.

    Up to ``MEMORIES_MAX`` are looked at together; of more, each of at most ``PIECES_MAX`` questions
    shows as many neighbours in time. What is beyond is told.
    """
    known = {item.reference.lower(): item.memory for item in memories}
    rules = prompt.consolidation_rules()
    questions = [
        (
            f"memories {start + 1} to {min(start + MEMORIES_MAX, len(memories))}",
            Question(
                system=rules,
                text=prompt.consolidation_question(memories[start : start + MEMORIES_MAX]),
                schema=SCHEMAS[CONSOLIDATION],
                schema_name=CONSOLIDATION,
                tokens_max=TOKENS_MAX[0],
            ),
        )
        for start in range(0, len(memories), MEMORIES_MAX)
    ][:PIECES_MAX]
    beyond = len(memories) - MEMORIES_MAX * PIECES_MAX
    return Inquiry(
        of=tuple(item.memory.memory_id for item in memories),
        questions=questions,
        lists=(_MERGES, _CONTRADICTIONS),
        read=partial(_read, known),
        left_out=f"{beyond} memories are beyond the limit of one look" if beyond > 0 else "",
    )


def _read(known: Known, lists: Mapping[str, list[Any]]) -> Items:
    return [
        *each(lists[_MERGES], partial(_merge, known)),
        *each(lists[_CONTRADICTIONS], partial(_contradiction, known)),
    ]


def _merge(known: Known, value: Any) -> Operation:  # noqa: ANN401 - any JSON
    try:
        item = MergeItem.model_validate(value)
    except ValidationError as error:
        raise BadItem(problem_of(error)) from None
    sources = list({memory.memory_id: memory for memory in _named(known, item.refs)}.values())
    if len(sources) < 2:  # noqa: PLR2004 - what one memory says needs no other to stand for it
        raise BadItem("refs: a merge is of at least two memories")
    if len({memory.about for memory in sources}) > 1:
        raise BadItem("refs: they speak of different persons")
    slots = {memory.slot for memory in sources}
    loose = Slot.EPISODE if item.kind is MemoryKind.EPISODIC else Slot.NOTE
    stated = all(memory.confidence is Confidence.STATED for memory in sources)
    return Operation(
        action=Action.MERGE,
        kind=item.kind,
        slot=slots.pop() if len(slots) == 1 else loose,
        about=sources[0].about,
        content=item.content,
        importance=min(item.importance, max(memory.importance for memory in sources)),
        confidence=Confidence.STATED if stated else Confidence.INFERRED,
        quote="",
        merges=tuple(memory.memory_id for memory in sources),
    )


def _contradiction(known: Known, value: Any) -> Operation:  # noqa: ANN401 - any JSON
    try:
        item = ContradictionItem.model_validate(value)
    except ValidationError as error:
        raise BadItem(problem_of(error)) from None
    older, newer = sorted(
        _named(known, (item.first, item.second)),
        key=lambda memory: (memory.valid_from, memory.recorded_at),
    )
    if older.memory_id == newer.memory_id:
        raise BadItem("a memory does not contradict itself")
    return Operation(
        action=Action.CONTRADICT,
        kind=newer.kind,
        slot=newer.slot,
        about=newer.about,
        content=newer.content,
        importance=max(older.importance, newer.importance),
        confidence=Confidence.INFERRED,
        quote="",
        reference=older.memory_id,
        against=newer.memory_id,
    )


def _named(known: Known, names: Sequence[str]) -> list[Memory]:
    found = [known.get(name.strip().lower()) for name in names]
    if None in found:
        raise BadItem("unknown reference: no memory was shown under that name")
    return [memory for memory in found if memory is not None]
