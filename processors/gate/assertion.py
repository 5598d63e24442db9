"""Whether the user asserted what is filed as a fact, or asked, supposed, joked or quoted it.

Only clear marks count: the beginning of a question about oneself, the words that open a
supposition, a joke that is called one, direct speech of somebody else. An episode tells what was
said or asked, and is left alone.
"""

from __future__ import annotations

import re
from typing import Final

from processors.about import canonical_about
from processors.gate import counterfactual, unreal
from processors.gate.reading import sentences
from processors.gate.said import Basis, Said
from schemas.events import RejectionReason
from schemas.memory import ABOUT_USER, MemoryKind
from schemas.proposals import Action, Operation, Speaker
from schemas.slots import Slot

_SUPPOSITION: Final = re.compile(
    # English
    r"\bif (?:i|we) (?:were|was to|had(?! to (?:choose|pick|say|guess|describe|name|decide)\b)|"
    r"lived|worked|owned|became|moved|weren't|did|could)\b"
    r"|(?<!can )(?<!could )\b(?:imagine|suppose|supposing|pretend|assuming|let's say|"
    r"hypothetically,?|what if)(?: that)? (?:i|we|i'm|i've|my)\b(?! surprise)"
    # German
    r"|\bwenn ich\b[^.?!,;]{0,60}\b(?:ware|hatte|wurde|konnte|wohnte|lebte|besasse)\b"
    r"|\b(?:ware|hatte) ich\b[^.?!;]{0,60}[,?]"
    r"|\b(?:angenommen|gesetzt den fall|stell dir vor|mal angenommen|nehmen wir an),? "
    r"(?:dass )?(?:ich|wir|mein)"
    # Spanish
    r"|\bsi (?:yo )?(?:fuera|fuese|tuviera|tuviese|viviera|viviese|trabajara|estuviera|pudiera)\b"
    r"|\b(?:imagina|imaginate|supon|supongamos|imaginemos|pongamos) que\b"
    # French
    r"|\bsi (?:j'etais|j'avais|j'habitais|je vivais|je travaillais|je devenais|je possedais)\b"
    r"|\b(?:imagine|imagines|imaginons|supposons|suppose|admettons) que (?:je |j'|mon |ma )"
    # Chinese, Japanese, Hindi
    "|(?:假如|假设|如果|要是|假使|倘若)我"
    "(?!有空|有时间|没记错|没弄错|记得没错)"
    "|もし(?:私|僕|俺|も(?!し))|仮に(?:私|僕|俺)"
    "|मान लीजिए|मान लो"
    "|अगर (?:मैं|मेरे)[^\u0964?]{0,60}"
    "होत"
)
"""How a supposition about oneself begins; what follows in the same sentence is supposed."""

_OWN_QUESTION: Final = re.compile(
    r"(?:so |and |but |hey |hmm |well |also |ok )?(?:"
    r"(?:am|should|would|could|will|shall|do|did|was) i\b"
    r"(?! (?:need|have to|(?:ever |already |forget to )?(?:mention|tell|say)))"
    r"|do you think (?:i|i'm|that i)\b|is it true that i\b"
    r"|(?:bin|soll|sollte|konnte|werde|war|habe|muss|darf) ich\b"
    r"|\u00bf?(?:soy|deberia|debo|tengo que|podria|estoy)\b"
    r"|(?:suis-je|devrais-je|dois-je|ai-je|pourrais-je|est-ce que je (?:suis|dois|devrais))\b"
    r")"
)
_INVERTED: Final = re.compile(
    r"[\s\"'(]{0,3}(?:hey |hmm |well |ok )?(?:am|should|shall|do|did) i\b"
    r"(?! (?:need|have to|(?:ever |already |forget to )?(?:mention|tell|say)))"
)
_OWN_QUESTION_UNSPACED: Final = re.compile(
    "我(?:应该|该不该|是不是|要不要|"
    "应不应该|是否|算)|我[^\uff0c,]{1,20}吗$"
    "|(?:私|僕|俺)は[^\u3001]{1,30}(?:ですか|ますか|"
    "でしょうか|べきですか)"
    "|क्या (?:मैं|मुझे|मुझको)"
)

