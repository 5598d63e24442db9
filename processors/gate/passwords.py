"""Passwords, PINs, door codes and security answers, stated in words."""

from __future__ import annotations

import re
from typing import Final

from processors.gate.reading import plain
from processors.gate.said import Said
from processors.gate.texts import kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_NAMED: Final = (
    r"(?:(?<![a-z0-9])(?:pass(?:word|code|phrase|wd)?|pwd|passwort|kennwort|losungswort|"
    r"contraseña|contrasena|clave(?: de acceso| del? wi-?fi)?|wlan-?schlüssel|wi-?fi[- ]?key|"
    r"netzwerkschlüssel|code wifi|clé wifi|mot de passe|mdp|senha|parola|wachtwoord)(?![a-z])"
    "|密码|密碼|口令|パスワード|"
    "पासवर्ड)"
)
_LINK: Final = (
    r"(?:\s*[:=]\s*|\s+(?:is|was|=|lautet|ist|war|es|era|est|hai)\s*:?\s+|"
    "\\s*(?:是|为|為|は|が|है)\\s*[:\uff1a]?\\s*|\\s+)"
)
# One of these stands in every text that the dearer patterns can match.
_NAMES: Final = (
    *("pass", "pwd", "kennwort", "losungswort", "contrase", "clave", "mdp", "senha", "parola"),
    *("wachtwoord", "schlüssel", "wifi", "wi-fi", "密码", "密碼", "口令", "パスワード", "पासवर्ड"),
)
_CODE_NAMES: Final = (
    *("pin", "geheimzahl", "nip", "code", "código", "combination", "暗証", "密码", "पिन"),
)
_ANSWER_NAMES: Final = ("security", "sicherheits", "seguridad", "secreta", "secrète")
_STATED: Final = re.compile(
    rf"{_NAMED}(?P<between>[^\n.!?:=]{{0,30}}?)(?P<link>{_LINK})[\"'\u300c]?"
    r"(?P<value>[!-~]{4,64})",
    re.IGNORECASE,
)
_WORD_STATED: Final = re.compile(
    r"\bpass(?:word|code|phrase)(?: (?:for|to|of|on) [^\n.!?:=]{1,30}?)?(?: is| was) "
    r"[\"']?(?P<value>[a-z]{5,20})[\"']?(?=\s*(?:[.,;!]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED: Final = re.compile(
    rf"{_NAMED}[^\n.!?:=]{{0,20}}?{_LINK}[\"'\u300c][^\s\"']{{4,64}}[\"'\u300d]", re.IGNORECASE
)
# What is said of a password instead of saying it.
_TELLING: Final = re.compile(
    r"(?:secure|unsafe|simple|complex|random|wrong|incorrect|correct|empty|blank|unknown|different|"
    r"strong|short|right|hidden|public|private|secret|always|never|still|again|there|enough|"
    r"[a-z]+(?:ed|ing|able|ible|ful|less|ten|ost))",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(r"\d+(?:[.,]\d+)?(?:st|nd|rd|th|x|%)?[.,;!?]?")
_NOT_A_VALUE: Final = re.compile(r"^(?:https?://|www\.)|^\d{1,2}[:/]\d|^[(\[]|^[A-Za-z]+'[a-z]+")

_PIN: Final = re.compile(
    r"(?<![a-z-])(?:pin(?:-?nummer|-?code)?|code pin|código pin|geheimzahl|nip)(?![a-z])"
    r"[^\n.!?\d]{0,25}?(?:\s|:|=|#)(?P<digits>\d{4,8})(?![\d\w.,/-]*\d)"
    r"|(?:alarm|door|gate|entry|building|front door|garage|safe|lock|locker|keypad|tür|eingangs)"
    r"[- ]?(?:code|combination|pin)[^\n.!?\d]{0,25}?(?:\s|:|=|#)\d{3,8}(?!\d)"
    r"|(?:código de (?:la )?(?:alarma|puerta)|code (?:de la porte|d'entrée|de l'alarme|du "
    r"portail|de (?:mon|ma|la|le|du) (?:coffre|maison|garage|porte|portail)))"
    r"[^\n.!?\d]{0,20}\d{3,8}(?!\d)"
    "|(?:暗証番号|门禁密码|门锁密码|पिन)[^\n\\d]{0,8}\\d{4,8}(?!\\d)",
    re.IGNORECASE,
)
_POSTAL: Final = re.compile(r"\bpin[- ]?code\b", re.IGNORECASE)
_POSTAL_DIGITS: Final = 6
"""India's postal code, which is called "PIN code", has six digits; a card's has four."""

_SECURITY_ANSWER: Final = re.compile(
    r"security (?:answer|question)[^\n]{0,60}?(?:\bis\b|:|=)|(?:\bis\b|'s)[^\n.]{0,20}security "
    r"answer"
    r"|sicherheits(?:frage|antwort)[^\n]{0,60}?(?:\bist\b|\blautet\b|:)"
    r"|(?:respuesta|pregunta) (?:secreta|de seguridad)[^\n]{0,60}?(?:\bes\b|:)"
    r"|(?:réponse|question) secrète[^\n]{0,60}?(?:\best\b|:)",
    re.IGNORECASE,
)


def no_password(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a password, PIN, door code or security answer that is told."""
    found = any(said.once(holds_password, text) for text in kept_texts(operation))
    return RejectionReason.PASSWORD if found else None


def holds_password(text: str) -> bool:
    """Tell whether a text states a password or the like."""
    text = plain(text)
    lowered = text.casefold()
    if any(name in lowered for name in _NAMES):
        if any(map(_is_password, _STATED.finditer(text))) or _QUOTED.search(text):
            return True
        if any(not _TELLING.fullmatch(found["value"]) for found in _WORD_STATED.finditer(text)):
            return True
    if any(name in lowered for name in _CODE_NAMES) and any(
        _is_pin(text, found) for found in _PIN.finditer(text)
    ):
        return True
    asks = any(name in lowered for name in _ANSWER_NAMES)
    return asks and _SECURITY_ANSWER.search(text) is not None


def _is_password(found: re.Match[str]) -> bool:
    """Tell whether what follows the word could be one: a letter beside a digit or a symbol."""
    value = found["value"]
    if _NOT_A_VALUE.search(value) or _COUNT.fullmatch(value):
        return False
    bare = value.rstrip(".,;:!?)\"'")
    mixed = any(map(str.isdecimal, bare)) and any(map(str.isalpha, bare))
    symbol = any(character in "!@#$%^&*_+=~" for character in value.rstrip(".,;:?)\"'!"))
    stated = bool(found["link"].strip())
    if found["between"].strip() and not stated:
        return False
    return (mixed or (symbol and stated)) and not bare.isdecimal()


def _is_pin(text: str, found: re.Match[str]) -> bool:
    digits = found["digits"]
    if digits is None or len(digits) != _POSTAL_DIGITS:
        return True
    return _POSTAL.search(text, found.start(), found.end()) is None
