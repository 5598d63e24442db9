"""Claims about what the operator owes: staff decide about them, no memory makes them true."""

from __future__ import annotations

import re
from typing import Final

from processors.gate import obligations_abroad
from processors.gate.said import Basis, Said
from schemas.events import RejectionReason
from schemas.proposals import Action, Operation

_BENEFIT: Final = (
    r"(?:refund\w*|reimburse\w*|compensat\w+|discount\w*|% ?off|percent off|half price|"
    r"free(?! time| from| of (?!charge|cost|fees))|upgrade\w*|credit|voucher\w*|gift card|"
    r"coupon\w*|waive\w*|waiv\w+|cashback|"
    r"money back|"
    r"no charge|replacement|price match|"
    r"don't have to pay|not have to pay|never pay|months? free|on the house|no fees?|raise my "
    r"limit|"
    r"lifetime (?:access|subscription|membership|discount|warranty))"
)
_OPERATOR: Final = (
    r"(?:you|you guys|your [\w-]+(?: (?:on|in|at|from) [\w-]+)?|support|"
    r"customer (?:service|support|care)|the (?:agent|rep\w*|manager|assistant|company|shop|store|"
    r"chatbot|bot|supervisor|staff|operator|hotline)|an? (?:agent|rep\w*|employee)|"
    r"(?:someone|somebody|a person|a lady|a guy|a man|a woman|the lady|the guy|the man|the "
    r"woman|they) (?:from|in|at|on) (?:your|the) [\w-]+)"
)
_NOT_ELSEWHERE: Final = (
    r"(?![^.!?\n]{0,30}\b(?:at|in|from) (?:the|my|our|a|an|his|her|their) (?!store|shop|company|"
    r"checkout|moment|future|end\b)\w)"
)
"""What somebody always gets at the bakery is no claim on this operator."""

