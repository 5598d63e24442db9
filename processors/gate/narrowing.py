"""Cutting from a quote what must not be kept, where the statement itself is clean."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from processors.gate.bank_accounts import holds_bank_account
from processors.gate.credentials import holds_credential
from processors.gate.evidence import evidence_in_own_words, keeps_whole_turn
from processors.gate.national_ids import holds_national_id
from processors.gate.one_time_codes import holds_one_time_code
from processors.gate.passwords import holds_password
from processors.gate.payment_cards import holds_payment_card
from processors.gate.privacy import no_sensitive_category, no_third_person_data
from processors.gate.said import Basis, Said
from processors.gate.support import shares_a_word
from schemas.proposals import Operation

_CUT: Final = re.compile(
    r"(?<=[,;:.!?\n\u3001\u3002\uff0c\uff01\uff1f\uff1b\u0964])\s*"
    r"|\s+(?=(?:so|and|but|because|therefore|which is why|deshalb|daher|darum|und|aber|also|weil|"
    r"así que|por eso|y|pero|donc|alors|et|mais|और|इसलिए)\s)",
    re.IGNORECASE,
)
_QUOTE_CHARACTERS_MAX: Final = 2_000
"""A longer quote is not cut: no single statement rests on it."""

_CUTS_MAX: Final = 100

_WORDS_MIN: Final = 4
"""The fewest characters of a stretch that can be evidence."""


def narrowed(operation: Operation, said: Said) -> Operation:
    """Return an operation whose quote is free of what must not be kept, as far as that can be had.

    Only where the statement is clean and the quote is not, the longest stretch of clauses of the
    quote that is clean and speaks of what is stated becomes the quote. Anything else comes back
    as it is, to be judged.

    Args:
        operation: what was proposed.
        said: what it rests on.
    """
    quote = operation.quote
    if said.basis is not Basis.TURN or keeps_whole_turn(operation, said):
        return operation
    if len(quote) > _QUOTE_CHARACTERS_MAX or _is_clean(operation, said):
        return operation
    if not _is_clean(operation.model_copy(update={"quote": ""}), said):
        return operation
    if evidence_in_own_words(operation, said) is not None:
        return operation
    part = _clean_part(operation, said)
    return operation if part is None else operation.model_copy(update={"quote": part})


def _clean_part(operation: Operation, said: Said) -> str | None:
    quote = operation.quote
    cuts = [0, *(found.end() for found in _CUT.finditer(quote)), len(quote)]
    if len(cuts) > _CUTS_MAX:
        return None
    best = ""
    run_start: int | None = None
    for start, end in pairwise(cuts):
        part = quote[start:end]
        if _is_clean(operation.model_copy(update={"quote": part}), said):
            run_start = start if run_start is None else run_start
            run = quote[run_start:end].strip(" ,;:\n")
            if (
                len(run) > len(best)
                # Else the statement may rest on just what would be cut away.
                and shares_a_word(said.reading(run), said.reading(operation.content))
                and _is_clean(operation.model_copy(update={"quote": run}), said)
            ):
                best = run
        else:
            run_start = None
    return best if len(best) >= _WORDS_MIN else None


def _is_clean(operation: Operation, said: Said) -> bool:
    texts = (operation.content, operation.quote)
    if no_sensitive_category(operation, said) or no_third_person_data(operation, said):
        return False
    return not any(_holds(text, said) for text in texts if text)


def _holds(text: str, said: Said) -> bool:
    if said.once(holds_credential, text) or said.once(holds_password, text):
        return True
    return said.reading(text).has_digit and any(said.once(holds, text) for holds in _NUMBERS)


_NUMBERS: Final = (
    holds_one_time_code,
    holds_payment_card,
    holds_bank_account,
    holds_national_id,
)
