"""Where a text stops being the user's: pasted e-mails, chats, and long quotations of others.

Only well-defined marks count, so that "From: Pune, To: Mumbai" stays the user's: the header block
of an e-mail (a sender beside a subject, a time of sending or an address), the lines that programs
put above a message that is answered or forwarded, the lines of an exported chat, and, in quotation
marks, what somebody else is said to have said and what is to be translated, shortened or mended.
"""

from __future__ import annotations

import re
from typing import Final

_SENDER: Final = "from|von|de|da|van|发件人|寄件者|差出人|श्रेषक|प्रेषक|от"
_SENT: Final = (
    "sent|gesendet|enviado(?: el)?|envoyé(?: le)?|inviato|verzonden|发送时间|寄件日期|送信日時"
)
_SUBJECT: Final = "subject|betreff|asunto|objet|assunto|oggetto|onderwerp|主题|主旨|件名|विषय|тема"
_OTHER: Final = (
    "to|cc|bcc|date|reply-to|importance|attachments?|an|datum|para|fecha|à|date|a|收件人|"
    "抄送|日期|宛先|日時|सेवा में|दिनांक"
)
_HEADER: Final = re.compile(
    rf"[ \t]*\*{{0,2}}(?:(?P<sender>{_SENDER})|(?P<sent>{_SENT})|(?P<subject>{_SUBJECT})|"
    rf"(?:{_OTHER}))"
    r"\*{0,2}[ \u00a0]?[:\uff1a]\*{0,2}(?:[ \t]*(?P<value>.*))",
    re.IGNORECASE,
)
_HEADERS_MAX: Final = 12
"""Lines of a header block that are looked at."""

_MARKER: Final = re.compile(
    r"[ \t]*(?:[-_=]{2,}[ \t]*)(?:original message|original e-?mail|forwarded (?:message|"
    r"by)[^\n]{0,60}|"
    r"ursprüngliche (?:nachricht|mail)|weitergeleitete (?:nachricht|mail)|mensaje original|"
    r"(?:mensaje )?reenviado|mensaje reenviado|message d'origine|message original|message "
    r"transféré|"
    r"messaggio originale|messaggio inoltrato|mensagem original|"
    "原始邮件|转发的?邮件|转发邮件信息|元のメッセージ|転送されたメッセージ|"
    "転送メッセージ|मूल संदेश)[ \t]*[-_=]{2,}[ \t]*$"
    r"|[ \t]*(?:begin forwarded message|anfang der weitergeleiteten nachricht|"
    r"début du message réexpédié|inicio del mensaje reenviado)[ \u00a0]?:[ \t]*$",
    re.IGNORECASE,
)
_ATTRIBUTION: Final = re.compile(
    r"[ \t]*(?:on [^\n]{5,160} wrote|am [^\n]{5,120} (?:schrieb|hat)[^\n]{0,80}(?: geschrieben)?|"
    r"le [^\n]{5,160} a écrit|el [^\n]{5,160} escribió|il giorno [^\n]{5,160} ha scritto|"
    r"em [^\n]{5,160} escreveu|[^\n]{5,120}(?:写道|寫道|のメール|ने लिखा))[ \u00a0]?[:\uff1a][ "
    r"\t]*$",
    re.IGNORECASE,
)
_ATTRIBUTION_BEGINS: Final = re.compile(r"[ \t]*(?:on|am|le|el|il giorno|em) ", re.IGNORECASE)
_LINE_CHARACTERS_MAX: Final = 240

_CHAT: Final = re.compile(
    r"[ \t]*\u200e?\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ "
    r"\u202f]?[ap]\.?m\.?)?"
    r"\]?(?: -)? [^:\n]{1,60}: ",
    re.IGNORECASE,
)
"""A line of a chat as messengers export it: date, time and who, before what was said."""
_CHAT_LINES_MIN: Final = 2