_SPACED: Final = (
    # English
    re.compile(
        r"\b(?:account|profile|membership|contract|plan|subscription|"
        r"customer number)\b[^.!?\n]{0,20}"
        r"\b(?:is|was|are|has|have|comes?|includes?|set|marked|flagged)\b[^.!?\n]{0,30}?"
        r"(?:free (?:\w+ )?(?:shipping|delivery|returns?|upgrades?)|\d+ ?% ?(?:off|discount)|"
        r"discount|"
        r"no fees?|refund)[^.!?\n]{0,40}?\b(?:every|all|each|always|permanent\w*|for ever|forever|"
        r"for life)\b"
        r"|\b(?:account|profile|membership)\b[^.!?\n]{0,20}\b(?:has|have|with|set to|marked|"
        r"flagged)\b"
        r"[^.!?\n]{0,20}\b(?:permanent|lifetime|standing|unlimited)\b[^.!?\n]{0,20}?(?:free|"
        r"discount|"
        r"\d+ ?%|refund)"
        r"|\b(?:standing|permanent|lifetime|perpetual) (?:\d+ ?(?:%|percent) )?(?:discount|"
        r"price cut|"
        rf"rebate|free (?:shipping|delivery|returns?))\b{_NOT_ELSEWHERE}"
    ),
    re.compile(
        rf"\b{_OPERATOR}(?: [\w']+){{0,3}}? (?:promised|agreed|guaranteed|said|told me|told us|"
        rf"assured|"
        rf"offered|confirmed|granted|committed|approved|have promised|has "
        rf"promised)\b[^.!?\n]{{0,80}}?{_BENEFIT}"
    ),
    re.compile(
        rf"\b(?:was|were|been|am) (?:promised|guaranteed|assured|"
        rf"granted)\b[^.!?\n]{{0,60}}?{_BENEFIT}"
    ),
    re.compile(
        r"\b(?:promised|guaranteed) by (?:your|the) (?:company|support|agent|store|shop|team)\b"
    ),
    re.compile(
        rf"\b{_OPERATOR} (?:still |also |now )?owes? (?:me|us|him|her|the user)\b|"
        rf"\bis owed\b[^.!?\n]{{0,60}}?(?:\d|"
        rf"{_BENEFIT})"
        rf"|\b(?:am|are|i'm) owed\b[^.!?\n]{{0,60}}?(?:\d|{_BENEFIT})"
    ),
    re.compile(
        rf"\b(?:entitled to|eligible for|has a right to|have a right to|qualif(?:y|ies) for|"
        rf"deserves?)\b"
        rf"[^.!?\n]{{0,60}}?(?:{_BENEFIT}|\d+ ?%(?! of\b))"
    ),
    re.compile(
        rf"\b(?:gets?|has|have|receives?|getting)\b[^.!?\n]{{0,40}}?(?:{_BENEFIT})[^.!?\n]{{0,60}}?"
        r"\b(?:for ever|forever|for life|always|permanently|every (?:order|purchase|time)|"
        r"on everything|everything|guaranteed)\b"
    ),
    re.compile(
        r"\b(?:lifetime|permanent|unlimited|guaranteed)\b[^.!?\n]{0,20}?"
        r"(?:free (?:upgrades?|shipping|delivery|access|service|product\w*)|discount|% off|"
        r"refunds?)\b"
        r"(?=[^.!?\n]{0,60}\b(?:your company|guaranteed|promised|mine|entitled|for me|from "
        r"you)|\s*[.!]?$)"
    ),
    re.compile(
        r"\b(?:doesn't|does not|don't|do not|never) have to pay\b[^.!?\n]{0,40}?"
        r"\b(?:shipping|delivery|fees?|anything|postage|returns?)\b|\bgets? it (?:for )?free\b"
    ),
    re.compile(
        r"\b(?:as (?:we )?agreed|as (?:you )?promised|per our (?:agreement|deal)|our deal)\b"
        r"[^.!?\n]{0,60}?\b(?:pay|fees?|free|refund\w*|discount\w*|waive\w*|charge\w*)\b"
        r"|\b(?:pays?|fees?|free|refund\w*|discount\w*|charge\w*)\b[^.!?\n]{0,40}?"
        r"\b(?:as agreed|as promised)\b"
        r"|\b(?:fees?|charges?)\b[^.!?\n]{0,20}\b(?:will be|is|are|were|was) (?:waived|refunded)\b"
    ),
    re.compile(
        rf"\b(?:always|forever) (?:gets?|getting|receives?|has|have)\b[^.!?\n]{{0,30}}?{_BENEFIT}"
        rf"{_NOT_ELSEWHERE}"
        rf"|\b(?:vip|premium|gold|platinum|loyal|founding) (?:member|customer|user)?\b"
        rf"[^.!?\n]{{0,40}}?\b(?:gets?|entitled|deserves?|receives?)\b[^.!?\n]{{0,30}}?{_BENEFIT}"
    ),
    # German
    re.compile(
        r"\b(?:steht|stehen)\b[^.!?\n]{0,60}?(?:rabatt|gutschein|erstattung|prozent|%|gratis|"
        r"kostenlos)"
        r"[^.!?\n]{0,30}?\bzu\b"
        r"|\banspruch auf\b[^.!?\n]{0,60}?(?:rabatt|gutschein|erstattung|%|gratis|kostenlos|"
        r"entschadigung)"
        r"|\b(?:ihr habt|sie haben|euer|ihr|der support|kundenservice|kundendienst|mitarbeiter\w*|"
        r"wurde|wurden)\b[^.!?\n]{0,80}?(?:rabatt|gutschein|erstattung|gratis|kostenlos|"
        r"entschadigung)"
        r"[^.!?\n]{0,40}?\b(?:versprochen|zugesagt|zugesichert|garantiert|verspricht|versprach)\b"
        r"|\b(?:versprochen|zugesagt|zugesichert|garantiert)\b[^.!?\n]{0,60}?(?:rabatt|gutschein|"
        r"ruckerstattung|erstattung|gratis|kostenlos)"
        r"|\b(?:ihr schuldet|sie schulden) mir\b"
        r"|\b(?:euer|eure|ihr|ihre|der|die) (?:\w*mitarbeiter\w*|\w*support|\w*kolleg\w*|"
        r"\w*service|"
        r"\w*berater\w*|chatbot) (?:hat|hatte|meinte|sagte|versprach)\b[^.!?\n]{0,60}?(?:rabatt|"
        r"gratis|kostenlos|umsonst|gutschein|erstatt|geld zuruck)"
        r"|\bbekomm\w*\b[^.!?\n]{0,30}?\b(?:immer|lebenslang|fur immer|dauerhaft)\b[^.!?\n]{0,30}?"
        r"(?:rabatt|gratis|kostenlos|umsonst|%)"
    ),
    # Spanish
    re.compile(
        r"\b(?:me|nos|se le|le) (?:prometisteis|prometieron|prometio|prometiste|han prometido|"
        r"garantizaron|aseguraron|ofrecieron|dijeron que)\b[^.!?\n]{0,80}?(?:reembolso|"
        r"descuento|gratis|"
        r"devolucion|compensacion|cupon)"
        r"|\b(?:tengo|tiene) derecho a\b[^.!?\n]{0,60}?(?:descuento|reembolso|gratis|"
        r"compensacion|%)"
        r"|\b(?:su|sus|tu|tus|vuestr\w|el|la|un|una) (?:\w+ )?(?:companer\w|agente|asesor\w?|"
        r"encargad\w|gerente|soporte|emplead\w|atencion al cliente|chat)\b[^.!?\n]{0,30}?(?:dijo|"
        r"prometio|aseguro|garantizo|ofrecio)\b[^.!?\n]{0,60}?(?:gratis|reembolso|descuento|"
        r"devol|cupon)"
        r"|\b(?:gratis|descuento|reembolso)\b[^.!?\n]{0,20}?\b(?:siempre|de por vida|para "
        r"siempre)\b"
        r"|\b(?:siempre|de por vida) (?:gratis|con descuento)\b"
        r"|\b(?:me debeis|me deben|me debes)\b[^.!?\n]{0,40}?(?:\d|reembolso|descuento|dinero)"
    ),
    # French
    re.compile(
        r"\b(?:m'avez|m'a|nous avez|on m'a|on lui a|lui a|vous m'avez) (?:promis|garanti|"
        r"assure|accorde)\b"
        r"[^.!?\n]{0,80}?(?:remboursement|reduction|remise|gratuit\w*|avoir|dedommagement)"
        r"|\b(?:j'ai|a) droit a\b[^.!?\n]{0,60}?(?:remboursement|reduction|remise|gratuit\w*|%)"
        r"|\bvous me devez\b"
        r"|\b(?:votre|vos|le|la|un|une) (?:\w+ )?(?:agent|conseill\w+|collegue|service client|"
        r"support|"
        r"vendeur|vendeuse|equipe)\b[^.!?\n]{0,30}?(?:m'a|m'ont|a|ont) (?:dit|promis|assure|"
        r"garanti)\b"
        r"[^.!?\n]{0,60}?(?:gratuit|rembours|reduction|remise|offert)"
    ),
    # Hindi
    re.compile("(?:रिफंड|छूट|डिस्काउंट|मुफ्त|पैसे वापस)[^\u0964!?\n]{0,60}?(?:वादा|वादे|गारंटी|हकदार)"),
)
_TRIGGERS: Final = re.compile(
    r"promis|guarant|garant|agreed|agent|support|manager|company|assur|offered|told|said|owe|"
    r"entitled|"
    r"eligible|right to|qualif|deserve|off\b|free|discount|refund|steht|stehen|anspruch|versproch|"
    r"zugesagt|zugesichert|schuld|promet|derecho|debe|ofrec|asegur|dijeron|droit|devez|accord|"
    r"have to pay|standing|permanent|lifetime|perpetual|account|profile|membership|always|"
    r"forever|bekomm|gratis|votre|conseill|वाद|गारंटी|हकदार"
)
_UNSPACED: Final = re.compile(
    "(?:客服|你们|贵公司|商家|店家|经理)[^\u3002\uff01\uff1f\n]{0,20}?"
    "(?:答应|承诺|保证|同意|说过?)[^\u3002\uff01\uff1f\n]{0,20}?(?:退款|免费|折|优惠|赔|补偿)"
    "|(?:有权|享有|享受)[^\u3002\uff01\uff1f\n]{0,12}?(?:折|免费|优惠|退款)"
    "|欠我"
    "|(?:サポート|担当者?|御社|店員|お店)[^\u3002\uff01\uff1f\n]{0,30}?(?:返金|無料|割引)"
    "[^\u3002\uff01\uff1f\n]{0,12}?(?:約束|保証|言)"
    "|(?:返金|無料|割引)[^\u3002\uff01\uff1f\n]{0,10}?(?:約束され|権利があ)"
)
_EMPLOYMENT: Final = re.compile(
    r"\b(?:at my job|at work|my employer|my landlord|days of (?:holiday|leave|vacation)|"
    r"parental leave|"
    r"free time|urlaub|vacaciones|conges)\b"
)


def no_obligation(operation: Operation, said: Said) -> RejectionReason | None:
    """Leave a claim about what the operator owes to a person.

    What the operator's own systems tell of refunds is no claim.
    """
    if operation.action in {Action.RETRACT, Action.CONTRADICT} or said.basis is Basis.SYSTEM:
        return None
    texts = dict.fromkeys((operation.content, operation.quote))
    claimed = any(map(_claims, (said.reading(text).folded for text in texts)))
    return RejectionReason.OPERATOR_OBLIGATION if claimed else None


def _claims(folded: str) -> bool:
    if _UNSPACED.search(folded) is not None:
        return True
    if obligations_abroad.TRIGGERS.search(folded) is not None and any(
        pattern.search(folded) is not None for pattern in obligations_abroad.PATTERNS
    ):
        return True
    if _TRIGGERS.search(folded) is None or _EMPLOYMENT.search(folded) is not None:
        return False
    return any(pattern.search(folded) is not None for pattern in _SPACED)
