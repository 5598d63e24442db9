"""What was said: the evidence that an operation can rest on, read once for all operations."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, Self, TypeVar, cast

from processors.gate.lazy import lazy
from processors.gate.reading import MARKS, Reading
from processors.own_words import own_words
from schemas.injection import cut_injection
from schemas.records import Turn

_GUILLEMET_BLANKS: Final = re.compile("(?<=\u00ab)[\\s\u202f]+|[\\s\u202f]+(?=\u00bb)")
"""The blanks that French puts inside its quotation marks."""

_ANSWERS_MAX: Final = 256
"""The most answers that are remembered: those about a few operations, not a whole proposal."""

_UNANSWERED: Final = object()

Answer = TypeVar("Answer")


class Basis(Enum):
    """What an operation rests on."""

    TURN = auto()
    """A turn: what is stated must be in the user's own words."""
    MEMORIES = auto()
    """Memories that were decided before: a consolidation looks through them."""
    SYSTEM = auto()
    """The operator's own systems: nobody said it."""
    PERSON = auto()
    """A person who states it outside of any turn."""

    @property
    def without_words(self) -> bool:
        """Whether there are no words that could be evidence."""
        return self in {Basis.SYSTEM, Basis.PERSON}


class Said:
    """What was said in a turn, as the rules need it.

    ``Said(turn)`` is for what is proposed for a turn, :meth:`in_memories` for what a consolidation
    proposes, :meth:`by_system` for a fact of the operator's own systems, :meth:`by_person` for what
    a person decides.

    Args:
        turn: the turn.
    """

    def __init__(self, turn: Turn) -> None:
        self._begin(Basis.TURN, turn.user_text, turn.assistant_text or "")

    @classmethod
    def in_memories(cls, contents: Sequence[str]) -> Self:
        """Return what the memories say that a consolidation speaks of.

        Args:
            contents: the contents of those that the operation names.
        """
        said = cls.__new__(cls)
        said._begin(Basis.MEMORIES, "\n".join(contents), "")  # noqa: SLF001 - a constructor
        return said

    @classmethod
    def by_system(cls, vouched: Sequence[str] = ()) -> Self:
        """Return that nobody said anything: the operator's own system vouches for it.

        What needs words of the user's does not apply then: evidence, assertion and script. Nor do
        obligations, since the operator itself tells of them. Every other rule does.

        Args:
            vouched: what the system tells of where the fact comes from, which is kept beside it.
        """
        said = cls.__new__(cls)
        said._begin(Basis.SYSTEM, "", "")  # noqa: SLF001 - a constructor
        said.vouched = tuple(vouched)
        return said

    @classmethod
    def by_person(cls) -> Self:
        """Return that a person states it outside of any turn: there are no words as evidence.

        Every rule that asks for none applies, also that on obligations, since anybody may claim.
        """
        said = cls.__new__(cls)
        said._begin(Basis.PERSON, "", "")  # noqa: SLF001 - a constructor
        return said

    def _begin(self, basis: Basis, user_text: str, assistant_text: str) -> None:
        self.basis = basis
        self.vouched: tuple[str, ...] = ()
        self._user_text = user_text
        self._assistant_text = assistant_text
        self._answers: dict[tuple[object, str], object] = {}
        self._readings: dict[str, Reading] = {}

    @lazy
    def own(self) -> str:
        """The user's own words; of memories their contents, whatever those look like."""
        if self.basis is Basis.MEMORIES:
            return self._user_text
        return own_words(self._user_text)

    @lazy
    def own_normal(self) -> str:
        """The user's own words in the form in which quotes are compared."""
        return normal(self.own)

    @lazy
    def assistant_normal(self) -> str:
        """The assistant's words in the form in which quotes are compared."""
        return normal(cut_injection(self._assistant_text))

    @lazy
    def whole(self) -> str:
        """The whole text of the turn but for our block of notes."""
        return cut_injection(self._user_text).strip()

    def reading(self, text: str) -> Reading:
        """Return a text as the rules read it."""
        if self.basis is Basis.SYSTEM:
            return Reading(text)
        reading = self._readings.get(text)
        if reading is None:
            if len(self._readings) >= _ANSWERS_MAX:
                self._readings.clear()
            reading = self._readings[text] = Reading(text)
        return reading

    def once(self, question: Callable[[str], Answer], text: str) -> Answer:
        """Return what a pure function answers about a text; the last answers are remembered.

        Several rules ask the same of the same texts.

        Args:
            question: the function.
            text: the text.
        """
        if self.basis is Basis.SYSTEM:
            # This one may live as long as the process, which must not keep anybody's words.
            return question(text)
        key = (question, text)
        answer = self._answers.get(key, _UNANSWERED)
        if answer is _UNANSWERED:
            if len(self._answers) >= _ANSWERS_MAX:
                self._answers.clear()
            answer = self._answers[key] = question(text)
        return cast("Answer", answer)

    def once_read(self, question: Callable[[Reading], Answer], text: str) -> Answer:
        """Return what a pure function answers about a text as the rules read it."""
        if self.basis is Basis.SYSTEM:
            return question(self.reading(text))
        key = (question, text)
        answer = self._answers.get(key, _UNANSWERED)
        if answer is _UNANSWERED:
            answer = self._answers[key] = question(self.reading(text))
        return cast("Answer", answer)


def normal(text: str) -> str:
    """Return a text in the form in which quotes are compared.

    Unicode form, white space and the shape of quotation marks and dashes do not matter; letters
    and their case do.
    """
    if not text.isascii():
        text = _GUILLEMET_BLANKS.sub("", text)
        text = unicodedata.normalize("NFKC", text).translate(MARKS)
    return " ".join(text.replace("`", "'").split())
