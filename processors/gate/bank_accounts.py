"""Bank accounts: an IBAN by its check digits, others by what they are called."""

from __future__ import annotations

import re
from typing import Final

from stdnum import iban

from processors.gate.said import Said
from processors.gate.texts import bare, has_digit, kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_IBAN_START: Final = re.compile(
    r"(?:(?<![A-Z0-9])|(?<=iban))[A-Z]{2}[ .-]?\d[ .-]?\d(?=[\s./_,|\u00b7-]{0,4}[A-Z0-9])",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(r"[\s./_,|\u00b7-]{1,4}")
_IBAN_MIN: Final = 15
_IBAN_MAX: Final = 34
_IBAN_READ: Final = 120
"""Characters from the start of an IBAN that are read, what parts its groups included."""

_DIGITS: Final = r"(?P<digits>\d(?:[\s./-]{0,2}\d){5,19})(?!\d)"
_CALLED: Final = re.compile(
    r"(?:(?<![a-z0-9])(?:"
    r"(?:bank )?(?:account|acct|a/c)\.? (?:number|no\.?|num|nr\.?|#)|bank account|"
    r"checking account|savings account|sort code|routing (?:number|no\.?)|aba(?: number)?|bsb|ifsc|"
    r"konto(?:nummer|-nr\.?|nr\.?)|bankkonto|bankleitzahl|blz|iban|"
    r"(?:número|numero|n[º\u00b0.]) de (?:la )?cuenta|cuenta (?:bancaria|corriente|número)|clabe|"
    r"(?:numéro|numero|n[º\u00b0]) de compte|compte bancaire|rib|"
    r"(?:numero (?:del |di )?)?conto(?: corrente| bancario)?(?: n[.º\u00b0r]*)?|"
    r"(?:número (?:d[ae] )?)?conta(?: bancária| corrente| poupança| número|"
    r"(?=\W{0,3}(?:é\W{1,3})?\d))|"
    r"rekening(?:nummer|-?nr\.?)|bankrekening|(?:numer|nr) (?:konta|rachunku)|rachunek bankowy|"
    r"hesap (?:numara\w*|no)|(?:bank)?kontonummer|số tài khoản|"
    r"(?:номер|№) (?:банковского |расч[её]тного |лицевого |моего )?сч[её]та|"
    r"(?:расч[её]тный|лицевой|банковский) сч[её]т|мой сч[её]т(?=\W{0,3}\d)|"
    r"сч[её]т(?: №| номер|:|(?= \d{20})))(?![a-z0-9])"
    "|银行账号|银行账户|銀行帳號|开户账号|"
    "口座番号|खाता संख्या|"
    "खाता नंबर|बैंक खाता|계좌 ?번호|계좌|"
    "رقم الحساب|حساب(?:ي)? البنكي)"
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
    for text in kept_texts(operation, said):
        if said.once(has_digit, text) and said.once(holds_bank_account, text):
            return RejectionReason.BANK_ACCOUNT
    return None


def holds_bank_account(text: str) -> bool:
    """Tell whether a text holds the number of a bank account."""
    text = bare(text)
    if any(_begins_iban(text, found.start()) for found in _IBAN_START.finditer(text)):
        return True
    return any(
        _OTHER.search(text, max(0, found.start() - _BEFORE), found.start("digits")) is None
        for found in _CALLED.finditer(text)
    )


def _begins_iban(text: str, start: int) -> bool:
    """Tell whether an IBAN begins there, whatever parts its groups and whatever follows it."""
    written = _MARKS.sub("", text[start : start + _IBAN_READ])[:_IBAN_MAX].upper()
    letters = _LETTERS_AND_DIGITS.match(written)
    written = written[: 0 if letters is None else letters.end()]
    # The check digits fit one end in 97, so that the dear check is seldom asked.
    head = "".join(str(int(character, 36)) for character in written[:_HEAD])
    remainder = 0
    for end, character in enumerate(written[_HEAD:], start=_HEAD + 1):
        value = int(character, 36)
        remainder = (remainder * 10 ** len(str(value)) + value) % 97
        fits = (remainder * 10 ** len(head) + int(head)) % 97 == 1
        if fits and end >= _IBAN_MIN and iban.is_valid(written[:end]):
            return True
    return False


_HEAD: Final = 4
"""An IBAN's country and check digits, which are read last (ISO 7064, modulo 97)."""
_LETTERS_AND_DIGITS: Final = re.compile(r"[A-Z0-9]+")
