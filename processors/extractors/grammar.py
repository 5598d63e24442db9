"""What the patterns of a predicate share: adverbs, forms of "be", and the end of a phrase."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from processors.extractors.findings import Finding
from processors.moments import MONTHS

Reader = Callable[[re.Match[str]], Iterator[Finding]]

ADVERB: Final = (
    r"(?:(?:also|still|now|currently|really|actually|just|recently|always|absolutely|truly|do|"
    r"does|only|mostly|usually|generally|definitely|already|originally|personally|quite|so|very|"
    r"a bit|severely|highly|deathly|deadly|mildly|slightly|extremely|terribly|strictly|completely|"
    r"simply|especially|particularly|finally|both|presently|permanently|happily|newly) ){0,3}"
)
BE: Final = rf"(?:am|are|is|have been|has been) {ADVERB}"
HAVE: Final = r"(?:(?:have|has) )?(?:recently |just |finally |now )?"

END: Final = (
    r"(?=$|\s*[.,;:!?)(]|\s[\u2013\u2014-]| (?:and|but|so|since|for|because|now|as|too|these|"
    r"myself|who|though|again|which|if|please|thanks|lol|today|currently|or|person|guy|girl|man|woman|"
    r"diet|eater|yesterday|last|this (?:week|month|year)|ago|actually|either|at (?:all|the moment|"
    rf"present)|in (?:general|\d{{4}}|{'|'.join(MONTHS)})|on (?:\d|{'|'.join(MONTHS)})|"
    r"[\w-]+ (?:years?|months?) ago)\b)"
)
"""What may follow a word that stands alone: "vegan" is a diet; in "vegan chef" it is not, and in
"vegan on weekends" it is not all of it."""


class Readers:
    """Patterns of predicates with what reads them, tried in the order of their definition."""

    def __init__(self) -> None:
        self._readers: list[tuple[re.Pattern[str], Reader]] = []

    def reads(self, *expressions: str) -> Callable[[Reader], Reader]:
        """Let a function read the predicates that one of ``expressions`` matches from the start."""

        def register(reader: Reader) -> Reader:
            self._readers += [
                (re.compile(expression, re.IGNORECASE), reader) for expression in expressions
            ]
            return reader

        return register

    def read(self, predicate: str) -> list[Finding]:
        """Return what the first reader finds that finds anything."""
        for pattern, reader in self._readers:
            found = pattern.match(predicate)
            findings = list(reader(found)) if found is not None else []
            if findings:
                return findings
        return []

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns, for a fingerprint of the rules."""
        return tuple(pattern.pattern for pattern, _ in self._readers)
