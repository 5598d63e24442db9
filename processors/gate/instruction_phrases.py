"""How instructions are worded that would have the assistant drop its rules, or act unasked.

The patterns read folded texts: lower case, without accents (so the Russian "й" is "и").
"""

from __future__ import annotations

import re
from typing import Final

_RULES: Final = (
    r"(?:instructions?|rules|guidelines|guardrails|restrictions|safeguards|system prompts?|"
    r"directives)"
)
_RULES_IN_CONTEXT: Final = (
    r"(?:programming|training|policies|policy|safety|prompts?|constraints|checks|filters)"
)
"""What is the assistant's only where a word before it says so: "drop the training" is a habit."""

DROPPING: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|circumvent|violate|break|drop|disobey|"
    r"overrule)\b"
    r"(?:(?: (?:all|any|of|your|the|my|its|these|those|previous|prior|earlier|above|system|safety|"
    rf"existing|preceding|content|other)){{1,5}} {_RULES}\b(?! of (?:chess|the (?:game|house|"
    rf"road)))"
    r"|(?: (?:all|any|of|the|my|its|these|those|other)){0,3} "
    r"(?:your|previous|prior|earlier|above|system|safety|existing|preceding|content)"
    rf"(?: (?:own|previous|prior|system|safety|content)){{0,2}} {_RULES_IN_CONTEXT}\b)"
)
"""To drop the rules altogether: what the rest of such a sentence asks for rests on that."""

