"""Bank accounts: an IBAN by its check digits, others by what they are called."""

from __future__ import annotations

import re
from typing import Final

from stdnum import iban

from processors.gate.reading import plain
from processors.gate.said import Said
from processors.gate.texts import kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_IBAN: Final = re.compile(
    r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![A-Z0-9])",
    re.IGNORECASE,
)
_GROUPS_MIN: Final = 4

_DIGITS: Final = r"(?P<digits>\d(?:[ -]?\d){5,17})(?!\d)"
_CALLED: Final = re.compile(
    r"(?:(?<![a-z0-9])(?:"
    r"(?:bank )?(?:account|acct|a/c)\.? (?:number|no\.?|num|nr\.?|#)|bank account|"
    r"checking account|savings account|sort code|routing (?:number|no\.?)|aba(?: number)?|bsb|ifsc|"
    r"konto(?:nummer|-nr\.?|nr\.?)|bankkonto|bankleitzahl|blz|iban|"
    r"(?:número|numero|n[º\u00b0.]) de (?:la )?cuenta|cuenta (?:bancaria|corriente|número)|clabe|"
    r"(?:numéro|numero|n[º\u00b0]) de compte|compte bancaire|rib)(?![a-z0-9])"
    "|银行账号|银行账户|銀行帳號|开户账号|"
    "口座番号|खाता संख्या|"
    "खाता नंबर|बैंक खाता)"
    rf"[^\n\d.!?]{{0,25}}?{_DIGITS}",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(
    r"customer|loyalty|library|member|miles|frequent|gas|electric|energy|utility|water bill|"
    r"broadband|kunden|strom|cliente|client",
    re.IGNORECASE,
)
_BEFORE: Final = 30


def no_bank_account(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse the number of a bank account."""
    for text in kept_texts(operation):
        if said.reading(text).has_digit and said.once(holds_bank_account, text):
            return RejectionReason.BANK_ACCOUNT
    return None


def holds_bank_account(text: str) -> bool:
    """Tell whether a text holds the number of a bank account."""
    text = plain(text)
    if any(map(_is_iban, _IBAN.findall(text))):
        return True
    return any(
        _OTHER.search(text, max(0, found.start() - _BEFORE), found.start("digits")) is None
        for found in _CALLED.finditer(text)
    )


def _is_iban(written: str) -> bool:
    """Tell whether a stretch begins with an IBAN: words behind it may look like groups of one."""
    parts = re.split(r"[ -]", written.upper())
    ends = range(len(parts), min(len(parts), _GROUPS_MIN) - 1, -1)
    return any(iban.is_valid("".join(parts[:end])) for end in ends)