_JOKE: Final = re.compile(
    r"\b(?:just kidding|just joking|only joking|only kidding|i'm kidding(?!(?: you)? not)|"
    r"i'm joking|kidding!|"
    r"jk|nur spass|war nur (?:ein )?(?:witz|scherz|spass)|kleiner scherz|es broma|"
    r"era broma|estoy bromeando|je plaisante|je rigole|c'est une blague|c'etait une blague)\b"
    r"|(?<!\S)/s(?!\S)"
    "|开玩笑的|开个玩笑|逗你的|冗談です|"
    "なんちゃって|मजाक था|"
    "मज़ाक था|मजाक कर रह|"
    "मज़ाक कर रह"
)
_JOKING: Final = (
    "kidding",
    "joking",
    "jk",
    "spass",
    "witz",
    "scherz",
    "broma",
    "plaisante",
    "rigole",
    "blague",
    "/s",
)
_SUPPOSING: Final = (
    *("if i ", "if we ", "imagin", "suppos", "pretend", "assuming", "let's say", "hypothetically"),
    *("what if", "wenn ich", "ware ich", "hatte ich", "angenommen", "gesetzt", "stell dir"),
    *("nehmen wir an", "si ", "supon", "pongamos", "admettons"),
)
"""One of these stands in every joke and supposition that is spelt in ASCII: a cheap check first."""

_JOKE_CHARACTERS_MAX: Final = 40
"""A sentence of its own that calls the one before a joke is short."""

_SPEECH: Final = re.compile(
    r"\b(?:said|says|wrote|writes|told me|asked|replied|texted|sagte|sagt|schrieb|schreibt|meinte|"
    r"fragte|dijo|dice|escribio|pregunto|a dit|dit|a ecrit|repond|repondit|kaha|"
    "कहा)[ ,:]{0,3}[\"']\\s?$"
    '|(?:说|写道|問|问)[\uff1a:\uff0c,]?["\u300c]$'
)
_INTRODUCTION: Final = 40
_NEAR: Final = 500
"""Characters on either side of a quote, in which the marks of doubt are looked for first."""

_ENDING: Final = re.compile(r"[!?\n]|\.(?!\d)")

_PLACES_MAX: Final = 8
"""Places at which a quote is looked at, of those at which it stands."""

_WINDOW: Final = 2_000
"""Characters around a quote that are looked at: sentences are shorter."""

_OPENERS: Final = re.compile(r"[,;:\u2014\uff0c\u3001]|(?<=\w) - ")
_WORDS: Final = re.compile(r"\b(?:wish|hope|want|would|if|dream|imagin|suppos|ask|wonder|consider)")


