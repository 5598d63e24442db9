"""Passwords, PINs, door codes and security answers, stated in words."""

from __future__ import annotations

import re
from typing import Final

from processors.gate.said import Said
from processors.gate.texts import bare, kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_NAMED: Final = (
    r"(?:(?<![a-z0-9])(?:p[a@4][s$5]{2}(?:[- ]?w[o0]rd|code|phrase|wd)?|pwd?|passwort|kennwort|"
    r"losungswort|"
    r"contraseña|contrasena|clave(?: de acceso| del? wi-?fi)?|wlan-?schlüssel|wi-?fi[- ]?key|"
    r"netzwerkschlüssel|code wifi|clé wifi|mot de passe|mdp|senha|palavra-passe|parola\w{0,3}|"
    r"wachtwoord|şifre\w{0,4}|has(?:ło|łem|ła)|lösenord\w{0,3}|парол\w{1,3}|mật khẩu)(?![a-z])"
    "|密码|密碼|口令|パスワード|"
    "पासवर्ड|비밀번호|패스워드|"
    "كلمة (?:المرور|السر)|كلمه السر)"
)
_COPULA: Final = r"(?:is|was|=|lautet|ist|war|es|era|est|hai|è|é|este|är|to|jest|là|это|есть|هي|هو)"
_LINK: Final = (
    rf"(?:\s*(?:[:=\u2192]|->?|=>)\s*|'s\s+|\s+{_COPULA}\s*:?\s+|"
    "\\s*(?:是|为|為|は|が|है|는|은|가|이)\\s*[:\uff1a]?\\s*|\\s+)"
)
_LETTERS: Final = "!-~\u00c0-\u024f\u0370-\u052f"
"""What a password is written with: ASCII, and the letters of scripts that put spaces."""
# One of these stands in every text that the dearer patterns can match.
_NAMES: Final = (
    *("pass", "pwd", "kennwort", "losungswort", "contrase", "clave", "mdp", "senha", "parola"),
    *("wachtwoord", "schlüssel", "wifi", "wi-fi", "密码", "密碼", "口令", "パスワード", "पासवर्ड"),
    *("pw", "p@", "p4", "pa$", "pa5", "şifre", "hasł", "lösenord", "парол", "mật khẩu"),
    *("비밀번호", "패스워드", "كلم"),
)
_CODE_NAMES: Final = (
    *("pin", "geheimzahl", "nip", "code", "código", "combination", "暗証", "密码", "पिन"),
    *("codice", "пин", "비밀번호", "핀", "الرقم السري", "kod", "код"),
)
_ANSWER_NAMES: Final = ("security", "sicherheits", "seguridad", "secreta", "secrète")
_NAME: Final = re.compile(_NAMED, re.IGNORECASE)
_VALUE: Final = re.compile(
    rf"(?=(?P<link>{_LINK})[\"'\u300c]?(?P<value>[{_LETTERS}]{{4,64}}))", re.IGNORECASE
)
_BETWEEN: Final = re.compile(r"[^\n.!?:=]{0,30}")
_VALUE_READ: Final = 120
"""Characters behind a name in which its value is looked for."""
_MINE: Final = (
    r"(?:my|the|our|his|her|meine?|das|unser|mi|la|el|mon|le|notre|la mia|il mio|a minha|minha|"
    r"mijn|mitt|moje|мой|наш)"
)
_SAID_BEFORE: Final = re.compile(
    rf"(?<![{_LETTERS}])[\"']?(?P<value>[{_LETTERS}]{{4,64}}?)[\"']?"
    rf"(?P<link>\s+(?:{_COPULA}|as|als|como|comme|come|-)\s+)"
    rf"{_MINE}\s+(?:[\w-]{{1,15}}\s+){{0,2}}{_NAMED}"
    r"(?![ -]?(?:manager|app|generator|hint|policy|field|page|safe|vault|program)"
    r"|\s+(?:was|is|got|has|had)\b)",
    re.IGNORECASE,
)
_BESIDE_ADDRESS: Final = re.compile(
    rf"[\w.+-]{{1,64}}@[\w-]{{1,63}}\.[\w.]{{2,63}}\s*[/|:;]\s*(?P<value>[{_LETTERS}]{{6,64}})"
    rf"|(?:login|log in|credentials|zugangsdaten)[^\n@]{{0,20}}?[\w.+-]{{1,64}}@"
    rf"[\w-]{{1,63}}\.[\w.]{{2,63}}[\s,]+(?P<after>[{_LETTERS}]{{6,64}})",
    re.IGNORECASE,
)
_WORD_STATED: Final = re.compile(
    r"\bpass(?:word|code|phrase)(?: (?:for|to|of|on) [^\n.!?:=]{1,30}?)?(?: is| was) "
    r"[\"']?(?P<value>[a-z]{5,20})[\"']?(?=\s*(?:[.,;!]|$))"
    rf"|{_NAMED}(?: (?:für|para|pour|per|for) [^\n.!?:=]{{1,30}}?)?(?: lautet:?\s+|\s*[:=]\s*)"
    r"[\"']?(?P<told>[^\W\d_]{4,20})[\"']?(?=\s*(?:[.,;!]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_NOUN_STATED: Final = re.compile(
    r"(?:[Pp]asswort|[Kk]ennwort)(?: für [^\n.!?:=]{1,30}?)? (?:ist|war) "
    r"[\"']?(?P<value>[A-ZÄÖÜ][a-zäöüß]{4,20})[\"']?(?=\s*(?:[.,;!]|$))",
    re.MULTILINE,
)
_QUOTED: Final = re.compile(
    rf"{_NAMED}[^\n.!?:=]{{0,20}}?{_LINK}[\"'\u300c][^\s\"']{{4,64}}[\"'\u300d]", re.IGNORECASE
)
# What is said of a password instead of saying it.
_TELLING: Final = re.compile(
    r"(?:secure|unsafe|simple|complex|random|wrong|incorrect|correct|empty|blank|unknown|different|"
    r"strong|short|right|hidden|public|private|secret|always|never|still|again|there|enough|"
    r"required|needed|unchanged|none|pflicht|quatsch|mist|vergessen|abgelaufen|geändert|falsch|"
    r"richtig|sicher|unsicher|schwach|stark|lang|kurz|unbekannt|geheim|"
    r"oublié|perdu|incorrecte?|inconnue?|olvidada|débil|segura|incorrecta|errata|dimenticata|"
    r"esquecida|incorreta|забыт|забыла?|неверный|неизвестен|"
    r"[a-z]+(?:ed|ing|able|ible|ful|less|ten|ost))",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(
    r"\d+(?:[.,]\d+)?(?:st|nd|rd|th|x|%|km|mi|ft|cm|mm|kg|hrs?|min|gb|mb|-?[\u0430-\u044f]{1,2})?[.,;!?]?",
    re.IGNORECASE,
)
_DIGITS_STATED: Final = re.compile(
    rf"(?!pass\b){_NAMED}[^\n.!?:=\d]{{0,20}}?(?:\s*[:=]\s*|\s+{_COPULA}\s*:?\s+|"
    "\\s*(?:是|为|為|は|が|है|는|은)\\s*[:\uff1a]?\\s*)"
    r"[\"']?(?!(?:19|20)\d\d(?!\d))(?P<value>\d{4,20})[\"']?(?=\s*(?:[.,;!\n]|$|है|です|입니다|"
    r"and\b|und\b|y\b|et\b))"
    "|(?:密码|密碼|パスワード|비밀번호)\\s*[:\uff1a]?\\s*\\d{4,20}(?![\\d年년])"
    r"|\bpassphrase\s*[:=]\s*(?:[a-z]{2,12}\s+){3,}[a-z]{2,12}",
    re.IGNORECASE,
)
"""Digits alone, where nothing follows that would make a count or a year of them."""
_NOT_A_VALUE: Final = re.compile(r"^(?:https?://|www\.)|^\d{1,2}[:/]\d|^[(\[]|^[A-Za-z]+'[a-z]+")

_PIN_NAME: Final = (
    r"(?:(?<![a-z-])(?:pin(?:-?nummer|-?code)?|code pin|c[oó]digo pin|codice pin|geheimzahl|nip|"
    r"pin-?kod\w{0,2}|пин(?:-?код\w{0,2})?)(?![a-z\u0430-\u044f]))"
)
_LOCK_NAME: Final = (
    r"(?:(?:alarm|door|gate|entry|building|front door|garage|safe|lock|locker|keypad|tür|eingangs)"
    r"[- ]?(?:code|combination|pin))"
)
_PIN_DIGITS: Final = r"(?:\d{4,8}|\d\d[ -]\d\d|\d(?:[ -]\d){3,7})(?![\d\w.,/-]*\d)"
_PIN: Final = re.compile(
    rf"{_PIN_NAME}[^\n.!?\d]{{0,25}}?(?:\s|:|=|#)(?P<digits>{_PIN_DIGITS})"
    rf"|(?<![\d\w.,/-])(?P<first>\d{{4,8}}|\d(?:[ -]\d){{3,7}})\s+{_COPULA}\s+{_MINE}\s+"
    rf"(?:[\w-]{{1,15}}\s+){{0,2}}(?:{_PIN_NAME}|{_LOCK_NAME})(?![ -]?(?:code|area))"
    rf"|{_LOCK_NAME}[^\n.!?\d]{{0,25}}?(?:\s|:|=|#)\d{{3,8}}(?!\d)"
    r"|(?:código de (?:la )?(?:alarma|puerta)|codice (?:dell'allarme|del cancello|della porta)|"
    r"код (?:от )?(?:домофона|двери|подъезда|сигнализации)|"
    r"code (?:de la porte|d'entrée|de l'alarme|du "
    r"portail|de (?:mon|ma|la|le|du) (?:coffre|maison|garage|porte|portail)))"
    r"[^\n.!?\d]{0,20}\d{3,8}(?!\d)"
    "|(?:暗証番号|门禁密码|门锁密码|पिन|핀 ?번호|"
    "الرقم السري)[^\n\\d]{0,8}\\d{4,8}(?!\\d)",
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
    found = any(said.once(holds_password, text) for text in kept_texts(operation, said))
    return RejectionReason.PASSWORD if found else None


def holds_password(text: str) -> bool:
    """Tell whether a text states a password or the like."""
    text = bare(text)
    lowered = text.casefold()
    if any(name in lowered for name in _NAMES):
        if any(_is_followed(text, name.end()) for name in _NAME.finditer(text)) or _QUOTED.search(
            text
        ):
            return True
        if any(map(_is_password, _SAID_BEFORE.finditer(text))) or _DIGITS_STATED.search(text):
            return True
        if any(map(_is_word, (*_WORD_STATED.finditer(text), *_NOUN_STATED.finditer(text)))):
            return True
    if "@" in text and any(map(_is_beside_address, _BESIDE_ADDRESS.finditer(text))):
        return True
    if any(name in lowered for name in _CODE_NAMES) and any(
        _is_pin(text, found) for found in _PIN.finditer(text)
    ):
        return True
    asks = any(name in lowered for name in _ANSWER_NAMES)
    return asks and _SECURITY_ANSWER.search(text) is not None


def _is_followed(text: str, end: int) -> bool:
    """Tell whether a password follows a name that ends there, whatever words stand between."""
    between = _BETWEEN.match(text, end)
    last = end if between is None else between.end()
    return any(
        _is_password(found, bare_link=not text[end : found.start()].strip())
        for found in _VALUE.finditer(text, end, end + _VALUE_READ)
        if found.start() <= last
    )


def _is_password(found: re.Match[str], *, bare_link: bool = True) -> bool:
    """Tell whether what follows the word could be one: a letter beside a digit or a symbol."""
    value = found["value"]
    if _NOT_A_VALUE.search(value) or _COUNT.fullmatch(value):
        return False
    bare = value.rstrip(".,;:!?)\"'")
    mixed = any(map(str.isdecimal, bare)) and any(map(str.isalpha, bare))
    symbol = any(character in "!@#$%^&*_+=~" for character in value.rstrip(".,;:?)\"'!"))
    stated = bool(found["link"].strip())
    if not bare_link and not stated:
        return False
    return (mixed or (symbol and stated)) and not bare.isdecimal()


def _is_word(found: re.Match[str]) -> bool:
    """Tell whether a plain word is the password, and not what is said of it."""
    return _TELLING.fullmatch(found[found.lastgroup or 0]) is None


def _is_beside_address(found: re.Match[str]) -> bool:
    """Tell whether what stands beside an e-mail address is a password: no address, no path."""
    value = found[found.lastgroup or 0].rstrip(".,;:?)\"'")
    if ("@" in value.strip("@") and "." in value) or "//" in value:
        return False
    return any(map(str.isdecimal, value)) and any(map(str.isalpha, value))


def _is_pin(text: str, found: re.Match[str]) -> bool:
    digits = found["digits"] or found["first"]
    if digits is None or len(digits) != _POSTAL_DIGITS:
        return True
    return _POSTAL.search(text, found.start(), found.end()) is None
