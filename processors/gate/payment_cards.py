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

from processors.gate.numbers import Number, numbers
from processors.gate.reading import plain
from processors.gate.said import Said
from processors.gate.texts import kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_ISSUERS: Final = re.compile(
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
_MAESTRO: Final = re.compile(r"(?:50|5[678]|63|67)\d{10,17}")
"""Of twelve digits on and of many ranges: a card only where it is called one."""

_CARD: Final = re.compile(
    r"card|visa|amex|american express|master ?card|maestro|rupay|unionpay|diners|discover|"
    r"debit|credit|"
    r"karte|tarjeta|carte|cartão|carta|cvv|cvc|\bexp\b|expires|gültig|"
    "银行卡|信用卡|卡号|カード|कार्ड"
)
_OTHER: Final = re.compile(
    r"\border|\btrack|\bparcel|\bshipment|\bship|\binvoice|\bserial|\bisbn|\bimei|\bean\b|"
    r"\bupc\b|\bsku\b|"
    r"\bticket|\bphone|\bmobile|\btel\b|\bcall|\bwhatsapp|\btimestamp|\breference|\bref\b|"
    r"\bbooking|"
    r"\btransaction|\btrace|\bmeter|\bvin\b|\bid\b|\bcustomer|\bmember|\bloyalty|\blibrary|"
    r"zähler|sendung|bestell|rechnung|auftrag|paket|telefon|handy|kundennummer|seriennummer|"
    r"vorgang|"
    r"pedido|factura|seguimiento|envío|teléfono|serie|paquete|"
    r"commande|colis|facture|suivi|téléphone|série|"
    "订单|快递|单号|运单|电话|手机|序列号|"
    "注文|追跡|電話|伝票|ऑर्डर|फोन"
)
_GROUPINGS: Final = ([4, 4, 4, 4], [4, 6, 5], [4, 6, 4], [4, 4, 4, 4, 3], [6, 13])

_SECURITY_CODE: Final = re.compile(
    r"(?<![a-z])(?:cvv2?|cvc2?|card security code|prüfnummer|kartenprüfnummer|"
    "安全码|セキュリティコード)"
    r"(?![a-z])[^\n\d.!?]{0,30}\d{3,4}(?!\d)"
)


def no_payment_card(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse the number of a payment card, or its security code."""
    for text in kept_texts(operation):
        if said.reading(text).has_digit and said.once(holds_payment_card, text):
            return RejectionReason.PAYMENT_CARD
    return None


def holds_payment_card(text: str) -> bool:
    """Tell whether a text holds the number or the security code of a payment card."""
    if any(map(_is_card, numbers(text))):
        return True
    return _SECURITY_CODE.search(plain(text).casefold()) is not None


def _is_card(number: Number) -> bool:
    digits = number.digits
    called = _CARD.search(number.before + " " + number.after) is not None
    fits = _ISSUERS.fullmatch(digits) or (called and _MAESTRO.fullmatch(digits))
    if not fits or len(set(digits)) == 1 or not luhn.is_valid(digits):
        return False
    if len(number.groups) > 1 and number.groups not in _GROUPINGS:
        # Lists of years and dates are written in groups too.
        return called
    # The nearest name counts: "card for order number ..." is an order's.
    other = [found.end() for found in _OTHER.finditer(number.before)]
    card = [found.end() for found in _CARD.finditer(number.before)]
    return not other or max(card, default=0) > max(other)
