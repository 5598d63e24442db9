"""One-time codes: those that a bank or a site sends to confirm who somebody is."""

from __future__ import annotations

import re
from typing import Final

from processors.gate.said import Said
from processors.gate.texts import bare, has_digit, kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_NAME: Final = (
    r"(?:(?<![a-z0-9])(?:otp|2fa(?:[- ]code)?|mfa(?:[- ]code)?|your (?:\w+ )?code(?=\s*:|\s+is\b)|"
    r"one[- ]time (?:code|password|passcode|pin)|"
    r"(?:verification|authentication|authenticator|authorization|login|log-in|sign-in|sms|access|"
    r"google|whatsapp|paypal|telegram|confirmation) (?:code|pin)|(?:sms|login|anmelde)-code|"
    r"bestätigungscode|sicherheitscode|einmal(?:code|passwort|kennwort)|freigabecode|m?tan|"
    r"c[oó]digo de (?:verificaci[oó]n|confirmaci[oó]n|seguridad|acceso|un solo uso)|"
    r"c[oó]digo de (?:verificaç[aã]o|confirmaç[aã]o|segurança|acesso)|"
    r"code de (?:vérification|verification|confirmation|sécurité|connexion)|code à usage unique|"
    r"codice (?:di (?:verifica|conferma|sicurezza|accesso)|temporaneo|otp|sms)|"
    r"verificatiecode|bevestigingscode|kod (?:weryfikacyjny|potwierdzający|sms)|"
    r"doğrulama kodu|onay kodu|verifieringskod(?:en)?|engångskod(?:en)?|"
    r"mã (?:xác (?:minh|nhận|thực)|otp)|"
    r"код (?:подтверждения|верификации|проверки|доступа|авторизации|из (?:смс|sms))|"
    r"(?:смс|sms)-?код|одноразов\w+ (?:код|пароль))"
    r"(?![a-z])"
    "|验证码|驗證碼|校验码|动态码|認証コード|確認コード|"
    "ワンタイムパスワード|ओटीपी|सत्यापन कोड|"
    "인증 ?(?:번호|코드)|확인 ?코드|"
    "رمز (?:التحقق|التأكيد)|كود التحقق)"
)
_CODE: Final = (
    r"(?<![\d.,-])(?:[A-Z]-)?(?:\d{4,8}|\d{3}[ -]\d{3}|\d(?:[ -]\d){3,7})(?![\d]|[.,]\d|%)"
)
_LINK: Final = (
    r"(?:\s*[:=#]\s*|\s+(?:(?:i got|they sent|sent|received|for|from|from my bank|now|today|just)\b"
    r"[^\n\d.!?]{0,25}\s)?(?:is|was|=|lautet|ist|war|es|era|est|hai|è|é|to|är|jest|là|это|هو)"
    r"\s*:?\s+|"
    "\\s*(?:是|为|為|は|है|는|은|가|이)\\s*[:\uff1a]?\\s*|\\s+(?:-\\s*)?|(?<=[码碼ドो호드])\\s*)"
)
_BEFORE: Final = re.compile(rf"{_NAME}{_LINK}{_CODE}", re.IGNORECASE)
_AFTER: Final = re.compile(
    rf"{_CODE}(?:\s+(?:is|as|ist|es|est|è|é|to|är|jest)\b[^\n.!?]{{0,25}}?|\s*[(,]\s*(?:the |my )?|"
    "\\s*(?:是|は|है)[^\n]{0,12}?|\\s*-\\s*|\\s+)"
    rf"{_NAME}",
    re.IGNORECASE,
)

# A code without a name of its own, of which is told how it came.
_PLAIN_CODE: Final = r"(?<![\w-])(?:code|codes|passcode|código|codigo|codice|kod|код)(?![\w-])"
_SENT: Final = (
    r"(?:text(?:ed|s)?|sms|смс|sent|sends?|e-?mailed|messaged|whatsapp(?:ed)?|got by|received|"
    r"authenticator|geschickt|gesendet|bekommen|erhalten|reçu|envoyé|enviado|enviaron|mandaron|"
    r"llegó|recibí|recebi|enviaram|inviato|mandato|ricevuto|arrivato|прислал\w*|пришёл|пришел|"
    r"wysłan\w+|przyszedł|gönder\w+|gel(?:en|di)|skickade|fick)"
)
_PLAIN_BEFORE: Final = re.compile(
    rf"{_PLAIN_CODE}[^\n\d.!?]{{0,30}}?(?<!\w){_SENT}(?!\w)[^\n\d.!?]{{0,30}}?{_CODE}"
    rf"|(?<!\w){_SENT}(?!\w)[^\n\d.!?]{{0,20}}?{_PLAIN_CODE}{_LINK}{_CODE}"
    rf"|{_PLAIN_CODE}{_LINK}{_CODE} (?:from (?:my|the)|von (?:der|meiner)|de (?:mi|ma|la)) "
    r"(?:bank\w*|banco|banque)",
    re.IGNORECASE,
)
_PLAIN_AFTER: Final = re.compile(
    rf"{_CODE}\s*(?:,|-|\s)\s*[^\n\d.!?]{{0,15}}?{_PLAIN_CODE}[^\n\d.!?]{{0,25}}?"
    rf"(?<!\w){_SENT}(?!\w)",
    re.IGNORECASE,
)
_OTHER_CODE: Final = re.compile(
    r"discount|promo|coupon|voucher|gift|zip|post|dial|area|country|status|error|sort|bar ?code|"
    r"qr|dress|review|source|python|lines of|"
    r"rabatt|gutschein|descuento|réduction|sconto|desconto|скидк|промо|pickup|"
    r"pick-up|collection|tracking",
    re.IGNORECASE,
)
_AROUND: Final = 30
_BOOKING: Final = re.compile(
    r"hotel|flight|booking|reservation|ticket|train|airbnb|delivery|order|restaurant", re.IGNORECASE
)


def no_one_time_code(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a code that is good for one time."""
    for text in kept_texts(operation, said):
        if said.once(has_digit, text) and said.once(holds_one_time_code, text):
            return RejectionReason.ONE_TIME_CODE
    return None


def holds_one_time_code(text: str) -> bool:
    """Tell whether a text states a one-time code; a booking's confirmation is none."""
    text = bare(text)
    found = _BEFORE.search(text) or _AFTER.search(text)
    if found is not None:
        named = found[0].casefold()
        if "confirmation" not in named and "your" not in named:
            return True
        return _BOOKING.search(text) is None and _OTHER_CODE.search(text) is None
    sent = _PLAIN_BEFORE.search(text) or _PLAIN_AFTER.search(text)
    if sent is None:
        return False
    around = text[max(0, sent.start() - _AROUND) : sent.end() + _AROUND]
    return _OTHER_CODE.search(around) is None and _BOOKING.search(around) is None
