"""Instructions dressed as facts: to drop the rules, to betray them, to act for the user unasked.

How the assistant should answer ("briefly", "in metric units") is the user's to say and passes, and
so does speaking of prompts as a subject. What would break out of the block of notes never passes.
"""

from __future__ import annotations

import re
from typing import Final

from processors.gate.said import Said
from processors.gate.texts import kept_texts
from processors.marks import TAGS
from schemas.events import RejectionReason
from schemas.injection import BLOCK_END, BLOCK_START
from schemas.proposals import Action, Operation

_MARKUP: Final = re.compile(
    rf"{re.escape(BLOCK_START)}|{re.escape(BLOCK_END)}|</?\s?memledger-notes"
    r"|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
    r"|</?(?:system|system-reminder|system_prompt|instructions?|assistant)\s?/?>"
    r"|\[/?inst\]|<</?sys>>|^#{1,4} ?(?:system|instruction)s?:",
    re.IGNORECASE | re.MULTILINE,
)
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""The flags of England, Scotland and Wales, which are spelt with tag characters (UTS 51)."""

_SELECTORS: Final = re.compile("[︀-️\U000e0100-\U000e01ef]{3,}")
"""Variation selectors shape the character before them, and one or two are enough for that; a row of
them carries hidden bytes."""

_RULES: Final = (
    r"(?:instructions?|rules|guidelines|guardrails|policies|policy|restrictions|safety|safeguards|"
    r"programming|training|system prompts?|prompts?|directives|constraints|checks|filters)"
)
_SPACED: Final = (
    # English
    re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass|circumvent|violate|break|drop|disobey|"
        r"overrule)\b"
        rf"(?: (?:all|any|of|your|the|my|its|these|those|previous|prior|earlier|above|system|"
        rf"safety|"
        rf"existing|preceding|content|other)){{1,5}} {_RULES}\b"
    ),
    re.compile(
        r"\b(?:bypass|disable|skip|turn off|switch off|suspend)\b(?: \w+){0,2} "
        r"(?:safety|security|verification|authentication|identity|moderation|content|fraud)\b"
    ),
    re.compile(
        r"\b(?:reveal|print|show|output|repeat|leak|disclose|share|display|tell (?:me|everyone|"
        r"anyone))\b"
        r"(?: \w+){0,3} (?:system prompt|hidden prompt|initial prompt|your instructions|system "
        r"message|"
        r"your prompt|other users'? (?:data|memories|messages)|api keys?|passwords)\b"
    ),
    re.compile(
        r"\b(?:you are|you're|act as|behave as|pretend to be|become)(?: now)? (?:an? |the )?"
        r"(?:dan\b|jailbroken|unrestricted|unfiltered|uncensored|in developer mode|free from|"
        r"root\b|"
        r"admin(?:istrator)?\b)"
    ),
    re.compile(
        r"\b(?:developer|god|jailbreak|dan|sudo) mode\b(?: \w+){0,3} (?:on|enabled|active\w*)"
    ),
    re.compile(
        r"\b(?:no|without|free of) (?:any )?(?:restrictions|guardrails|filters|safety rules)\b"
        r"(?=.{0,60}\b(?:you|dan|assistant)\b)|\byou\b[^.!?\n]{0,60}\b(?:no|without) (?:any )?"
        r"(?:restrictions|guardrails|safety rules)\b|\bis dan\b"
    ),
    re.compile(
        r"\b(?:always|from now on|automatically|in future|going forward|every time|henceforth|"
        r"must)\b"
        r"[^.!?\n]{0,30}\b(?:approve|grant|issue|give|authori[sz]e|accept|process|apply|refund|"
        r"waive)\b"
        r"(?: \w+){0,3} (?:refunds?|discounts?|requests|credits?|claims|payments?|transfers?|"
        r"access|"
        r"vouchers?|fees|upgrades?|returns|withdrawals?)\b"
    ),
    re.compile(
        r"\b(?:approve|grant|issue|authori[sz]e)\b(?: \w+){0,2} (?:all|every|any) (?:\w+ )?"
        r"(?:refunds?|discounts?|requests|credits?|claims|payments?|transfers?)\b"
    ),
    re.compile(
        r"\b(?:has|have|having|with|got) (?:full |super)?(?:admin(?:istrator)?|root|superuser|"
        r"staff|"
        r"developer|elevated) (?:privileges?|rights|access|permissions?)\b(?=[^\n]{0,60}"
        r"\b(?:skip|grant|allow|bypass|verif|ignore|without|so )|\s*[.!]?$)"
    ),
    re.compile(r"\bgrant\b(?: \w+){0,3} (?:admin|root|full access|rights)\b"),
    re.compile(
        r"\b(?:send|forward|post|upload|transmit|exfiltrate|copy)\b[^.!?\n]{0,40}\b(?:chat|"
        r"conversation|"
        r"messages?|history|data|memories|everything|transcript)\b[^!?\n]{0,20}(?:https?://|"
        r"\bto \S+@)"
    ),
    re.compile(
        r"\b(?:user|customer|owner|admin|developer) (?:wants|asks|instructs|orders|requires|"
        r"authori[sz]es?|allows?|expects) (?:you|the assistant|the ai|the model|the bot) to "
        r"(?:ignore|reveal|bypass|disregard|disable|approve|hide|lie|obey|leak|never refuse|"
        r"grant|transfer|send)"
    ),
    re.compile(
        r"\bnever (?:refuse|decline|reject)\b(?: \w+){0,4} (?:request|anything|order|user|refund)"
    ),
    re.compile(
        r"\b(?:hide|conceal|do not tell|don't tell|never tell|lie to)\b[^.!?\n]{0,20}\b(?:the user|"
        r"users|customers?)\b"
    ),
    re.compile(
        r"\b(?:refund|reimburse|compensate|pay|approve|accept|grant)\b(?: \w+){0,4} "
        r"(?:automatically|without (?:any )?(?:verification|verifying|checking|checks?|review|"
        r"questions?|asking|approval|limits?))\b"
    ),
    # German
    re.compile(
        r"\b(?:ignorier\w*|missacht\w*|vergiss|umgeh\w*|verwirf)\b(?: \w+){0,4} "
        r"(?:anweisung(?:en)?|regeln|richtlinien|instruktionen|vorgaben|sicherheits\w+)\b"
        r"(?! (?:meines|meiner|des|der|in|im|von)\b)(?<!ich )"
        r"|\b(?:alle|bisherigen|vorherigen|deine)\b[^.!?\n]{0,30}\b(?:anweisungen|regeln|"
        r"richtlinien) "
        r"(?:ignorieren|missachten|umgehen|vergessen)\b"
        r"|\b(?:zeig\w*|verrat\w*|offenbar\w*|gib)\b[^.!?\n]{0,30}\b(?:system-?prompt|"
        r"systemanweisung\w*)\b"
        r"|\b(?:ab jetzt|ab sofort|kunftig|immer|"
        r"genehmige\w*)\b[^.!?\n]{0,40}\b(?:ruckerstattung\w*|"
        r"erstattung\w*|rabatte?|gutschrift\w*)\b[^.!?\n]{0,20}\b(?:genehmig\w*|gewahr\w*|"
        r"bewillig\w*)"
        r"|\bgenehmig\w*\b[^.!?\n]{0,30}\b(?:alle|jede)\b[^.!?\n]{0,10}(?:ruckerstattung|"
        r"erstattung|rabatt)"
        r"|\b(?:alle|jede[nsr]?)\b[^.!?\n]{0,30}\b(?:ohne (?:prufung|nachfrage|ruckfrage|"
        r"kontrolle))\b"
        r"|\b(?:jede[nsr]?|alle)\b[^.!?\n]{0,20}(?:ruckgabe\w*|antrag|antrage|anfragen?|"
        r"zahlungen?)\b"
        r"[^.!?\n]{0,20}\b(?:akzeptier\w*|genehmig\w*|bewillig\w*|freigeb\w*)"
        r"|\bdu bist (?:jetzt|nun|ab jetzt) (?:dan|ohne einschrankung|uneingeschrankt|im "
        r"entwicklermodus)"
    ),
    # Spanish
    re.compile(
        r"\b(?:ignora|ignore|ignorar|olvida|omite|desobedece|salta(?:te)?)\b(?: \w+){0,3} "
        r"(?:instrucciones|reglas|normas|directrices|restricciones)\b"
        r"|\b(?:revela\w*|muestra\w*|mostrar|ensena\w*|imprim\w*)\b[^.!?\n]{0,30}\b(?:prompt|"
        r"instrucciones) "
        r"(?:del |de )?sistema"
        r"|\b(?:aprueba|autoriza|concede|aprobar|autorizar|conceder)\b(?: \w+){0,2} (?:todos|todas|"
        r"cualquier|cada)\b[^.!?\n]{0,20}(?:reembolsos?|descuentos?|devoluci\w+|pagos?)"
        r"|\beres ahora\b[^.!?\n]{0,20}\b(?:dan|sin restricciones)\b"
    ),
    # French
    re.compile(
        r"\b(?:ignore[rz]?|oublie[rz]?|contourne[rz]?|desobeis)\b(?: \w+){0,3} "
        r"(?:instructions|regles|consignes|directives|restrictions)\b(?! (?:de|du|des) mon)"
        r"|\b(?:revele|reveler|montre|affiche|divulgue)\w*\b[^.!?\n]{0,30}\b(?:prompt|"
        r"instructions|message) "
        r"(?:du )?systeme"
        r"|\b(?:approuve|accorde|autorise|valide|accepte)\w*\b[^.!?\n]{0,20}\b(?:tous|toutes|"
        r"chaque)\b"
        r"[^.!?\n]{0,15}(?:remboursements?|remises?|reductions?|demandes)"
        r"|\btu es (?:maintenant|desormais)\b[^.!?\n]{0,20}\b(?:dan|sans restriction)"
    ),
    # Hindi
    re.compile(
        "(?:निर्देशों|नियमों|निर्देश|नियम)[^\u0964!?\n]{0,30}?"
        "(?:अनदेखा|नज़?रअंदाज|नजरअंदाज़|भूल जा)"
        "|सिस्टम प्रॉम्प्ट[^\u0964!?\n]{0,20}?(?:दिखा|बता)"
        "|सभी (?:रिफंड|रिफ़ंड)[^\u0964!?\n]{0,20}?(?:मंजूर|स्वीकार)"
    ),
)
_TRIGGERS: Final = re.compile(
    r"ignor|disregard|forget|overrid|bypass|circumvent|violat|drop|disobey|overrule|break|"
    r"disabl|skip|"
    r"turn off|switch off|suspend|prompt|reveal|leak|disclos|instruct|message|admin|root|superuser|"
    r"jailbr|restrict|unfilter|uncensor|mode|dan\b|approv|grant|issue|authori|refund|waive|"
    r"give|accept|"
    r"process|apply|send|forward|upload|exfil|post|copy|transmit|wants you|asks you|refuse|decline|"
    r"reject|hide|conceal|tell|lie to|missacht|vergiss|umgeh|verwirf|anweisung|regeln|richtlinien|"
    r"ohne|reimburse|compensate|pay|akzeptier|genehmig|gewahr|bewillig|rabatt|ignora|olvida|"
    r"omite|desobe|salta|revel|aprueb|aprob|"
    r"autori|conced|mostrar|muestra|accept|"
    r"oubli|contourn|affich|divulg|approuv|accord|valid|expects|privileg|rights|"
    r"निर्देश|नियम|प्रॉम्प्ट|रिफ"
)
_UNSPACED: Final = re.compile(
    "(?:忽略|无视|忘记|违反|绕过)[^\u3002\uff01\uff1f\n]{0,12}?(?:指令|规则|指示|提示词|限制)"
    "|(?:透露|显示|告诉|输出|泄露)[^\u3002\uff01\uff1f\n]{0,12}?(?:系统提示|系统指令)"
    "|(?:批准|同意|通过)(?:所有|一切|全部)[^\u3002\uff01\uff1f\n]{0,6}?(?:退款|请求|申请)"
    "|(?:指示|ルール|制約|命令|規則)[^\u3002\uff01\uff1f\n]{0,12}?(?:無視|忘れて|破)"
    "|システムプロンプト[^\u3002\uff01\uff1f\n]{0,12}?(?:表示|教え|開示|公開)"
    "|(?:すべて|全て|全)(?:の)?返金[^\u3002\uff01\uff1f\n]{0,8}?(?:承認|許可)"
)
_OWN_HABIT: Final = re.compile(
    r"(?:^|[.!?;\n,]\s*|\band )(?:i|we|my (?:boss|manager|team|company)|ich|wir|je|nous)\b"
    r"(?! (?:want|need|order|command|ask|instruct|demand|expect)\b)"
)


def no_instruction(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse what would have the assistant drop its rules, and what breaks out of the notes."""
    for text in kept_texts(operation, said):
        if _MARKUP.search(text) is not None or _hides(text):
            return RejectionReason.INSTRUCTION
    if operation.action is Action.RETRACT:
        return None
    if _orders(said.reading(operation.content).folded):
        return RejectionReason.INSTRUCTION
    quote = said.reading(operation.quote).folded
    if operation.quote != operation.content and _orders(quote):
        return RejectionReason.INSTRUCTION
    return None


def _hides(text: str) -> bool:
    """Tell whether a text holds characters that carry what nobody sees."""
    if text.isascii():
        return False
    return TAGS.search(_FLAG.sub("", text)) is not None or _SELECTORS.search(text) is not None


def _orders(folded: str) -> bool:
    if _UNSPACED.search(folded) is not None:
        return True
    if _TRIGGERS.search(folded) is None:
        return False
    for pattern in _SPACED:
        for found in pattern.finditer(folded):
            clause = max(folded.rfind(mark, 0, found.start()) for mark in ".!?;\n") + 1
            # "I approve all refunds" tells of the user's own work.
            if _OWN_HABIT.match(folded[clause : found.start()].lstrip()) is None:
                return True
    return False
