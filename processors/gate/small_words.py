"""Words that tell nothing by themselves: assents, thanks and greetings, and what joins other words.

Left out is what is a word of its own in another language of the lists ("son", "die", "war").
"""

from __future__ import annotations

import re
from typing import Final

from processors.gate.phrases import word_set
from processors.gate.reading import fold

NEGATIONS: Final = frozenset(
    fold(
        "no nope nah not don dont didn isn aren never wrong false nein nicht kein keine nie falsch "
        "nunca falso non ne pas jamais faux mai nao nunca errado nee niet नहीं ना गलत нет не"
    ).split()
)
"""Words that deny: they bear no statement out, but they may withdraw one."""

_ASSENTS: Final = word_set(
    # English
    "yes yeah yep yup ya yea ok okay okey k sure right alright correct true exactly absolutely",
    "definitely certainly totally indeed precisely agree agreed thanks thank thx ty cheers please",
    "pls hello hi hey bye goodbye welcome good great nice fine cool perfect awesome excellent",
    "amazing wonderful lovely lol haha wow hmm sounds sense makes got understood sorry course lot",
    "much help helpful helped appreciate appreciated see know guess think suppose really again",
    # German
    "ja jo jep genau stimmt richtig korrekt klar sicher naturlich danke dankeschon bitte hallo",
    "tschuss gut super toll prima perfekt okay einverstanden verstanden gerne gern schon vielen",
    "dank recht hast haben ach achso passt",
    # Spanish, Portuguese, Italian
    "si vale claro exacto exactamente correcto cierto gracias muchas mucho hola adios bien",
    "perfecto genial bueno acuerdo favor verdad supuesto entendido sim certo exato obrigado",
    "obrigada muito ola tchau otimo perfeito esatto giusto grazie mille ciao bene perfetto",
    "certamente prego capito",
    # French, Dutch
    "oui ouais exactement exact merci beaucoup bonjour salut revoir bien parfait super accord",
    "daccord entendu compris raison vrai plait inderdaad klopt juist precies dank bedankt goed",
    # Hindi, Russian
    "हाँ हां जी ठीक सही बिल्कुल धन्यवाद शुक्रिया नमस्ते अच्छा haan theek shukriya dhanyavaad",
    "да точно верно конечно спасибо пожалуйста привет хорошо ладно понятно отлично",
)
_JOINING: Final = word_set(
    # English
    "a an the and or but so to of in on at for from with by as it its that this these those there",
    "is am are was were be been being do does did has have had having will would can could i me my",
    "im ive you your yours he she him his her they them their we us our m s re ve ll d t too also",
    "very just then than if what which who how when where why up out about user users",
    # German
    "der das den dem ein eine einen einem einer eines und oder aber in im an auf fur von vom mit",
    "zu zum zur bei nach aus ist bin bist sind ich du er sie es wir ihr mich mir dich dir mein",
    "meine meinen meinem meiner dein deine auch ganz sehr nur nutzer dass",
    # Spanish, Portuguese, Italian
    "el la los las un una unos unas y o pero de del en con por para que se su sus mi mis tu tus yo",
    "me te lo le al es soy eres esta estoy muy tambien usuario eu e os da dos no na em com um uma",
    "meu minha voce sono il gli di che io ho ha",
    # French, Dutch
    "le les des du au aux et ou mais dans sur avec pour par que qui ce cet cette ces je tu il elle",
    "nous vous ils j l c qu mon ma mes ton ta tes son votre est suis es ai as tres aussi",
    "utilisateur de het een en van ik jij je mijn is ben met op",
    # Hindi, Russian
    "मैं मुझे मेरा मेरी मेरे में का की के को से पर और है हैं हूँ हूं था थी यह वह तो भी आप आपका आपकी ने",
    "я мне мой моя мы вы ты он она и в на это что",
) - frozenset({"son", "no"})

SMALL: Final = frozenset(map(fold, (_ASSENTS | _JOINING) - {"no"})) | NEGATIONS
"""Folded words that say nothing of what a statement is about."""

FIRST_PERSON: Final = frozenset(
    fold(
        "i im ive we ich wir yo soy estoy tengo nosotros je j nous io sono ho eu sou estou tenho "
        "ik wij मैं मुझे мне я мы"
    ).split()
)
"""Words with which one speaks of oneself, without those that only ask for something ("tell me")."""

_DENSE_SMALL: Final = re.compile(
    "谢谢|謝謝|多谢|感谢|不客气|好的|好吧|好啊|是的|是啊|对的|对啊|没错|没问题|当然|可以|明白|知道了|"
    "嗯|哦|啊|呢|吗|吧|呀|哈|你好|您好|再见|请|麻烦|太好了|很好|不错|"
    "ありがとうございます|ありがとう|どうも|はい|うん|ええ|そうです|そうだ|その通り|もちろん|"
    "わかりました|分かりました|了解|お願いします|こんにちは|です|ます|ました|でした|ですか|"
    "[我你您他她它的了是在有也很和就都这那个们么不没对好"
    "私僕俺はがをにでとものへやねよかなくださいしたてるう]"
)
"""What Chinese and Japanese assents, thanks and joining words are made of."""


def dense_rest(folded: str) -> str:
    """Return what is left of a folded text in Chinese or Japanese without its small words."""
    return _DENSE_SMALL.sub("", folded)
