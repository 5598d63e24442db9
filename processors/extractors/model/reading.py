"""Reading an answer: each item by itself, so that a bad one never costs the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from processors.extractors.model.dates import WrongDate, period_end, period_start, precision_of
from processors.extractors.model.quotes import exact_words
from processors.extractors.model.schema import OperationItem
from schemas.memory import ABOUT_ASSISTANT, folded
from schemas.ports import KnownMemory
from schemas.proposals import Action, InvalidItem, Operation, Speaker
from schemas.records import Turn

_PROBLEMS_MAX: Final = 3


class BadItem(ValueError):
    """An item cannot be used; the message says why, without its content."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What an answer is read against.

    Attributes:
        turns: by the short name that a question gave it, each turn; under the empty name the one
            that an item without a name is of, if there is one.
        known: by the short name, in lower case, each memory that the question showed.
        keeps_assistant: whether what the assistant said may be kept.
        tells_turn: whether operations tell which turn they are of.
    """

    turns: Mapping[str, Turn]
    known: Mapping[str, UUID]
    keeps_assistant: bool
    tells_turn: bool


@dataclass(kw_only=True)
class Reading:
    """What was read so far of the answers to one extraction.

    Attributes:
        operations: in order.
        invalid: likewise; positions count the items of all answers.
    """

    operations: list[Operation] = field(default_factory=list)
    invalid: list[InvalidItem] = field(default_factory=list)
    _place: int = 0
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def take(self, items: Sequence[Operation | BadItem]) -> None:
        """Take the items of one answer.

        An operation that an earlier answer gave in the same words already is left out: the pieces
        of a long turn overlap.
        """
        for item in items:
            if isinstance(item, BadItem):
                self.note(str(item))
                continue
            key = _identity(item)
            if key not in self._seen:
                self._seen.add(key)
                self.operations.append(item)
                self._place += 1

    def note(self, problem: str) -> None:
        """Tell of an item, or of a part of the answer, that could not be read."""
        self.invalid.append(InvalidItem(position=self._place, problem=problem))
        self._place += 1


def each(items: Sequence[Any], read: Callable[[Any], Operation]) -> list[Operation | BadItem]:
    """Return what each item of an answer is, read by itself."""
    found: list[Operation | BadItem] = []
    for item in items:
        try:
            found.append(read(item))
        except BadItem as bad:
            found.append(bad)
    return found


def names_of(known: Sequence[KnownMemory]) -> dict[str, UUID]:
    """Return the memories by the short names under which a question shows them."""
    return {item.reference.lower(): item.memory.memory_id for item in known}


def operation_of(value: Any, asked: Asked) -> Operation:  # noqa: ANN401 - any JSON
    """Return the operation that one item of an answer is.

    Args:
        value: the item, whatever the model wrote.
        asked: what it is read against.

    Raises:
        BadItem: it cannot be used.
    """
    try:
        item = OperationItem.model_validate(value)
    except ValidationError as error:
        raise BadItem(problem_of(error)) from None
    turn = _turn_of(item, asked)
    if item.said_by is Speaker.ASSISTANT:
        return _of_assistant(item, turn, asked)
    return _operation(item, turn, asked, quote=exact_words(item.quote, turn.user_text))


def problem_of(error: ValidationError) -> str:
    """Return which fields are wrong, and how, without what they hold."""
    found = [
        f"{'.'.join(str(part) for part in detail['loc']) or 'item'}: {detail['type']}"
        for detail in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(found[:_PROBLEMS_MAX])


def reference_of(name: str, known: Mapping[str, UUID]) -> UUID:
    """Return the memory of a short name.

    Raises:
        BadItem: no memory was shown under it.
    """
    found = known.get(name.strip().lower())
    if found is None:
        raise BadItem("unknown reference: no memory was shown under that name")
    return found


def _turn_of(item: OperationItem, asked: Asked) -> Turn:
    name = item.turn.lower() if asked.tells_turn else ""
    turn = asked.turns.get(name)
    if turn is None:
        raise BadItem("unknown turn: none was shown under that name")
    return turn


def _of_assistant(item: OperationItem, turn: Turn, asked: Asked) -> Operation:
    """Return what the assistant said, about the assistant; the gate keeps nothing but episodes.

    What was proposed as a fact stays one, and is refused: its words tell of the user.
    """
    if not asked.keeps_assistant:
        raise BadItem("the assistant's words are not kept")
    if item.action is not Action.ADD:
        raise BadItem("the assistant's words change no memory")
    spoken = item.model_copy(update={"about": ABOUT_ASSISTANT})
    return _operation(spoken, turn, asked, quote=exact_words(item.quote, turn.assistant_text or ""))


def _operation(item: OperationItem, turn: Turn, asked: Asked, *, quote: str) -> Operation:
    reference = reference_of(item.ref, asked.known) if item.ref else None
    if not item.content and (item.action is not Action.RETRACT or reference is None):
        raise BadItem("content: missing")
    offset = turn.utc_offset_minutes
    # Whether a date lies on the right side of the turn is for whoever decides.
    try:
        valid_from = period_start(item.valid_from, utc_offset_minutes=offset)
    except WrongDate as wrong:
        raise BadItem(f"valid_from: {wrong}") from None
    try:
        expires_at = period_end(item.expires, utc_offset_minutes=offset)
    except WrongDate as wrong:
        raise BadItem(f"expires: {wrong}") from None
    return Operation(
        action=item.action,
        kind=item.kind,
        slot=item.slot,
        about=item.about,
        content=item.content,
        importance=item.importance,
        confidence=item.confidence,
        quote=quote,
        said_by=item.said_by,
        reference=reference,
        turn_id=turn.turn_id if asked.tells_turn else None,
        valid_from=valid_from,
        valid_from_precision=precision_of(item.valid_from),
        expires_at=expires_at,
    )


def _identity(operation: Operation) -> tuple[object, ...]:
    return (
        operation.action,
        operation.slot,
        folded(operation.about),
        folded(operation.content),
        operation.reference,
        operation.turn_id,
        operation.merges,
        operation.against,
    )
