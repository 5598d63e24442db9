"""Bringing a user's words onto one line that shows all it holds and obeys nothing."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties: what a renderer shows nothing
# for, tag characters and bidirectional controls among it; besides, the anchors of interlinear
# annotations. Joiners, which Persian and the scripts of India need (and families of emoji), and the
# two selectors of emoji or text style are looked at where they stand.
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS: Final = frozenset("\u200c\u200d")
_SELECTORS: Final = frozenset("\ufe0e\ufe0f")
_KEYCAPS: Final = frozenset("0123456789#*")  # of ASCII, what an emoji is made of
_ASCII_MAX: Final = "\x7f"

_BRACKETS: Final = str.maketrans(
    {
        "<": "&lt;",
        "\ufe64": "&lt;",
        "\uff1c": "&lt;",
        ">": "&gt;",
        "\ufe65": "&gt;",
        "\uff1e": "&gt;",
    }
)
"""Whatever compatibility normalisation makes an angle bracket of is one."""

_XML_TEXT: Final = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        # Spelt by number, so that a parser gives back the very character.
        **{bracket: f"&#x{ord(bracket):X};" for bracket in "\ufe64\ufe65\uff1c\uff1e"},
    }
)
_XML_ATTRIBUTE: Final = _XML_TEXT | {ord('"'): "&quot;", ord("'"): "&apos;"}


def one_line(text: str) -> str:
    """Return ``text`` on one line, without what a reader does not see.

    A joiner stays between two characters beyond ASCII, and a selector behind one that it can
    change: elsewhere they show nothing, and a row of them can spell what nobody reads.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    kept: list[str] = []
    for character in _UNSEEN.sub("", text):
        before = kept[-1] if kept else " "
        if character in _SELECTORS:
            if _takes_selector(before):
                kept.append(character)
        elif character in _JOINERS:
            if before > _ASCII_MAX and before not in _JOINERS:
                kept.append(character)
        elif shown := _shown(character):
            if before in _JOINERS and shown <= _ASCII_MAX:
                kept.pop()
            kept.append(shown)
    if kept and kept[-1] in _JOINERS:
        kept.pop()
    # Splitting also ends at the separators of lines and paragraphs.
    return " ".join("".join(kept).split())


def _takes_selector(character: str) -> bool:
    if character > _ASCII_MAX:
        return character not in _SELECTORS and character not in _JOINERS
    return character in _KEYCAPS


def _shown(character: str) -> str:
    """Return what is kept of one character: nothing of surrogates and of what no character is."""
    category = unicodedata.category(character)
    if category in {"Cc", "Zs", "Zl", "Zp"}:
        # Blanks and not nothing, so that no two words grow together.
        return " "
    if category == "Cs" or (category == "Cn" and _is_noncharacter(ord(character))):
        return ""
    return character


def _is_noncharacter(code: int) -> bool:
    # Unicode 16, section 23.7: two at the end of each plane, and 32 in the Arabic forms.
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noqa: PLR2004 - as above


def escaped(text: str) -> str:
    """Return ``text`` on one line, without unseen characters, its angle brackets escaped.

    An ampersand stays as it is: what stands here is for a model to read, never to be unescaped.
    """
    line = one_line(text)
    if line.isascii() and "<" not in line and ">" not in line:
        return line  # as most are, and looking each character up takes longer than all the rest
    return line.translate(_BRACKETS)


def as_xml_text(text: str) -> str:
    """Return ``text`` on one line as character data of XML 1.0; a parser gives the line back."""
    return one_line(text).translate(_XML_TEXT)


def as_xml_attribute(text: str) -> str:
    """Return ``text`` on one line as the value of an attribute in quotes."""
    return one_line(text).translate(_XML_ATTRIBUTE)
