"""Claims about what the operator owes, in further languages: Polish, Portuguese, Italian, Russian.

The patterns read folded texts, so Latin letters have no accents, and the Russian "й" is "и".
"""

from __future__ import annotations

import re
from typing import Final

_PL_BENEFIT: Final = (
    r"(?:zwrot|rabat|znizk|darmow|za darmo|gratis|bezpłatn|rekompensat|odszkodowani|bon\b|"
    r"voucher|kupon|%)"
)
_PT_BENEFIT: Final = (
    r"(?:reembolso|desconto|gratis|gratuit|devolucao|estorno|indenizacao|cupo[mn]|isencao|%|"
    r"sem custo|dinheiro de volta)"
)
_IT_BENEFIT: Final = (
    r"(?:rimbors|scont|gratis|gratuit|risarciment|buono|coupon|omaggio|%|senza costi|"
    r"soldi indietro)"
)
_RU_BENEFIT: Final = (
    r"(?:возврат|вернут|верн[её]те|скидк|бесплатн|компенсаци|купон|даром|%|возмест|возмещени)"
)
PATTERNS: Final = (
    # Polish: the ending of the verb tells who promised.
    re.compile(
        rf"\b(?:obiecaliscie|obiecano|zagwarantowaliscie|zagwarantowano|zapewniliscie|"
        rf"przyznaliscie|przyznano|obiecali (?:mi|nam))\b[^.!?\n]{{0,60}}?{_PL_BENEFIT}"
        rf"|\b(?:nalezy|przysługuje|przysługuja|naleza)(?: mi| nam| jej| jemu| mu| sie){{0,3}}\b"
        rf"[^.!?\n]{{0,40}}?{_PL_BENEFIT}"
        r"|\b(?:mam|ma|mamy) prawo do\b"
        rf"[^.!?\n]{{0,40}}?{_PL_BENEFIT}"
        r"|\b(?:konsultant\w*|wasz\w* \w+|obsługa klienta|obsługa|pracowni\w+|infolinia)\b"
        r"[^.!?\n]{0,20}\b(?:powiedział\w*|obiecał\w*|zapewnił\w*|zaproponował\w*)\b"
        rf"[^.!?\n]{{0,60}}?{_PL_BENEFIT}"
        r"|\bjestescie mi winni\b"
        r"|\b(?:mam|ma) (?:stał\w+|dozywotni\w*)\b[^.!?\n]{0,20}?(?:rabat|znizk|darmow)"
    ),
    # Portuguese
    re.compile(
        r"\b(?:(?:voces?|eles|a empresa|a loja|o suporte) )?(?:me|nos|lhe) (?:prometeram|prometeu|"
        r"prometestes|garantiram|garantiu|asseguraram|ofereceram|disseram que)\b"
        rf"[^.!?\n]{{0,60}}?{_PT_BENEFIT}"
        r"|\b(?:prometeram-me|prometeram-nos|garantiram-me|foi-me prometid\w|foi prometid\w)\b"
        rf"[^.!?\n]{{0,60}}?{_PT_BENEFIT}"
        rf"|\b(?:tenho|tem|temos) direito a\w?\b[^.!?\n]{{0,40}}?{_PT_BENEFIT}"
        r"|\b(?:o|a|um|uma|seu|sua|vosso) (?:\w+ )?(?:atendente|agente|suporte|gerente|"
        r"funcionari\w|vendedor\w?|assistente)\b[^.!?\n]{0,20}\b(?:disse|prometeu|garantiu|"
        rf"ofereceu|confirmou)\b[^.!?\n]{{0,60}}?{_PT_BENEFIT}"
        r"|\b(?:voces me devem|voce me deve|devem-me)\b"
        r"|\b(?:desconto|frete gratis|gratis)\b[^.!?\n]{0,20}\b(?:vitalicio|para sempre|sempre|"
        r"permanente)\b"
    ),
    # Italian
    re.compile(
        r"\b(?:(?:mi|ci|gli|le) (?:avete|hanno|ha) |mi e stat[oa] |gli e stat[oa] |"
        r"le e stat[oa] )(?:promess[oa]|garantit[oa]|assicurat[oa]|offert[oa]|detto che)\b"
        rf"[^.!?\n]{{0,60}}?{_IT_BENEFIT}"
        rf"|\b(?:ho|ha|abbiamo) diritto (?:a|al|allo|alla|ad)\b[^.!?\n]{{0,40}}?{_IT_BENEFIT}"
        rf"|\bmi spetta\w*\b[^.!?\n]{{0,40}}?{_IT_BENEFIT}"
        r"|(?:\b(?:il|la|lo|un|una|vostr[oa]) |\bl')(?:vostr[oa] )?(?:operat\w+|agente|assistenza|"
        r"supporto|servizio clienti|commess[oa]|responsabile|addett[oa])\b[^.!?\n]{0,20}\b(?:ha "
        r"(?:detto|promesso|garantito|assicurato|offerto|confermato))\b"
        rf"[^.!?\n]{{0,60}}?{_IT_BENEFIT}"
        r"|\bmi dovete\b[^.!?\n]{0,30}(?:\d|rimbors|sold)"
        r"|\b(?:sconto|spedizione gratuita|gratis)\b[^.!?\n]{0,20}\b(?:a vita|per sempre|sempre|"
        r"permanente)\b"
    ),
    # Russian
    re.compile(
        r"\b(?:вы|нам|мне|ему|еи)\b[^.!?\n]{0,25}\b(?:обещали|пообещали|гарантировали|обязались|"
        rf"заверили|предложили|сказали,? что)\b[^.!?\n]{{0,60}}?{_RU_BENEFIT}"
        rf"|\b(?:положен[аоы]?|полагается|причитается)\b[^.!?\n]{{0,40}}?{_RU_BENEFIT}"
        rf"|\b(?:имею|имеет|имеем) право на\b[^.!?\n]{{0,40}}?{_RU_BENEFIT}"
        r"|\b(?:оператор|поддержка|менеджер|сотрудни\w+|консультант|агент|ваш\w* \w+)\b"
        r"[^.!?\n]{0,20}\b(?:сказал\w?|обещал\w?|пообещал\w?|гарантировал\w?|заверил\w?)\b"
        rf"[^.!?\n]{{0,60}}?{_RU_BENEFIT}"
        r"|\bвы (?:мне|нам) должны\b"
        r"|\b(?:пожизненн|постоянн|вечн)\w* (?:\d+ ?%? ?)?(?:скидк|бесплатн)"
    ),
)
TRIGGERS: Final = re.compile(
    r"obieca|zagwarantow|zapewni|przyzna|nalez|przysługuj|prawo|powiedzia|winni|rabat|znizk|darmow|"
    r"promet|garanti|assegur|direito|disse|ofere|devem|deve|desconto|gratis|promess|assicur|offert|"
    r"diritto|spett|detto|dovete|scont|обеща|гарант|обязал|завер|предлож|сказал|положен|полага|"
    r"причита|право|должн|скидк|бесплат"
)
"""One of these stands in each pattern's match: a cheap check first."""
