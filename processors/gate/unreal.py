"""How people tell what is not so: wished, nearly done, only thought of, played or told by others.

The patterns read folded texts, so Latin letters have no accents, and the Russian "й" is "и".
"""

from __future__ import annotations

import re
from typing import Final

SUPPOSED: Final = re.compile(
    # Fiction and parts to play
    r"\bin (?:my|the|this|a|our) (?:\w+ )?(?:novel|story|dream|screenplay|script|role-?play|"
    r"campaign|fan ?fic\w*|game|simulation|scenario|film|movie),? (?:i|i'm|we|my name)\b"
    r"|\b(?:write|tell|compose|draft|make up|continue|invent)\b[^.!?\n]{0,40}\b(?:story|tale|poem|"
    r"song|novel|scene|dialogue|monologue|script|role)\b[^.!?\n]{0,40}:"
    r"|\b(?:you are|you're|you be|you play)(?: now)? (?:the|an?|my) (?!ai\b|bot\b|assistant|"
    r"machine|computer|llm|(?:\w+ )?model\b|robot|program|chatbot|genius|star\b|lifesaver)"
    r"(?:\w+ )?\w+,? (?:and|while) (?:i'm|i am|i play|i)\b"
    # Portuguese
    r"|\bse (?:eu )?(?:fosse|tivesse|morasse|vivesse|trabalhasse|estivesse|pudesse|ganhasse)\b"
    r"|\b(?:imagin[ae]|suponha|suponhamos|vamos supor|digamos) que\b|\bquem me dera\b"
    # Italian
    r"|\bse (?:io )?(?:fossi|avessi|vivessi|abitassi|lavorassi|potessi|diventassi|stessi)\b"
    r"|\b(?:immagina|immaginiamo|supponiamo|supponi|mettiamo|facciamo finta|poniamo) (?:che|di)\b"
    r"|\bmagari (?:fossi|avessi|vivessi)\b"
    # Turkish
    r"|\b(?:diyelim ki|farz edelim|varsayal\u0131m|hayal et|dusun ki|keske)\b"
    r"|\b(?:ol|yasa|otur|cal\u0131s|tas\u0131n)sa(?:yd\u0131)?m\b"
    # Russian
    r"|\bесли бы (?:я|мы|у меня)\b|\b(?:представь|представим|допустим|"  # noqa: RUF001 - Russian
    r"предположим)(?:те)?(?: себе)?,? "  # noqa: RUF001 - Russian
    r"(?:что )?(?:я|мы|у меня|мне)\b"  # noqa: RUF001 - Russian
    # Japanese
    "|もし(?!もし|かして|かすると|よければ|よかったら|可能)[^\u3002\uff01\uff1f\n]{0,30}(?:たら|なら|れば)"
    "|(?:だ|い[たる])としたら|たらいいの(?:に|にな)"
)
"""What opens a supposition; the rest of its sentence is supposed."""

UNREAL: Final = re.compile(
    r"\b(?:i|we) (?:really |just |so )?wish (?:that )?(?:i|we)\b|\bif only (?:i|we)\b"
    r"|(?:\bwould|'d) (?:really |just )?(?:love|like|prefer|rather) to (?:live|be|move|work|have|"
    r"own|"
    r"become|study|marry|settle)\b"
    r"|\b(?:maybe|perhaps|possibly),? (?:one day,? )?(?:i|we|i'll|i'd|we'll)\b"
    r"|\b(?:i|we) (?:might|may)\b(?! (?:not|as well)\b)"
    r"|\b(?:i|we)(?:'ve| have| had)? (?:almost|nearly|just about) (?!finish|complet|graduat|retir)"
    r"(?:\w+ed|went|got|became|quit|left|bought|took|had|made|sold)\b"
    r"|\b(?:thought|thinking|dreamt|dreamed|dreaming|toyed|toying|considered|considering)"
    r"(?: (?:about|of|with))? \w+ing\b|\btempted to \w+"
    r"|\bich wunschte\b|\bich wurde gerne? (?!wissen)|\bojala\b|\bme gustaria (?:vivir|ser|tener)\b"
    r"|\bj'aimerais (?:vivre|etre|habiter|avoir)\b|\bvorrei (?:vivere|essere|abitare|avere)\b"
    r"|\bgostaria de (?:morar|viver|ser|ter)\b|\bя (?:бы )?(?:хотел|хотела|мечтаю)\b"
)
"""What makes its own clause a wish, a possibility, or something that only nearly was."""

PAST: Final = re.compile(r"\b(?:i|we) used to (?!it\b)")
STILL: Final = re.compile(
    r"(?:(?:the )?user |they |he |she )?(?:lives?|works?|is|are|has|have|owns?|eats?|drinks?|"
    r"smokes?|"
    r"plays?|drives?|studies|study|teach(?:es)?|runs?)\b"
    r"(?!.*\b(?:used|former\w*|past|no longer|ago|previous\w*|stopped|ex)\b)"
)
"""How a statement begins that tells of now; "used to live" is told of the past."""

TOLD_AS_SUCH: Final = re.compile(
    r"\b(?:would|may|might|maybe|perhaps|possib|could|plan|aim|interest|keen|goal|intend|think|"
    r"thought|"
    r"thinking|almost|nearly|tempted|prefer|likes?|loves?|rather|considers?|dreams?|mochte|wunsch|"
    r"gern|quiere|gustaria|ojala|veut|aimerait|vorrebbe|gostaria|quer|istiyor|хоч|хотел|мечта)|たい"
)
"""Words by which a statement itself tells a wish or a possibility as one."""

_OTHERS: Final = (
    r"\b(?:he|she|people|someone|somebody|everyone|everybody|my (?:best )?(?:friend|brother|"
    r"sister|ex|"
    r"neighbou?r|colleague|mom|mum|mother|dad|father|wife|husband|boyfriend|girlfriend|roommate|"
    r"cousin)s?)(?: (?:just|always|once|often|jokingly))? (?:said|says?|claims?|claimed|thinks?|"
    r"thought|believes?|insists?|joked|wrote|writes)(?: that)?"
)
OTHERS_SPEECH: Final = re.compile(rf"{_OTHERS}[ ,:]{{0,3}}[\"']?(?:$|(?=(?:i|i'm|i've|my|we)\b))")
"""What others say of the user, or of themselves."""

EXPERT: Final = re.compile(
    r"\b(?:doctor|dr|physician|nurse|dentist|allergist|therapist|specialist|hospital|clinic|lawyer|"
    r"tests?|manager|boss)\b"
)
"""Who is believed when they tell the user something: "the doctor said I'm allergic to nuts"."""

LOOK: Final = re.compile(
    r"wish|if only|'d |would |maybe|perhaps|possibly|might|\bmay |almost|nearly|just about|thought|"
    r"thinking|dream|toy|consider|tempted|used to|you are|you're|you be|you play|\bin (?:my|the|"
    r"this|a|"
    r"our) |write|tell |compose|draft|make up|continue|invent|"
    r"\b(?:am|should|would|could|will|shall|do|did|was) i |"
    r"said|say|claim|think|believe|insist|joke|wrote|\bse |imagin|supon|digamos|quem me|immag|"
    r"suppon|"
    r"mettiamo|facciamo|poniamo|magari|diyelim|farz|hayal|dusun|keske|sa(?:yd.)?m\b|ojala|gustaria|"
    r"aimerais|vorrei|gostaria|wunschte|wurde gern"
)
"""One of these stands in each of the above that is spelt in ASCII: a cheap check first."""
