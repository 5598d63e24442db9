"""Whether the user asked for something to be remembered, in so many words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final

from processors.explicit_requests import REMEMBER
from processors.gate.reading import Reading, fold, sentences
from processors.gate.said import Said

_REQUEST: Final = re.compile(
    r"(?:^|[.!?,;:\n\"(]\s*|\b(?:please|pls|so|and|also|but|just|to|can you|could you|would "
    r"you|will you|"
    r"you should|you must|should|always|i want you to|i'd like you to|i need you to)\s+)"
    r"(?:remember(?! when| how| what| where| why)|keep in mind|bear in mind|note that|note down|"
    r"make a note|take a note|write down|save|store|don't forget|do not forget|never forget|"
    r"memori[sz]e|add (?:it|this|that) to (?:your|the) memory)\b"
    r"|\bfor (?:the record|your records|future reference)\b"
)
"""English alone: its words are others' too ("save", "note") and count where a request begins."""

_SPACED_LETTERS: Final = re.compile("[a-z\u00df-\u024f\u0370-\u052f]")


def _abroad() -> re.Pattern[str]:
    words = sorted({fold(word) for word in REMEMBER}, key=len, reverse=True)
    return re.compile(
        "|".join(
            rf"(?<!\w){re.escape(word)}(?!\w)" if _SPACED_LETTERS.match(word) else re.escape(word)
            for word in words
        )
    )


_ABROAD: Final = _abroad()
"""The words of the other languages, as whole words where words are parted by blanks."""

_DENIALS: Final = (
    *("não", "non", "nu", "inte", "ikke", "älä", "nie", "не", "nem", "ne", "μην", "لا", "אל"),
    *("đừng", "jangan"),
)
_DENIED_BEFORE: Final = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(fold, _DENIALS))}"
    # I ..., and what reminds me of something
    r"|je|ik|jag|jeg|eu|io|ich|yo|mi|me|te|le|nos|ci)(?: \w+)? $"
)
_DENIED_BEHIND: Final = re.compile(
    r"(?! (?:dat|dass|att|at) (?:ik|ich|jag|jeg|mijn|mein|min|wij|wir|vi)\b)"
    r"(?: \w+){0,2} (?:niet|nicht|inte|ikke)\b"
)
_BESIDE_CHARACTERS: Final = 40
"""How far from a request its denial is looked for."""

_REFUSAL: Final = re.compile(
    r"\b(?:do you|did you|do not|don't|dont|never|you don't|no need to|without having to|won't|"
    r"i|we|"
    r"should not|shouldn't|why do you|i can't|let me)"
    r" (?:please )?(?:remember|save|store|note|keep|memori[sz]e|write)\b(?! that you)"
    r"|\b(?:nicht (?:merken|speichern|notieren|behalten)|merk dir (?:das |dies |es )?(?:bitte "
    r")?nicht|"
    r"speicher(?:e)? (?:das |dies )?(?:bitte )?nicht)\b"
    r"|\bno (?:lo |la |me )?(?:recuerdes|guardes|anotes|apuntes|memorices)\b"
    r"|\bne (?:le |la |l'|les )?(?:retiens|retenez|note|notez|garde|enregistre|memorise)[a-z]* "
    r"pas\b"
    "|(?:不要|别|不用)记|你还?记得|覚えないで|記憶しないで"
    "|याद मत|याद नहीं|नोट मत"
)
_FORGET_NOT: Final = re.compile(r"\b(?:don't|dont|do not|never) forget\b")

_ASK_ALONE_CHARACTERS_MAX: Final = 60
"""A request that is a sentence of its own and speaks of its neighbours is short."""


def asked_to_remember(said: Said, quote: str) -> bool:
    """Tell whether the user asked for the words of ``quote`` to be remembered.

    The request stands in the same sentence, or is a short one of its own right before or behind:
    "I have asthma. Please remember that." Every sentence of the quote must be covered.

    Args:
        said: what was said.
        quote: words of the user.
    """
    own = said.reading(said.own).folded
    wanted = said.reading(quote).folded
    start = own.find(wanted) if wanted else -1
    if start < 0:
        return False
    spans = said.once_read(_asked_spans, said.own)
    first = max(0, bisect_right(spans, start, key=_start_of) - 1)
    last = bisect_left(spans, start + len(wanted), key=_start_of)
    return last > first and all(asked for _, asked in spans[first:last])


def asked_at(said: Said, position: int) -> bool:
    """Tell whether what stands at a position of the user's own folded words was asked for."""
    spans = said.once_read(_asked_spans, said.own)
    number = bisect_right(spans, position, key=_start_of) - 1
    return number >= 0 and spans[number][1]


def _start_of(span: tuple[int, bool]) -> int:
    return span[0]


def _asked_spans(own: Reading) -> tuple[tuple[int, bool], ...]:
    """Return where each sentence begins, and whether it is one to be remembered."""
    folded = own.folded
    if _REQUEST.search(folded) is None and _ABROAD.search(folded) is None:
        return ()
    spans = sentences(folded)
    covered: set[int] = set()
    refused: set[int] = set()
    for number, (first, last) in enumerate(spans):
        sentence = folded[first:last].strip()
        if _REFUSAL.search(_FORGET_NOT.sub("remember", sentence)) is not None:
            refused |= {number - 1, number}
        elif _REQUEST.search(sentence) is not None or _asks_abroad(sentence):
            covered.add(number)
            if len(sentence) <= _ASK_ALONE_CHARACTERS_MAX:
                covered |= {number - 1, number + 1}
    asked = covered - refused
    return tuple((first, number in asked) for number, (first, _) in enumerate(spans))


def _asks_abroad(sentence: str) -> bool:
    return any(
        _DENIED_BEFORE.search(sentence[max(0, found.start() - _BESIDE_CHARACTERS) : found.start()])
        is None
        and _DENIED_BEHIND.match(sentence, found.end(), found.end() + _BESIDE_CHARACTERS) is None
        for found in _ABROAD.finditer(sentence)
    )
