"""Turn what was found in a turn into operations, given the memories that are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from processors.about import canonical_about
from processors.extractors.findings import Finding, Mode, negated
from processors.moments import Moment
from schemas.memory import ABOUT_USER, Confidence, Memory, Precision, folded
from schemas.ports import KnownMemory
from schemas.proposals import Action, Operation
from schemas.slots import SINGLE_VALUED, Slot


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A statement of the turn, before it becomes an operation.

    Attributes:
        about: the user, or the name or relation of somebody else.
        finding: what is stated.
        quote: the user's words for it.
        sentence: the sentence it stands in.
        moment: since when it holds, where the words say so.
        forgotten: whether the user asked to forget it.
    """

    about: str
    finding: Finding
    quote: str
    sentence: int
    moment: Moment | None = None
    forgotten: bool = False


def operations_of(drafts: Sequence[Draft], known: Sequence[KnownMemory]) -> tuple[Operation, ...]:
    """Return the operations for the drafts of one turn, in order, each one once."""
    memories = [item.memory for item in known]
    holding = {
        (draft.finding.slot, draft.about) for draft in drafts if draft.finding.mode is Mode.HOLDS
    }
    operations: dict[tuple[Action, Slot, str, str], Operation] = {}
    for draft in drafts:
        attribute = (draft.finding.slot, draft.about)
        if draft.finding.mode is Mode.ENDED and attribute in holding:
            continue  # "I live in Pune, I no longer live in Mumbai": the new value says it all
        for operation in _operations(draft, memories):
            key = (operation.action, operation.slot, operation.about, folded(operation.content))
            operations.setdefault(key, operation)
    return tuple(operations.values())


def mentions(content: str, value: str) -> bool:
    """Whether the words of ``value`` stand in ``content``, whole and next to each other."""
    return f" {folded(value)} " in f" {folded(content)} "


def _operations(draft: Draft, memories: Sequence[Memory]) -> Iterator[Operation]:
    finding = draft.finding
    alike = [
        memory
        for memory in memories
        if memory.slot is finding.slot and memory.about == canonical_about(draft.about)
    ]
    named = next((memory for memory in alike if mentions(memory.content, finding.value)), None)
    match finding.mode:
        case Mode.HOLDS:
            yield _holding(draft, alike)
        case Mode.ENDED if named is not None:
            content = _content(draft, negated(finding.content))
            yield _operation(draft, Action.UPDATE, content, named.memory_id)
        case Mode.ENDED if finding.slot is Slot.DIET:
            yield _operation(draft, Action.ADD, _content(draft, negated(finding.content)))
        case Mode.ENDED if finding.slot in SINGLE_VALUED:
            # Another value that is known to hold is not displaced by the end of an older one.
            if not alike:
                yield _operation(draft, Action.ADD, _content(draft, negated(finding.content)))
        case Mode.ENDED:
            yield _operation(draft, Action.RETRACT, _content(draft, finding.content))
        case Mode.DENIED:
            if named is not None:
                yield _operation(draft, Action.RETRACT, named.content, named.memory_id)
            elif draft.forgotten:
                yield _operation(draft, Action.RETRACT, _content(draft, finding.content))


def _holding(draft: Draft, alike: Sequence[Memory]) -> Operation:
    content = _content(draft, draft.finding.content)
    for memory in alike:
        # The same statement, said earlier with a date: the shorter one says nothing new.
        if folded(memory.content).startswith(f"{folded(content)} since "):
            return _operation(draft, Action.ADD, memory.content)
        if _displaces(draft.finding, memory):
            return _operation(draft, Action.UPDATE, content, memory.memory_id)
    return _operation(draft, Action.ADD, content)


_TASTES: Final = frozenset(
    {"loves", "likes", "enjoys", "adores", "prefers", "hates", "dislikes", "detests", "loathes"}
    | {"cannot stand", "no longer likes", "no longer loves"}
)


_OF_ANIMALS: Final = re.compile(
    r"\b(?:vegan|vegetarian|pesc[ae]tarian|flexitarian|fruitarian|omnivore|carnivore|plant-based|"
    r"meat)\b",
    re.IGNORECASE,
)
"""What is eaten of animals: of these diets one holds at a time; any other holds beside it."""


def _displaces(finding: Finding, memory: Memory) -> bool:
    """Whether what is stated now takes the place of a memory of the same slot and about."""
    match finding.slot:
        case Slot.PREFERENCE:
            return _is_other_taste(memory, finding)
        case Slot.DIET:
            # Of "vegan and gluten-free" another diet may replace a half only: both stay.
            old, new = memory.content, finding.content
            of_animals = _OF_ANIMALS.search(old) and _OF_ANIMALS.search(new)
            return bool(of_animals) and " and " not in old and folded(old) != folded(new)
        case _:
            return False


def _is_other_taste(memory: Memory, finding: Finding) -> bool:
    """Whether a memory states another taste for the same thing ("Likes coffee", "Hates coffee")."""
    old, new, value = folded(memory.content), folded(finding.content), folded(finding.value)
    return (
        old != new
        and old.removesuffix(f" {value}") in _TASTES
        and new.removesuffix(f" {value}") in _TASTES
    )


def _content(draft: Draft, content: str) -> str:
    if draft.moment is not None and draft.moment.precision is not Precision.DAY:
        content = f"{content} since {draft.moment.spelled}"
    if draft.about == ABOUT_USER:
        return content
    possessive = "'s" if content.startswith(("Birthday", "Favourite")) else ""
    return (
        f"{draft.about[0].upper()}{draft.about[1:]}{possessive} {content[0].lower()}{content[1:]}"
    )


def _operation(
    draft: Draft, action: Action, content: str, reference: UUID | None = None
) -> Operation:
    return Operation(
        action=action,
        kind=draft.finding.kind,
        slot=draft.finding.slot,
        about=draft.about,
        content=content,
        importance=draft.finding.importance,
        confidence=Confidence.STATED,
        quote=draft.quote,
        reference=reference,
        valid_from=draft.moment.start if draft.moment is not None else None,
        valid_from_precision=(
            draft.moment.precision if draft.moment is not None else Precision.MOMENT
        ),
    )
