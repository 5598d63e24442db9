"""Numbers that a state gives to a person, and those of passports and driving licences.

Where the check is strong (a date and check digits inside) the number alone is enough; where it is
weak, what it is called must fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Final

from stdnum.br import cpf
from stdnum.cn import ric
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.in_ import aadhaar, pan
from stdnum.it import codicefiscale
from stdnum.jp import in_ as my_number
from stdnum.kr import rrn
from stdnum.mx import curp
from stdnum.nl import bsn
from stdnum.pl import pesel
from stdnum.us import ssn

from processors.gate.said import Said
from processors.gate.texts import bare, has_digit, kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scheme:
    """How one sort of number is told.

    Attributes:
        shape: how it is written.
        valid: whether its check digits fit.
        called: what it must be called in the text; ``None`` where the check is strong.
    """

    shape: re.Pattern[str]
    valid: Callable[[str], bool]
    called: re.Pattern[str] | None


def _scheme(shape: str, valid: Callable[[str], bool], called: str | None = None) -> _Scheme:
    return _Scheme(
        shape=re.compile(
            rf"(?<![A-Za-z0-9_.+-])(?:{shape})(?![A-Za-z0-9_]|[.-][A-Za-z0-9_])", re.IGNORECASE
        ),
        valid=valid,
        called=None if called is None else re.compile(called, re.IGNORECASE),
    )


_SCHEMES: Final = (
    _scheme(
        r"\d{3}[-.\s/]{0,3}\d{2}[-.\s/]{0,3}\d{4}",
        ssn.is_valid,
        r"\bssn\b|\bsocial(?: security| is)|\bmy social\b",
    ),
    _scheme(
        r"\d{4}[-.\s/]{0,3}\d{4}[-.\s/]{0,3}\d{4}",
        aadhaar.is_valid,
        "aadhaa?r|adhaar|uidai|आधार",
    ),
    _scheme(r"[A-Z]{5}\d{4}[A-Z]", pan.is_valid, r"\bpan\b|permanent account|पैन"),
    _scheme(r"\d{3}[-.\s/]{0,3}\d{3}[-.\s/]{0,3}\d{4}", nhs.is_valid, r"\bnhs\b"),
    _scheme(
        r"\d{2}[-.\s/]{0,3}\d{3}[-.\s/]{0,3}\d{3}[-.\s/]{0,3}\d{3}",
        idnr.is_valid,
        r"steuer|tax id|\bidnr\b|identifikationsnummer",
    ),
    _scheme(
        r"\d{2}\.?\d{3}\.?\d{3}[- ]?[A-Z]", dni.is_valid, r"\bdni\b|\bnif\b|documento|identidad"
    ),
    _scheme(r"[XYZ][- ]?\d{7}[- ]?[A-Z]", nie.is_valid),
    _scheme(r"[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}", nir.is_valid),
    _scheme(r"\d{17}[\dX]", ric.is_valid),
    _scheme(
        r"\d{4}[-.\s/]{0,3}\d{4}[-.\s/]{0,3}\d{4}",
        my_number.is_valid,
        "my ?number|マイナンバー|個人番号",
    ),
    _scheme(r"\d{3}\.\d{3}\.\d{3}-\d{2}", cpf.is_valid),
    _scheme(r"\d{11}", cpf.is_valid, r"\bcpf\b"),
    _scheme(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", codicefiscale.is_valid),
    _scheme(r"[A-Z]{4}\d{6}[A-Z]{6}[A-Z0-9]\d", curp.is_valid),
    _scheme(r"\d{6}-[1-8]\d{6}", rrn.is_valid),
    _scheme(r"\d{8,9}", bsn.is_valid, r"\bbsn\b|burgerservice"),
    _scheme(r"\d{11}", pesel.is_valid, r"\bpesel\b"),
)

_DOCUMENT: Final = re.compile(
    r"(?:(?:passport|driver'?s? licen[cs]e|driving licen[cs]e|id card|identity card|green card|"
    r"visa)"
    r"(?: number| no\.?| nr\.?| #|:)|reisepass(?:nummer|-?nr\.?)|ausweis(?:nummer|-?nr\.?)|"
    r"personalausweis(?:nummer|-?nr\.?)?|führerschein(?:nummer|-?nr\.?)|"
    r"(?:número|n[º\u00b0]) de (?:pasaporte|cédula)|pasaporte(?: número|:)|"
    r"(?:numéro|n[º\u00b0]) de (?:passeport|carte d'identité)|"
    "护照号码?|パスポート番号|運転免許証番号|"
    "पासपोर्ट नंबर)"
    r"[^\n\d.!?]{0,15}?(?<![A-Z0-9])(?P<value>[A-Z0-9](?:[ -]?[A-Z0-9]){5,14})(?![A-Z0-9])",
    re.IGNORECASE,
)
_DOCUMENT_TOLD: Final = re.compile(
    # Here no word for "number" stands between the document and what it has.
    r"(?:(?<!\w)(?:passport|pasaporte|passeport|passaporto|passaporte|reisepass|(?<=mein )pass|"
    r"paspoort|"
    r"paszport\w{0,2}|pasaport\w{0,2}|паспорт\w{0,2}|hộ chiếu|"
    r"driver'?s'? licen[cs]e|driving licen[cs]e|führerschein|permis de conduire|"
    r"(?:licencia|carn[eé]t?|permiso) de conducir|patente di guida|carta de condução|cnh|"
    r"rijbewijs|prawo jazdy|körkort|ehliyet\w{0,3}|водительск\w+ (?:удостоверени\w+|прав\w+)|"
    r"identity card|id card|personalausweis|carte d'identité|cédula|carta d'identità)(?!\w)"
    "|护照号?码?|パスポート|여권(?: ?번호)?|जवाज|"
    "驾照号?码?|驾驶证号?码?|運転免許証?|운전면허(?:증)?(?: ?번호)?|"
    "جواز (?:السفر|سفري)|"
    "رخصة القيادة|पासपोर्ट)"
    r"(?:\s*(?:number|numero|número|numéro|nummer|номер|no|nr|n[º\u00b0])\.?)?"
    r"\s*(?:(?:is|ist|es|est|è|é|to|är|là|это|هو)(?!\w)|[:=#,-]|是|は|が|है|는|은)?\s*[:#]?\s*"
    r"(?P<value>[A-Z9]{5}\d{6}[A-Z0-9]{5}|(?:серия )?\d{2} ?\d{2},? (?:номер|№) ?\d{6}"
    r"|[A-Z]{1,3}[ -]?\d{6,9}|[A-Z]\d{2}[A-Z0-9]{5,7}|\d{2}[A-Z]{2}\d{5}|\d{7,12}"
    r"|(?=(?:[A-Z]*\d){5})[A-Z0-9]{8,11}|\d{2} ?\d{2} \d{6}|[A-Z](?:[ -]?\d{3,4}){3,4})"
    r"(?![A-Z0-9])",
    re.IGNORECASE,
)
_DOCUMENT_AFTER: Final = re.compile(
    r"(?<![A-Z0-9])(?P<value>[A-Z]{1,3}\d{6,9}|\d{8,9})\s+(?:is|ist|es|est|è|é)\s+"
    r"(?:my|mein|meine|mi|mon|il mio|la mia|o meu)\s+(?:passport|reisepass|pasaporte|passeport|"
    r"passaporto|passaporte|driver'?s'? licen[cs]e|driving licen[cs]e|führerschein)(?!\w)",
    re.IGNORECASE,
)
_PARTED: Final = re.compile(r"[-.\s/]")
_DOCUMENTS: Final = (_DOCUMENT, _DOCUMENT_TOLD, _DOCUMENT_AFTER)
_DOCUMENT_DIGITS_MIN: Final = 4
_SHAPED: Final = re.compile(r"\d{4}|\d\d.?\d\d|[A-Z]\d", re.IGNORECASE)


def no_national_id(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse the number of a person's identity card, passport, tax or social security file."""
    for text in kept_texts(operation, said):
        if said.once(has_digit, text) and said.once(holds_national_id, text):
            return RejectionReason.NATIONAL_ID
    return None


def holds_national_id(text: str) -> bool:
    """Tell whether a text holds such a number."""
    text = bare(text)
    if _SHAPED.search(text) is None:
        return False
    for found in chain.from_iterable(one.finditer(text) for one in _DOCUMENTS):
        if sum(map(str.isdecimal, found["value"])) >= _DOCUMENT_DIGITS_MIN:
            return True
    return any(_holds(text, scheme) for scheme in _SCHEMES)


def _holds(text: str, scheme: _Scheme) -> bool:
    if scheme.called is not None and scheme.called.search(text) is None:
        return False
    return any(scheme.valid(_PARTED.sub("", found)) for found in scheme.shape.findall(text))
