"""How people tell what would be if something were that is not: "if I won, I would buy a castle".

The patterns read folded texts, so Latin letters have no accents. Each needs both halves, the
condition and what would follow: "if I eat nuts I get hives" tells what is.
"""

from __future__ import annotations

import re
from typing import Final

_SOMEBODY: Final = r"(?:i|we|it|they|he|she|someone|somebody|money|(?:my|our|the|a) \w+)"
_PAST: Final = (
    r"(?:(?:ever|just|suddenly|somehow|only|really|finally) )?(?:\w{2,20}ed|were|was|weren't|"
    r"wasn't|didn't|hadn't|had|won|got|found|went|knew|bought|came|became|lost|left|made|did|lived|spoke|"
    r"ran|took|met|gave|felt|sold|grew|kept|paid|could|quit)"
)
_WOULD: Final = (
    # Not what is put politely, or is said in earnest: "I'd say I'm shy", "I would like tea".
    r"\b(?:i|we)(?: would|'d)\b"
    r"(?! (?:(?:really|just|also|still|rather) )?(?:like|love to know|prefer|appreciate|rather|say|"
    r"call|describe|recommend|suggest|guess|argue|be (?:grateful|happy|glad)|had)\b)"
)
_ASKED: Final = r"(?<!ask )(?<!asked )(?<!know )(?<!see )(?<!wonder )(?<!wondered )"
_TO_CHOOSE: Final = r"(?! had to (?:choose|pick|say|guess|describe|name|decide)\b)"

COUNTERFACTUAL: Final = re.compile(
    # English
    rf"{_ASKED}\bif (?:only )?{_SOMEBODY}{_TO_CHOOSE} {_PAST}\b[^.!?\n]{{0,80}}?{_WOULD}"
    rf"|{_WOULD}[^.!?\n]{{1,80}}?{_ASKED}\bif (?:only )?{_SOMEBODY}{_TO_CHOOSE} {_PAST}\b"
    # German
    r"|\b(?:wenn|falls) (?:ich|wir|es|man|jemand|(?:mein|unser)\w* \w+)\b[^.!?\n]{1,80}"
    r"\bwurden? (?:ich|wir)\b"
    r"|\b(?:ich|wir) wurden?\b(?! (?:mich|uns|gern) )[^.!?\n]{1,80}"
    r"\b(?:wenn|falls) (?:ich|wir|es|man|jemand)\b[^.!?\n]{1,60}"
    r"\b(?:wurden?|hatten?|waren?|konnten?)\b"
    # Dutch
    r"|\bals (?:ik|we|wij|mijn \w+)\b[^.!?\n]{1,80}\bzou(?:den)? (?:ik|we|wij)\b"
    r"|\b(?:ik|we|wij) zou(?:den)?\b(?! graag)[^.!?\n]{1,80}\bals (?:ik|we|wij|mijn \w+)\b"
    # Spanish, Portuguese
    r"|\b(?:si|se) (?:(?:yo|me|nos|eu) )?(?!\w{0,4}(?:compara|prepara|separa|declara|repara)\b)"
    r"\w{2,20}(?:ara|iera|ase|iese|asse|esse|isse)(?:mos)?\b[^.!?\n]{1,80}\b\w{3,20}ria(?:mos)?\b"
    r"|\b(?!gustaria|gostaria)\w{3,20}ria(?:mos)?\b[^.!?\n]{1,80}\b(?:si|se) (?:(?:yo|me|nos|eu) )?"
    r"(?!\w{0,4}(?:compara|prepara|separa|declara|repara)\b)"
    r"\w{2,20}(?:ara|iera|ase|iese|asse|esse|isse)(?:mos)?\b"
    # French
    r"|\bsi (?:je |j'|on |nous )[^.!?\n]{0,30}\b\w{2,20}(?:ais|ait|ions)\b[^.!?\n]{1,60}"
    r"(?:\bj'|\b(?:je|on|nous) (?:\w{1,4}[ '])?)\w{2,20}r(?:ais|ait|ions)\b"
    r"|(?:\bj'|\bje (?:\w{1,4}[ '])?)(?!aimerais)\w{2,20}rais\b[^.!?\n]{1,60}"
    r"\bsi (?:je |j'|on |nous )[^.!?\n]{0,30}\b\w{2,20}(?:ais|ait|ions)\b"
    # Italian
    r"|\bse (?:io )?\w{2,20}(?:assi|essi|issi|assimo|essimo|issimo)\b[^.!?\n]{1,80}"
    r"\b\w{2,20}(?:rei|remmo)\b"
    r"|\b(?!vorrei)\w{2,20}(?:rei|remmo)\b[^.!?\n]{1,80}"
    r"\bse (?:io )?\w{2,20}(?:assi|essi|issi|assimo|essimo|issimo)\b"
    # Polish and Turkish have forms of their own for it
    r"|\bgdyby(?:m|smy)\b"
    r"|\b\w{2,20}(?:sa|se)(?:yd[\u0131i])?m\b[^.!?\n]{1,60}\b\w{2,20}[aeiu\u0131]rd[\u0131i]m\b"
    # Korean, Arabic, Hindi
    "|만약[^.!?\n]{0,30}다면"
    "|(?<!\\w)لو (?:كنت|كان|ربحت|فزت|ملكت|عشت)"
    "|अगर (?:मैं|मेरे)[^\u0964?]{1,40}ता तो"
)
"""A condition that is not so, and what would follow from it, in either order."""

TOLD: Final = re.compile(r"\bwould\b(?! (?:love|like|prefer|rather)\b)")
"""How a statement tells such a thing as such, which is no fact either; a wish is one."""

EXPOSED: Final = re.compile(
    r"(?<!what )\b(?:if|wenn|falls|als|si|se)\b(?![^.!?\n]{0,80}(?:allerg|alerg))[^,.!?\n]{1,20}\b"
    r"(?:eat|ate|drink|drank|touch|touched|tasted?|smelled|smelt|swallow(?:ed)?|inhaled|asse|tranke|"
    r"beruhrte|com\w*|beb\w*|mange\w*|buvais|mangia\w*|bevessi|eten|drinken)\b"
    "|(?:如果|要是)我?[^\uff0c,\u3002\uff1f?]{0,6}[吃喝碰闻]"
    "|もし[^\u3001\u3002\uff1f?]{0,15}(?:食べ|飲|触)"
)
"""What a body may react to: "if I ate peanuts I would go into shock" tells an allergy."""

STATED: Final = re.compile(
    r"\b(?:but|because|since|though|although) "
    r"(?=(?:i'm|i am|i (?:have|live|work|own|currently|already|actually)|my \w+ (?:is|are|has))\b)"
)
"""Where something that holds begins behind a supposition, in the same sentence."""

LOOK: Final = re.compile(r"'d |\bwould |\bwurde|\bzou|\bs[ie] |gdyby|[aeiu]rdim\b")
"""One of these stands in each of the above that is spelt in ASCII: a cheap check first."""