_QUOTED_MIN: Final = 40
_QUOTED_DENSE_MIN: Final = 16
_QUOTATION: Final = re.compile(
    r"(?P<lead>(?<!\bI )(?<!\bich )(?<!\byo )(?<!\bje )\b(?:wrote|writes|said|says|told (?:me|"
    r"us)|texted|e?-?mailed|replied|posted|"
    r"schrieb|schreibt|sagte|sagt|meinte|antwortete|escribió|escribe|dijo|dice|respondió|"
    r"a écrit|écrit|a dit|dit|répond)(?: (?:me|us|to me|mir|uns))?[ ,:\u00a0]{1,3}"
    "|(?:写道|寫道|说|說|回复)[\uff1a:\uff0c,]?\\s?|(?:ने (?:कहा|लिखा))[ ,:\u0964-]{0,3}"
    ')(?P<open>["\u201c\u201e\u00ab\u300c])(?P<text>[^"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d]{16,5000})(?P<close>["\u201d\u201c\u00bb\u300d])'
    "|(?P<open2>\u300c)(?P<text2>[^\u300c\u300d]{16,5000})(?P<close2>\u300d)(?=と(?:言|書|話|返))"
)

_WORKED_ON: Final = re.compile(
    r"\b(?P<lead>(?:translat|summari[sz]|paraphras|rephras|proofread|rewrit|shorten|ubersetz|"
    r"übersetz|fass|korrigier|umformulier|traduc|traduz|tradui|resum|résum|riassum|corrig|reformul)"
    '[^"\u201c\u201e\u00ab\\n:.!?]{0,60}[:\uff1a]\\s{0,3})'
    '(?P<open>["\u201c\u201e\u00ab])(?P<text>[^"\u201c\u201d\u201e\u00ab\u00bb]{8,5000})'
    '(?P<close>["\u201d\u201c\u00bb])',
    re.IGNORECASE,
)
"""A text that the user wants something done with: "Translate: ...", "Summarise this mail: ..."."""


def without_pasted(text: str) -> str:
    """Return ``text`` without pasted e-mails and chats; the lines that are left stay as is."""
    if ":" not in text and "\uff1a" not in text and "--" not in text:
        return text
    lines = text.splitlines(keepends=True)
    chat = [line for line in lines if line.lstrip(" \t\u200e[")[:1].isdigit() and _CHAT.match(line)]
    if len(chat) >= _CHAT_LINES_MIN:
        said = set(map(id, chat))
        lines = [line for line in lines if id(line) not in said]
    for number, line in enumerate(lines):
        if len(line) <= _LINE_CHARACTERS_MAX and _begins_pasted(lines, number, line):
            return "".join(lines[:number])
    return text if len(chat) < _CHAT_LINES_MIN else "".join(lines)


def without_quotations(text: str) -> str:
    """Return ``text`` with what is not the user's own taken out of its quotation marks.

    That is what others are quoted at length to have said, and what is only to be worked on.
    """
    return _WORKED_ON.sub(r"\g<lead>\g<open>\g<close>", _QUOTATION.sub(_emptied, text))


def _begins_pasted(lines: list[str], number: int, line: str) -> bool:
    bare = line.rstrip("\r\n")
    if _MARKER.match(bare) is not None:
        return True
    if bare.rstrip().endswith((":", "\uff1a")) and _attributes(bare):
        return True
    if _ATTRIBUTION_BEGINS.match(bare) is not None and number + 1 < len(lines):
        # A long one is broken into two lines.
        both = bare + " " + lines[number + 1].strip()
        if both.endswith(":") and len(both) <= _LINE_CHARACTERS_MAX and _attributes(both):
            return True
    found = _HEADER.match(bare)
    return found is not None and _is_header_block(lines, number)


def _attributes(line: str) -> bool:
    return _ATTRIBUTION.match(line) is not None and any(map(str.isdecimal, line))


def _is_header_block(lines: list[str], first: int) -> bool:
    """Tell whether an e-mail's header begins at a line."""
    found: list[re.Match[str]] = []
    for line in lines[first : first + _HEADERS_MAX]:
        header = _HEADER.match(line.rstrip("\r\n"))
        if header is None:
            break
        found.append(header)
    senders = [header for header in found if header["sender"] is not None]
    if len(found) < 2 or not senders:  # noqa: PLR2004 - a sender and what goes with one
        return False
    return any(
        header["subject"] is not None or header["sent"] is not None for header in found
    ) or any("@" in header["value"] for header in senders)


def _emptied(found: re.Match[str]) -> str:
    words = found["text"] or found["text2"]
    least = _QUOTED_MIN if words.isascii() or " " in words else _QUOTED_DENSE_MIN
    if len(words) < least:
        return found[0]
    if found["text2"] is not None:
        return found["open2"] + found["close2"]
    return found["lead"] + found["open"] + found["close"]
