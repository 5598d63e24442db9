"""Payment cards: issuer, length, check digit and what the number is called must all fit.

One number in ten passes the check digit alone, so it proves little: times in milliseconds, ISBNs,
IMEIs and order numbers must pass. Issuer ranges and lengths are those that the networks publish
(ISO/IEC 7812): American Express 34, 37; Diners 300-305, 36, 38; Discover 6011, 644-649, 65; JCB
3528-3589; Maestro 50, 56-58, 63, 67; Mastercard 51-55, 2221-2720; Mir 2200-2204; RuPay 60, 81, 82;
UnionPay 62; Visa 4.
"""

from __future__ import annotations

import re
from typing import Final

from stdnum import luhn

from processors.gate.numbers import Number, digit_runs, numbers
from processors.gate.said import Basis, Said
from processors.gate.texts import bare, has_digit, kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_ISSUERS: Final = (
    r"4(?:\d{12}|\d{15}|\d{18})"
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}"
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12}"
    r"|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}"
    r"|220[0-4]\d{12}"
    r"|(?:60|81|82)\d{14}"
)
_MAESTRO: Final = r"(?:50|5[678]|63|67)\d{10,17}"
"""Of twelve digits on and of many ranges: a card only where it is called one."""

_SHAPE: Final = re.compile(f"{_ISSUERS}|{_MAESTRO}")
_ISSUED: Final = re.compile(_ISSUERS)
_DIGITS_MIN: Final = 12
_DIGITS_MAX: Final = 19

_CARD: Final = re.compile(
    r"card|visa|amex|american express|master ?card|maestro|rupay|unionpay|diners|\bdiscover\b|"
    r"debit|credit|\bpaid\b|\bpay\b|\bcharged?\b|"
    r"karte|bezahl|tarjeta|pagad|pagu|\bcarte\b|payé|cartão|\bcarta\b|pagato|paguei|kaart|betaald|"
    r"\bkort|\bkart[aęąy]?\b|kart\u0131[mn]|карт|оплат|thẻ|"
    r"(?<![a-z])(?:pan|cc)(?=[\W\d]|$)|cvv|cvc|(?<![a-z])exp(?=\W|\d|$)|expires|gültig|"
    "银行卡|信用卡|卡号|カード|कार्ड|카드|بطاقة|"
    "البطاقة"
)
"""What says of a number that it is a card's, or that it was paid with."""

_OTHER: Final = re.compile(
    r"(?:\border|\btrack\w*|\bparcel|\bshipment|\binvoice|\bserial|\bisbn|\bimei|\bean|\bupc|"
    r"\bsku|\bticket|\bphone|\bmobile|\btel|\bcall|\bwhatsapp|\btimestamp|\breference|\bref|"
    r"\bbooking|"
    r"\btransaction|\btrace|\bmeter(?: reading)?|\bvin|\bid|\bcustomer|\bmember\w*|\bloyalty|"
    r"\blibrary|"
    r"\w*zähler\w*|\w*sendung|bestell\w*|rechnung|auftrag|paket|telefon|handy|kundennummer|"
    r"seriennummer|vorgang|"
    r"pedido|factura|seguimiento|envío|teléfono|serie|paquete|"
    r"commande|colis|facture|suivi|téléphone|série|"
    "订单|快递|单号|运单|电话|手机|序列号|"
    "注文|追跡|電話|伝票|ऑर्डर|फोन)"
    # Then only what joins a name to its number.
    r"(?:s?(?:nummer|nr|code|number)|s?[ -]*(?:tracking|reference|ref|order|reading)?[ -]*"
    r"(?:number|numbers|num|no|nr|id|code|nummer|bar ?code)|番号|编号|号码|号|नंबर|संख्या)?s?"
    r"[\s:=#.'\"(\u00ba\u00b0\uff1a-]*"
    r"(?:(?:am|vom|on|of|from|del|du|de)\s[\d./-]{3,10}\s+)?"
    r"(?:(?:is|was|are|ist|lautet|war|es|era|est|était|at|是|为|は|है)"
    r"[\s:=#.'\"(\uff1a-]*)?$"
)
"""A name of something else right in front of the number."""

_GROUPINGS: Final = frozenset(
    {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (6, 13), (8, 8), (4, 12), (12, 4)}
)
_BESIDE_MAX: Final = 9
"""Beside a card stand at most its expiry, of six digits, and its code; more make a list."""

_PART_MIN: Final = 7
"""The fewest digits in a row that tell part of a card: the first six and the last four may be shown
by the rules of the card industry (PCI DSS 4.0, requirement 3.4.1)."""

_SECURITY_CODE: Final = re.compile(
    r"(?<![a-z])(?:cvv2?|cvc2?|card security code|prüfnummer|kartenprüfnummer|"
    "安全码|セキュリティコード)"
    r"(?![a-z])[^\n\d.!?]{0,30}\d(?:[ .-]?\d){2,3}(?!\d)"
)


def no_payment_card(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse the number of a payment card, or a large part of one, or its security code."""
    for text in kept_texts(operation, said):
        if not said.once(has_digit, text):
            continue
        if said.once(holds_payment_card, text) or _holds_part(text, said):
            return RejectionReason.PAYMENT_CARD
    return None


def holds_payment_card(text: str) -> bool:
    """Tell whether a text holds the number or the security code of a payment card."""
    return bool(_cards(text)) or _SECURITY_CODE.search(bare(text).casefold()) is not None


def _holds_part(text: str, said: Said) -> bool:
    """Tell whether a text holds a large part of a card that the turn tells as a whole."""
    if said.basis is not Basis.TURN:
        return False
    cards = said.once(_cards, said.whole)
    parts = {
        card[start : start + _PART_MIN]
        for card in cards
        for start in range(len(card) - _PART_MIN + 1)
    }
    return bool(parts) and any(
        run[start : start + _PART_MIN] in parts
        for run in digit_runs(bare(text))
        for start in range(len(run) - _PART_MIN + 1)
    )


def _cards(text: str) -> frozenset[str]:
    found = numbers(bare(text), _fits, _DIGITS_MIN, _DIGITS_MAX)
    return frozenset(number.digits for number in found if _is_card(number))


def _fits(digits: str) -> bool:
    return (
        _SHAPE.fullmatch(digits) is not None
        and digits.count(digits[0]) != len(digits)
        and luhn.is_valid(digits)
    )


def _is_card(number: Number) -> bool:
    if _CARD.search(number.before) or _CARD.search(number.after):
        return True
    if number.glued or not _ISSUED.fullmatch(number.digits) or _OTHER.search(number.before):
        return False
    if len(number.groups) == 1:
        return True
    most = 0 if number.listed or set(number.groups) == {1} else _BESIDE_MAX
    if not number.uniform or max(number.beside) > most:
        # Lists of years, of dates and of measurements are written in groups too.
        return False
    return number.groups in _GROUPINGS or set(number.groups) == {1}