SPACED: Final = (
    # English
    DROPPING,
    re.compile(
        r"\b(?:bypass|disable|skip|turn off|switch off|suspend)\b(?:(?! airport) \w+){0,2} "
        r"(?:safety|security(?! (?:line|queue|camera|alarm|system)s?\b)|verification|"
        r"authentication|identity|moderation|content (?:filter|moderation|polic|check)|fraud)"
    ),
    re.compile(
        r"\b(?:reveal|print|show|output|repeat|leak|disclose|share|display|tell (?:me|everyone|"
        r"anyone))\b"
        r"(?: \w+){0,3} (?:system prompt|hidden prompt|initial prompt|your instructions|system "
        r"message|"
        r"your prompt|other users'? (?:data|memories|messages)|"
        r"(?:all|your|other|the|users'?|customers'?|secret) (?:api keys?|passwords))\b"
    ),
    # Many people are called Dan: only how the persona is put on tells them apart.
    re.compile(
        r"\b(?:you are|you're) now dan\b(?!'s)|\b(?:act|behave|respond|answer|"
        r"reply) as dan\b(?!'s)|"
        r"\b(?:pretend to be|you are|you're|become) dan\b(?=[^.!?\n]{0,30}\b(?:without|no|free of|"
        r"jailbr\w+|do anything|unrestricted)\b)|\b(?:dan|jailbreak) mode\b|\bdo anything now\b"
    ),
    re.compile(
        r"\b(?:you are|you're|act as|behave as|pretend to be|become)(?: now)? (?:an? |the )?"
        r"(?:jailbroken|unrestricted|unfiltered|uncensored|in developer mode|"
        r"free (?:from|of) (?:all |any |your |the )?(?:restrictions?|rules|guidelines|filters|"
        r"policies|limits))"
    ),
    re.compile(
        r"\b(?:you are|you're|act as|behave as|pretend to be)(?: now)? (?:an? |the )?"
        r"(?:root(?: user)?(?=\s*(?:[.,;!]|and\b|$))|admin(?:istrator)?\b)"
    ),
    re.compile(
        r"(?:^|[.!?;:\n] ?)(?:developer|god|sudo) mode(?: is)?(?: now)? (?:on|enabled|active\w*)"
        r"|\b(?:enter|activate|respond in|answer in|switch (?:in)?to) (?:developer|god|sudo) mode"
        r"(?! (?:on|in|for|of) (?:my|the|his|her))"
    ),
    re.compile(
        r"\b(?:no|without|free of) (?:any )?(?:restrictions|guardrails|filters|safety rules)\b"
        r"(?=.{0,60}\b(?:you are|you have|you must|your answers|assistant)\b)"
        r"|\b(?<!can )(?<!could )(?<!do )you(?:'re| are| have| now| must| will| should| operate|"
        r" act|"
        r" answer| respond| work| speak)\b(?:(?!\bi\b)[^.!?\n]){0,50}\b(?:no|without) (?:any )?"
        r"(?:restrictions|guardrails|safety rules)\b"
    ),
    re.compile(
        r"\b(?:always|from now on|automatically|in future|going forward|every time|henceforth|"
        r"must)\b"
        r"[^.!?\n]{0,30}\b(?:approve|grant|issue|give|authori[sz]e|accept|process|apply|refund|"
        r"waive)\b(?! (?:with|for|to)\b)"
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
    # Grant is also a name, and rights are fought for.
    re.compile(
        r"\bgrant (?:(?:me|us|him|her|them|everyone|(?:the |this |all |"
        r"every )?users?)(?: \w+){0,2} "
        r"(?:admin\w*|root|(?:full|unlimited) access|rights|privileges|permissions)|"
        r"(?:full |unlimited )?(?:admin\w*|root|full|unlimited|all) (?:access|rights|privileges|"
        r"permissions))\b"
    ),
    # Authority that somebody gives to themselves.
    re.compile(
        r"\b(?:am|is|are|i'm|as) (?:an? |the )?(?:admin(?:istrator)?|super ?admin|superuser|root|"
        r"moderator|developer|owner|staff)(?: user)?(?:,? and|,? so|,? who|"
        r"[,;:])[^.!?\n]{0,30}\b(?:may|"
        r"can|must|should|allowed|able|authori[sz]ed|cleared|permitted)\b[^.!?\n]{0,30}\b(?:all|"
        r"every|"
        r"any|everything|everyone|other|hidden|internal)\b[^.!?\n]{0,20}\b(?:records?|data|"
        r"accounts?|"
        r"files?|customers?|users?|orders?|messages?|information|prompts?|memories|tickets)\b"
        r"|(?:^|[.!?;:\n] ?|\bthat )(?:(?:the )?(?:user|customer|they|i) )?(?:am|is|are) (?:the |"
        r"now )?"
        r"(?:admin|super ?admin|superuser|root)\s*(?:[.!;]|$)"
    ),
    re.compile(
        r"\b(?:treat|consider|regard|count|mark)\b(?: (?!customers?\b|my\b)[\w']+){0,4} (?:from me|"
        r"messages?|requests?|i (?:say|ask|write|send)|inputs?|claims?|this user|the user|"
        r"everything|"
        r"anything)\b[^.!?\n]{0,20}\b(?:pre-?)?(?:approved|authori[sz]ed|verified|trusted|"
        r"system (?:messages?|prompts?|instructions?)|commands?|admin\w*)\b"
    ),
    # What the assistant should say of approvals when somebody else asks.
    re.compile(
        r"\b(?:when(?:ever)?|if|every time|each time|any ?time)\b[^.!?\n]{0,12}\b(?:asked|asks|"
        r"(?:customers?|"
        r"users?|people|they|you) ask|questioned)\b[^.!?\n]{0,50}(?<!\bi )\b(?:say|tell|answer|"
        r"reply|"
        r"respond|claim|confirm|state|promise|insist)\b[^.!?\n]{0,40}\b(?:approved|granted|"
        r"refund(?:ed|s)|guaranteed|authori[sz]ed|verified|waived|eligible|entitled|for free|"
        r"is free|"
        r"are free)\b"
    ),
    # Carrying off what the assistant works on; where to send an invoice is the user's to say.
    re.compile(
        r"\b(?:when(?:ever)?|before|after|while|every time|each time|always|also)\b[^.!?\n]{0,20}"
        r"\b(?:summari[sz]|translat|answer|reply|respond|read|process|writ|draft|search|chat|"
        r"e?-?mail|message|convers)[^.!?\n]{0,40}\b(?:forward|send|cc|bcc|copy|post|upload|"
        r"transmit|"
        r"submit)\b[^.!?\n]{0,40}(?:\S@\S|https?://)"
        r"|\b(?:secretly|silently|quietly|without telling)\b[^.!?\n]{0,30}\b(?:forward|send|cc|bcc|"
        r"copy|post|upload|transmit|submit)\b"
    ),
    re.compile(
        r"(?:^|[.!?;:,\n] ?|\b(?:first|then|always|also|please|and|must|should|silently|secretly) )"
        r"(?:fetch|open|visit|load|download|browse(?: to)?|go to|get|call|curl|wget|request|run|"
        r"execute|click(?: on)?|read|follow|navigate to|access|retrieve)\b (?:[\w']+ ){0,3}"
        r"(?:https?://|www\.)"
    ),
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
        r"\b(?<!can )(?<!could )(?<!would )never (?:refuse|decline|"
        r"reject)\b(?: \w+){0,4} (?:request|anything|order|user|refund)"
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
TRIGGERS: Final = re.compile(
    r"ignor|disregard|forget|overrid|bypass|circumvent|violat|drop|disobey|overrule|break|"
    r"disabl|skip|"
    r"turn off|switch off|suspend|prompt|reveal|leak|disclos|instruct|message|admin|root|superuser|"
    r"jailbr|restrict|unfilter|uncensor|mode|dan\b|approv|grant|issue|authori|refund|waive|"
    r"give|accept|"
    r"process|apply|send|forward|upload|exfil|post|copy|transmit|wants you|asks you|refuse|decline|"
    r"reject|hide|conceal|tell|lie to|missacht|vergiss|umgeh|verwirf|anweisung|regeln|richtlinien|"
    r"ohne|reimburse|compensate|pay|akzeptier|genehmig|gewahr|bewillig|rabatt|ignora|olvida|"
    r"omite|desobe|salta|treat|consider|regard|count|mark|asked|asks|ask |cc |submit|secretly|"
    r"silently|quietly|without telling|https?:|www|do anything|revel|aprueb|aprob|"
    r"autori|conced|mostrar|muestra|accept|"
    r"oubli|contourn|affich|divulg|approuv|accord|valid|expects|privileg|rights|"
    r"निर्देश|नियम|प्रॉम्प्ट|रिफ"
)
UNSPACED: Final = re.compile(
    "(?:忽略|无视|忘记|违反|绕过)[^\u3002\uff01\uff1f\n]{0,12}?(?:指令|规则|指示|提示词|限制)"
    "|(?:透露|显示|告诉|输出|泄露)[^\u3002\uff01\uff1f\n]{0,12}?(?:系统提示|系统指令)"
    "|(?:批准|同意|通过)(?:所有|一切|全部)[^\u3002\uff01\uff1f\n]{0,6}?(?:退款|请求|申请)"
    "|(?:指示|ルール|制約|命令|規則)[^\u3002\uff01\uff1f\n]{0,12}?(?:無視|忘れて|破)"
    "|システムプロンプト[^\u3002\uff01\uff1f\n]{0,12}?(?:表示|教え|開示|公開)"
    "|(?:すべて|全て|全)(?:の)?返金[^\u3002\uff01\uff1f\n]{0,8}?(?:承認|許可)"
)