def asserted(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a fact whose evidence is a question, a supposition, a joke or somebody's speech."""
    if (
        said.basis is not Basis.TURN
        or operation.said_by is not Speaker.USER
        or operation.kind is not MemoryKind.SEMANTIC
        or operation.action not in {Action.ADD, Action.UPDATE}
        or _is_told_as_such(operation.content.casefold())
    ):
        return None
    own = said.reading(said.own).folded
    quote = said.reading(operation.quote).folded
    start = own.find(quote) if quote else -1
    if start < 0:
        return None
    content = said.reading(operation.content).folded
    for _ in range(_PLACES_MAX):
        if _is_asserted(own, start, start + len(quote), operation, content):
            return None
        start = own.find(quote, start + len(quote))
        if start < 0:
            break
    return RejectionReason.NOT_ASSERTED


def _is_told_as_such(content: str) -> bool:
    """Tell whether a statement itself tells a wish, a question or a condition as one."""
    return _WORDS.search(content) is not None and counterfactual.TOLD.search(content) is None


def _is_asserted(own: str, start: int, end: int, operation: Operation, content: str) -> bool:
    """Tell whether the words between ``start`` and ``end`` are asserted where they stand."""
    if _is_plain(own, start, end):
        return True
    sentence, after = _around(own, start, end)
    if _is_joke(own, sentence, after):
        return False
    if canonical_about(operation.about) == ABOUT_USER and _is_others_speech(own, start, end):
        return False
    if _is_unreal(own, sentence[0], start, end, content):
        return False
    if not _is_reaction(own, sentence, operation.slot) and _is_supposed(own, sentence, start, end):
        return False
    return not _is_question(own, sentence, start)


def _is_reaction(own: str, sentence: tuple[int, int], slot: Slot) -> bool:
    """Tell whether a sentence tells, as what would happen or does, what a body does not bear."""
    if slot not in {Slot.ALLERGY, Slot.NEED}:
        return False
    is_asked = own[slice(*sentence)].rstrip().endswith(("?", "\uff1f"))
    return not is_asked and counterfactual.EXPOSED.search(own, *sentence) is not None


def _is_supposed(own: str, sentence: tuple[int, int], start: int, end: int) -> bool:
    """Tell whether a supposition rules the words that follow it, or they begin with it."""
    for pattern in (_SUPPOSITION, unreal.SUPPOSED, counterfactual.COUNTERFACTUAL):
        supposed = pattern.search(own, sentence[0], min(sentence[1], end + _INTRODUCTION))
        if (
            supposed is not None
            and supposed.start() < min(end, start + _INTRODUCTION)
            and not _is_stated(own, supposed.end(), start)
        ):
            return True
    return False


def _is_stated(own: str, supposed_end: int, start: int) -> bool:
    """Tell whether something that holds begins between a supposition and a quote."""
    # A match ends in front of what holds, which may be the quote itself.
    stated = counterfactual.STATED.search(own, supposed_end, start + _INTRODUCTION)
    return stated is not None and stated.end() <= start


def _is_others_speech(own: str, start: int, end: int) -> bool:
    """Tell whether words about the user are somebody else's, who is not asked for the facts."""
    if _SPEECH.search(own[max(0, start - _INTRODUCTION) : start]) is not None:
        return True
    before = own[max(0, start - _INTRODUCTION) : start]
    speech = unreal.OTHERS_SPEECH.search(before) or unreal.OTHERS_SPEECH.match(own, start, end)
    if speech is None or (speech.string is before and speech.end() < len(before.rstrip())):
        return False
    return unreal.EXPERT.search(own, max(0, start - _NEAR), start) is None


def _is_unreal(own: str, sentence_start: int, start: int, end: int, content: str) -> bool:
    """Tell whether the clause of a quote is a wish, a possibility, or past where now is stated."""
    if unreal.TOLD_AS_SUCH.search(content) is not None:
        return False
    for pattern in (unreal.UNREAL, unreal.PAST):
        if pattern is unreal.PAST and unreal.STILL.match(content) is None:
            continue
        for found in pattern.finditer(own, sentence_start, end):
            # It rules the quote if nothing parts the two, or all of the quote is its clause.
            ruled = own[found.end() : start]
            if found.end() > start:
                # The mark at its end parts it from nothing: many quote the whole sentence.
                ruled = own[found.end() : end].rstrip(_SENTENCE_ENDS)
            if _CLAUSE_END.search(ruled) is None:
                return True
    return False


_SENTENCE_ENDS: Final = " .!\n"
_CLAUSE_END: Final = re.compile(
    r"[,;:.!?\n]| - |\b(?:but|because|since|so|although|though|while|and (?:i|i'm|my|we|now))\b"
)


def _is_joke(own: str, sentence: tuple[int, int], after: tuple[int, int]) -> bool:
    """Tell whether a sentence is called a joke, by itself or by a short one behind it."""
    if _JOKE.search(own[sentence[0] : sentence[1]]) is not None:
        return True
    short = after[1] - after[0] <= _JOKE_CHARACTERS_MAX
    return short and _JOKE.search(own[after[0] : after[1]]) is not None


def _is_plain(own: str, start: int, end: int) -> bool:
    """Tell cheaply of most statements that nothing near them could speak against them."""
    near = own[max(0, start - _NEAR) : end + _NEAR]
    if not near.isascii() or any(mark in near for mark in _JOKING):
        return False
    if unreal.LOOK.search(near) is not None or counterfactual.LOOK.search(near) is not None:
        return False
    if any(mark in near for mark in _SUPPOSING) or '"' in own[max(0, start - 2) : start]:
        return False
    ending = _ENDING.search(own, max(start, end - 1))
    return "'" not in own[max(0, start - 2) : start] and (ending is None or ending[0] != "?")


def _is_question(own: str, sentence: tuple[int, int], start: int) -> bool:
    text = own[sentence[0] : sentence[1]]
    if not text.rstrip("\"') ").endswith(("?", "\uff1f", "か", "か\u3002")):
        # "Do I love it!" is none, "am I allergic to nuts or what" is.
        return not text.rstrip().endswith("!") and _INVERTED.match(own, sentence[0]) is not None
    clause = start
    for found in _OPENERS.finditer(own, sentence[0], start):
        clause = found.end()
    if clause == start:
        clause = sentence[0]
    opening = own[clause : sentence[1]].lstrip(" \"'\u00bf(")
    skipped = start - (sentence[1] - len(opening))
    asked = _OWN_QUESTION.match(opening) or _OWN_QUESTION_UNSPACED.match(
        opening.rstrip("?\uff1f\u3002 ")
    )
    return asked is not None and skipped <= asked.end() + 1


def _around(own: str, start: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the sentences that hold the words, as one stretch, and the one that follows."""
    shift = max(0, start - _WINDOW)
    spans = [(first + shift, last + shift) for first, last in sentences(own[shift : end + _WINDOW])]
    holding = [number for number, span in enumerate(spans) if span[0] < end and span[1] > start]
    if not holding:
        return (start, end), (end, end)
    first, last = holding[0], holding[-1]
    following = spans[last + 1] if last + 1 < len(spans) else (end, end)
    return (spans[first][0], spans[last][1]), following
