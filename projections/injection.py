"""The block of notes for a prompt: dated data that cannot speak as anything else.

What a memory says was once said by a user, or by whatever the user pasted. So its text is brought
onto one line, loses every character that a reader does not see, and has its brackets escaped: it
can neither end the block, nor open a tag, nor hide an order. The block is the same in every form
but for how a note is written, and what cuts it out of turns (:mod:`schemas.injection`) knows all of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol, TypeAlias, overload

from projections.note_text import as_xml_attribute, as_xml_text, escaped
from schemas.injection import (
    BLOCK_END,
    BLOCK_START,
    FRAME,
    NOTE_PREFIX,
    TEMPLATE,
    XML_NOTE,
    XML_SINCE,
    InjectionForm,
)
from schemas.memory import ABOUT_USER, MemoryKind, Precision, Source

ANTHROPIC_BETA: Final = "mid-conversation-system-clear-at-2026-08-21"
"""What the header ``anthropic-beta`` must name where a message says when it is cleared; as
``anthropic`` 2.14 lists it in ``types/anthropic_beta_param.py``."""

HOW_TO_ANSWER: Final = "how to answer"
"""Marks a note that tells how the assistant should behave; the frame says what it may do."""

_PARENTHESES: Final = str.maketrans({"(": "[", ")": "]", "\uff08": "[", "\uff09": "]"})
"""Of whom a note speaks stands in parentheses, and cannot end them to mark the note otherwise."""

Message: TypeAlias = dict[str, str]
"""One entry of ``messages``, as a provider's interface spells it."""

Injection: TypeAlias = str | Message | None
"""The notes as they are handed over: the block, or the message that holds it. Without notes an
empty block, or no message."""


class Notable(Protocol):
    """What a note is made of; every memory that is served or listed has it.

    Attributes:
        content, about, source, kind: as in a memory.
        valid_from, valid_from_precision: since when it is true, and how exactly that was told.
        valid_to: until when it was true; ``None`` while it is.
    """

    @property
    def content(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def about(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def source(self) -> Source: ...  # noqa: D102 - described with the class

    @property
    def kind(self) -> MemoryKind: ...  # noqa: D102 - described with the class

    @property
    def valid_from(self) -> datetime: ...  # noqa: D102 - described with the class

    @property
    def valid_from_precision(self) -> Precision: ...  # noqa: D102 - described with the class

    @property
    def valid_to(self) -> datetime | None: ...  # noqa: D102 - described with the class


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteLine:
    """All that is written of one memory.

    Attributes:
        content: what it says.
        about: of whom it speaks.
        source: who vouches for it.
        is_rule: whether it tells how to answer.
        since: the date since when it holds, as exactly as it was told.
        until: the date until when it held; ``None`` while it does.
    """

    content: str
    about: str
    source: Source
    is_rule: bool
    since: str
    until: str | None


def note(memory: Notable, form: InjectionForm = InjectionForm.TEXT) -> str:
    """Return the one line of a memory: since when it holds, of whom it speaks, what it says.

    Dates are those of UTC. Who said it, or about whom it is, stands there where it is not the user.
    """
    return write_note(line_of(memory), form)


def block(memories: Sequence[Notable], form: InjectionForm = InjectionForm.TEXT) -> str:
    """Return the block of notes for these memories, in their order; empty for none.

    It is what a model reads, whatever carries it: for the forms that are messages, their content.
    """
    return write_block([line_of(memory) for memory in memories], form)


@overload
def injection(memories: Sequence[Notable]) -> str: ...


@overload
def injection(memories: Sequence[Notable], form: InjectionForm) -> Injection: ...


def injection(memories: Sequence[Notable], form: InjectionForm = InjectionForm.TEXT) -> Injection:
    """Return the notes as a form hands them over.

    A message belongs right behind the newest message of the user, and stays there, unchanged, in
    every later request: what was sent before is then a prefix of what is sent next, and a provider
    finds it in its cache. Anthropic's is shown to the model for that turn alone, and costs nothing
    later.
    """
    return carried(block(memories, form), form)


def carried(text: str, form: InjectionForm) -> Injection:
    """Return a block as its form hands it over."""
    match form:
        case InjectionForm.TEXT | InjectionForm.XML:
            return text
        case InjectionForm.ANTHROPIC:
            message = {"role": "system", "content": text, "clear_at": "next_user_message"}
        case InjectionForm.OPENAI:
            # Newer models read it as a developer's message; servers of one's own know no other.
            message = {"role": "system", "content": text}
    return message if text else None


def headers_of(form: InjectionForm) -> Mapping[str, str]:
    """Return the headers that a request needs in which a form's message stands."""
    return {"anthropic-beta": ANTHROPIC_BETA} if form is InjectionForm.ANTHROPIC else {}


def line_of(memory: Notable) -> NoteLine:
    """Return all that is written of a memory."""
    return NoteLine(
        content=memory.content,
        about=memory.about,
        source=memory.source,
        is_rule=memory.kind is MemoryKind.PROCEDURAL,
        since=as_told(memory.valid_from, memory.valid_from_precision),
        until=None if memory.valid_to is None else _date(memory.valid_to),
    )


def write_block(lines: Sequence[NoteLine], form: InjectionForm, template: int = TEMPLATE) -> str:
    """Return the block of some lines as a version of the template writes it; empty for none.

    Raises:
        ValueError: there is no such version.
    """
    if template != TEMPLATE:
        raise ValueError(f"version {template} of the notes' template is not known")
    if not lines:
        return ""
    notes = (write_note(line, form) for line in lines)
    return "\n".join([BLOCK_START, FRAME, *notes, BLOCK_END])


def write_note(line: NoteLine, form: InjectionForm) -> str:
    """Return one line."""
    return _as_element(line) if form is InjectionForm.XML else _as_text(line)


def _as_text(line: NoteLine) -> str:
    dates = line.since if line.until is None else f"{line.since} to {line.until}"
    marks = [HOW_TO_ANSWER] if line.is_rule else []
    if line.source is Source.ASSISTANT:
        marks.append("said by the assistant")
    elif line.about != ABOUT_USER:
        marks.append(f"about {escaped(line.about).translate(_PARENTHESES)}")
    marked = f" ({', '.join(marks)})" if marks else ""
    return f"{NOTE_PREFIX}{dates}{marked}: {escaped(line.content)}"


def _as_element(line: NoteLine) -> str:
    attributes = {XML_SINCE: line.since}
    if line.until is not None:
        attributes["until"] = line.until
    if line.is_rule:
        attributes["on"] = HOW_TO_ANSWER
    if line.source is Source.ASSISTANT:
        attributes["said-by"] = "assistant"
    elif line.about != ABOUT_USER:
        attributes["about"] = line.about
    written = "".join(f' {name}="{as_xml_attribute(value)}"' for name, value in attributes.items())
    return f"<{XML_NOTE}{written}>{as_xml_text(line.content)}</{XML_NOTE}>"


def as_told(moment: datetime, precision: Precision) -> str:
    """Return a date as exactly as it was told."""
    match precision:
        case Precision.YEAR:
            return f"{moment.astimezone(UTC).year:04}"
        case Precision.MONTH:
            return _date(moment)[:7]
    return _date(moment)


def _date(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()
