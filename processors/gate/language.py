"""Content stays in the user's language: what can be told for sure is another script."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from processors.gate.said import Said
from schemas.events import RejectionReason
from schemas.proposals import Action, Operation, Speaker

_SCRIPTS: Final = {
    "latin": "a-zA-Z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "cyrillic": "\u0400-\u052f",
    "armenian": "\u0531-\u058f",
    "hebrew": "\u0590-\u05ff",
    "arabic": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff",
    "devanagari": "\u0900-\u097f",
    "bengali": "\u0980-\u09ff",
    "gurmukhi": "\u0a00-\u0a7f",
    "gujarati": "\u0a80-\u0aff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "kannada": "\u0c80-\u0cff",
    "malayalam": "\u0d00-\u0d7f",
    "thai": "\u0e00-\u0e7f",
    "georgian": "\u10a0-\u10ff",
    "hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    # Han and kana are one: a Japanese statement may be in Han alone.
    "han": "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
}
_RUNS: Final = re.compile("|".join(f"(?P<{name}>[{span}]+)" for name, span in _SCRIPTS.items()))

_LETTERS_READ_MAX: Final = 4_000
_QUOTE_LETTERS_MIN: Final = 2
_MAIN_SHARE: Final = 0.7
_KEPT_SHARE: Final = 0.3
_DENSE: Final = frozenset({"han", "hangul"})
"""Scripts in which two letters can be a word."""
_DENSE_LETTERS_MIN: Final = 2
_LETTERS_MIN: Final = 6


def in_the_users_script(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a statement in another script than the words that it rests on.

    Words of the text itself (names, code, loan words) do not count, nor do names in the statement:
    only where what is left is of another script, and nearly nothing of the user's, it is another
    language.
    """
    if operation.action in {Action.RETRACT, Action.CONTRADICT} or said.basis.without_words:
        return None
    content = operation.content
    if operation.quote == content or (content.isascii() and operation.quote.isascii()):
        return None
    source = operation.quote
    if not _runs(source) and operation.said_by is Speaker.USER:
        source = said.own
    script = _main_script(source)
    if script is None:
        return None
    return RejectionReason.OTHER_LANGUAGE if _is_foreign(content, source, script) else None


def _runs(text: str) -> list[tuple[str, str]]:
    return [(found.lastgroup or "", found[0]) for found in _RUNS.finditer(text[:_LETTERS_READ_MAX])]


def _main_script(source: str) -> str | None:
    """Return the script of most letters of a text; ``None`` where it mixes several."""
    letters: Counter[str] = Counter()
    for script, run in _runs(source):
        letters[script] += len(run)
    if letters.total() < _QUOTE_LETTERS_MIN:
        return None
    # A sentence in a dense script has few letters beside the loan words in it.
    for script in _DENSE:
        if letters[script] >= _KEPT_SHARE * letters.total():
            return script
    script, count = letters.most_common(1)[0]
    return script if count >= _MAIN_SHARE * letters.total() else None


def _is_foreign(content: str, source: str, script: str) -> bool:
    """Tell whether what a statement adds to the words of its source is of another script."""
    known = source.casefold()
    runs = _runs(content)
    same = sum(len(run) for found, run in runs if found == script)
    added = [(found, run) for found, run in runs if found != script and run.casefold() not in known]
    # Capitals alone are names, which may well be spelt in another script.
    if all(found == "latin" and not run[0].islower() for found, run in added):
        return False
    dense = sum(len(run) for found, run in added if found in _DENSE)
    sparse = sum(len(run) for found, run in added if found not in _DENSE)
    if dense < _DENSE_LETTERS_MIN and sparse < _LETTERS_MIN:
        return False
    return same < _KEPT_SHARE * (same + dense + sparse)
