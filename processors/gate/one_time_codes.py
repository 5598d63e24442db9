"""One-time codes: those that a bank or a site sends to confirm who somebody is."""

from __future__ import annotations

import re
from typing import Final

from processors.gate.reading import plain
from processors.gate.said import Said
from processors.gate.texts import kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_NAME: Final = (
    r"(?:(?<![a-z0-9])(?:otp|2fa[- ]code|mfa[- ]code|one[- ]time (?:code|password|passcode|pin)|"
    r"(?:verification|authentication|authenticator|authorization|login|log-in|sign-in|sms|access|"
    r"google|whatsapp|paypal|telegram|confirmation) (?:code|pin)|(?:sms|login|anmelde)-code|"
    r"bestätigungscode|sicherheitscode|einmal(?:code|passwort|kennwort)|freigabecode|m?tan|"
    r"código de (?:verificación|confirmación|seguridad|acceso|un solo uso)|"
    r"codigo de (?:verificacion|confirmacion|seguridad|acceso)|"
    r"code de (?:vérification|verification|confirmation|sécurité|connexion)|code à usage unique)"
    r"(?![a-z])"
    "|验证码|驗證碼|校验码|动态码|認証コード|確認コード|"
    "ワンタイムパスワード|ओटीपी|सत्यापन कोड)"
)
_CODE: Final = r"(?<![\d.,-])(?:[A-Z]-)?(?:\d{4,8}|\d{3}[ -]\d{3})(?![\d]|[.,]\d|%)"
_LINK: Final = (
    r"(?:\s*[:=#]\s*|\s+(?:(?:i got|they sent|sent|received|for|from|from my bank|now|today|just)\b"
    r"[^\n\d.!?]{0,25}\s)?(?:is|was|=|lautet|ist|war|es|era|est|hai)\s*:?\s+|"
    "\\s*(?:是|为|為|は|है)\\s*[:\uff1a]?\\s*|\\s+)"
)
_BEFORE: Final = re.compile(rf"{_NAME}{_LINK}{_CODE}", re.IGNORECASE)
_AFTER: Final = re.compile(
    rf"{_CODE}(?:\s+(?:is|as|ist|es|est)\b[^\n.!?]{{0,25}}?|\s*[(,]\s*(?:the |my )?|"
    "\\s*(?:是|は|है)[^\n]{0,12}?|\\s+)"
    rf"{_NAME}",
    re.IGNORECASE,
)
_BOOKING: Final = re.compile(
    r"hotel|flight|booking|reservation|ticket|train|airbnb|delivery|order|restaurant", re.IGNORECASE
)


def no_one_time_code(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a code that is good for one time."""
    for text in kept_texts(operation):
        if said.reading(text).has_digit and said.once(holds_one_time_code, text):
            return RejectionReason.ONE_TIME_CODE
    return None


def holds_one_time_code(text: str) -> bool:
    """Tell whether a text states a one-time code; a booking's confirmation is none."""
    text = plain(text)
    found = _BEFORE.search(text) or _AFTER.search(text)
    if found is None:
        return False
    return "confirmation" not in found[0].casefold() or _BOOKING.search(text) is None
