"""Orders to drop the rules, to betray them or to approve everything, in further languages.

Portuguese, Italian, Polish, Turkish, Russian, Korean and Arabic. The patterns read folded texts, so
Latin letters have no accents, and the Russian "й" is "и". A word such as "all" or "previous" is
asked for where the order has the form of "he ignores the rules".
"""

from __future__ import annotations

import re
from typing import Final

PATTERNS: Final = (
    # Portuguese
    re.compile(
        r"\b(?:ignor(?:e|a|ar|em)|esquec(?:a|e|er|am)|desconsider(?:e|a|ar)|desobedec(?:a|e|er)|"
        r"descart(?:e|a|ar)|viol(?:e|ar))\b(?=[^.!?\n]{0,40}\b(?:tod[oa]s|anteriores|previas|"
        r"suas|tuas|"
        r"acima|sistema)\b)[^.!?\n]{0,30}\b(?:instrucoes|regras|diretrizes|ordens|restricoes|"
        r"orientacoes|comandos)\b"
        r"|\b(?:revel(?:e|a|ar)|mostr(?:e|a|ar)|exib(?:a|ir))\b[^.!?\n]{0,30}\b(?:prompt|"
        r"instrucoes) "
        r"(?:do |de )?sistema\b"
        r"|\b(?:aprov(?:e|a|ar)|autoriz(?:e|a|ar)|conced(?:a|e|er))\b(?: \w+){0,2} (?:todos|todas|"
        r"qualquer|cada)\b[^.!?\n]{0,20}(?:reembolso|desconto|devoluc|pedido|pagamento)"
    ),
    # Italian
    re.compile(
        r"\b(?:ignor(?:a|are|ate)|dimentic(?:a|are|ate)|trascur(?:a|are)|disattend(?:i|ere)|"
        r"scavalc(?:a|are)|viol(?:a|are))\b(?=[^.!?\n]{0,45}\b(?:tutt[ei]|precedenti|tue|vostre|"
        r"sistema|sopra)\b)[^.!?\n]{0,30}\b(?:istruzioni|regole|direttive|restrizioni|"
        r"linee guida)\b"
        r"|\b(?:rivel(?:a|are)|mostr(?:a|are)|stamp(?:a|are))\b[^.!?\n]{0,30}\b(?:prompt|"
        r"istruzioni) "
        r"(?:di |del )?sistema\b"
        r"|\b(?:approv(?:a|are)|autorizz(?:a|are)|conced(?:i|ere))\b(?: \w+){0,2} (?:tutti|tutte|"
        r"qualsiasi|ogni)\b[^.!?\n]{0,20}(?:rimbors|scont|richiest|pagament)"
    ),
    # Polish: the imperative has a form of its own.
    re.compile(
        r"\b(?:z?ignoruj|zapomnij|pomin|obejdz|złam|nie przestrzegaj)(?:cie|"
        r"my)?\b[^.!?\n]{0,40}\b(?:"
        r"instrukcj|polecen|zasad|reguł|wytyczn|ogranicze)"
        r"|\b(?:ujawnij|pokaz|wyswietl|zdradz)(?:cie)?\b[^.!?\n]{0,30}\b(?:prompt\w* systemow|"
        r"systemow\w+ prompt|instrukcj\w+ systemow)"
        r"|\b(?:zatwierdzaj|zatwierdz|akceptuj|przyznaj|"
        r"przyznawaj)(?:cie)?\b[^.!?\n]{0,20}\b(?:wszystkie|"
        r"kazd\w+)\b[^.!?\n]{0,20}(?:zwrot|rabat|znizk|wniosk|płatnos)"
    ),
    # Turkish: the bare stem of the verb is the imperative.
    re.compile(
        r"\b(?:talimat|kural|yonerge|k\u0131s\u0131tlama|"
        r"komut)\w*[^.!?\n]{0,20}\b(?:yok say(?:\u0131n|\u0131n\u0131z)?|gormezden "
        r"gel(?:in|iniz)?|unut(?:un|unuz)?|dikkate alma(?:y\u0131n|y\u0131n\u0131z)?|"
        r"goz ard\u0131 et(?:in|iniz)?|"
        r"ihlal et(?:in|iniz)?)\b"
        r"|\bsistem (?:istem|prompt|komut|talimat)\w*[^.!?\n]{0,20}\b(?:goster|ac\u0131kla|"
        r"paylas|soyle)(?:in|"
        r"y\u0131n|\u0131n)?\b"
        r"|\b(?:tum|butun|her)\b[^.!?\n]{0,15}\b(?:iade|indirim|talep|"
        r"odeme)\w*[^.!?\n]{0,10}\b(?:onayla|"
        r"kabul et)(?:y\u0131n|in)?\b"
    ),
    # Russian: the imperative has a form of its own.
    re.compile(
        r"\b(?:про)?(?:игнорируи|забудь|отбрось|нарушь|нарушаи|обоиди|не соблюдаи|не следуи|"
        r"не обращаи внимания на)(?:те)?\b[^.!?\n]{0,40}\b(?:инструкци|правил|указани|ограничени|"
        r"директив|установк)"
        r"|\b(?:покажи|раскрои|выведи|сообщи)(?:те)?\b[^.!?\n]{0,30}\b(?:системн)\w+ (?:промпт|"
        r"инструкци|"
        r"подсказк|сообщени)"
        r"|\b(?:одобри|одобряи|подтверди|подтверждаи|утверди)(?:те)?\b[^.!?\n]{0,20}\b(?:все|"
        r"всех|любои|"
        r"любые|кажд\w+)\b[^.!?\n]{0,20}(?:возврат|скидк|запрос|платеж|заявк)"
    ),
    # Korean
    re.compile(
        "(?:이전|모든|모두|기존|너의|네|당신|시스템|위의|지금까지)[^.!?\n]{0,20}"
        "(?:지시|지침|명령|규칙|프롬프트|제한)[^.!?\n]{0,15}"
        "(?:무시(?:해|하[고라세십시]|하도록)|잊어|따르지 마)"
        "|시스템 ?프롬프트[^.!?\n]{0,15}(?:보여|알려|공개|출력)"
        "|모든 (?:환불|할인|요청)[^.!?\n]{0,15}(?:승인|허가)(?:해|하[세십라])"
    ),
    # Arabic
    re.compile(
        "(?:تجاهل|تجاهلي|انس|انسى|تخط|تخطى)[^.!?\n]{0,15}"
        "(?:(?:جميع|كل|كافة)[^.!?\n]{0,10}(?:التعليمات|القواعد|الاوامر|الأوامر|القيود|الارشادات|"
        "الإرشادات)"
        "|(?:تعليماتك|قواعدك|تعليماتكم)"
        "|(?:التعليمات|القواعد|الاوامر|الأوامر|القيود|الارشادات|الإرشادات)[^.!?\n]{0,5}"
        "(?:السابقة|اعلاه|أعلاه))"
        "|(?:اظهر|أظهر|اكشف|اعرض)[^.!?\n]{0,20}(?:موجه|تعليمات|رسالة) النظام"
        "|(?:وافق|اقبل|اعتمد) (?:على )?(?:جميع|كل)[^.!?\n]{0,15}(?:الاسترداد|الخصم|الطلبات|"
        "المدفوعات)"
    ),
)
TRIGGERS: Final = re.compile(
    r"ignor|esque|desconsid|desobed|descart|viol|revel|mostr|exib|aprov|autoriz|conced|dimentic|"
    r"trascur|disattend|scavalc|rivel|stamp|approv|zapomnij|pomin|obejdz|przestrzegaj|ujawnij|"
    r"pokaz|"
    r"wyswietl|zdradz|zatwierdz|akceptuj|przyzna|talimat|yonerge|komut|kural|sistem|iade|indirim|"
    r"talep"
)
"""One of these stands in each pattern's match that is spelt in ASCII: a cheap check first."""
