"""What may stand in a summary of a session: code decides, sentence by sentence.

A summary is kept and served as a memory is, so what must not be kept of a turn must not be kept of
it in a summary either. A sentence that a rule speaks against is left out, and counted; the others
stay. Nothing that a user asks for lifts a rule here: what is sensitive belongs into a memory, which
the user can see and delete, or nowhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from processors.gate.bank_accounts import no_bank_account
from processors.gate.credentials import no_credential
from processors.gate.instructions import no_instruction
from processors.gate.national_ids import no_national_id
from processors.gate.obligations import no_obligation
from processors.gate.one_time_codes import no_one_time_code
from processors.gate.passwords import no_password
from processors.gate.payment_cards import no_payment_card
from processors.gate.privacy import no_sensitive_category, no_third_person_data
from processors.gate.rules import Rule
from processors.gate.said import Said
from processors.gate.shape import content_present, content_readable, content_within_limit
from schemas.events import (
    RejectionReason,
)
from schemas.memory import ABOUT_USER, Confidence, MemoryKind
from schemas.proposals import Action, Operation
from schemas.records import Turn
from schemas.slots import Slot
from schemas.summaries import (
    SUMMARY_CHARACTERS_MAX,
    ProposedSummary,
    SummarySource,
    WithoutSummary,
)
from schemas.summary_events import SentencesRefused, SessionNotSummarised, SessionSummarised

RULES: Final[tuple[Rule, ...]] = (
    content_present,
    content_within_limit,
    content_readable,
    no_credential,
    no_password,
    no_one_time_code,
    no_payment_card,
    no_bank_account,
    no_national_id,
    no_sensitive_category,
    no_third_person_data,
    no_obligation,
    no_instruction,
)
"""The rules of the gate that ask nothing of a turn's own words."""

SENTENCES_MAX: Final = 60
"""The most sentences that are looked at; a summary has room for fewer."""

_ENDS: Final = re.compile(r"(?<=[.!?\u0964])\s+|(?<=[\u3002\uff01\uff1f])\s*|\s*\n+\s*")
_NUMBER: Final = re.compile(r"\d{2,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceText:
    """A turn that is summed up.

    Attributes:
        turn: the turn, its texts free of our own injection block.
        source: how a summary names it.
    """

    turn: Turn
    source: SummarySource


def summary_event(
    proposed: ProposedSummary,
    texts: Sequence[SourceText],
    *,
    conversation_id: str,
    prompt_hash: str,
    now: datetime,
) -> SessionSummarised | SessionNotSummarised:
    """Return what becomes of a session's summary.

    Args:
        proposed: what was proposed.
        texts: those of its turns that can still be read.
        conversation_id: the conversation.
        prompt_hash: what shaped the proposal.
        now: the time of the decision.
    """
    readable = {text.source.turn_id for text in texts}
    gone = any(source.turn_id not in readable for source in proposed.sources)
    if proposed.text is None or gone:
        reason = WithoutSummary.SOURCE_ERASED if gone else proposed.without
        return SessionNotSummarised(
            conversation_id=conversation_id,
            reason=reason or WithoutSummary.FAILED,
            more=proposed.more,
            made_at=now,
        )
    kept, refused, cut = _judged(proposed.text, texts)
    if not kept:
        return SessionNotSummarised(
            conversation_id=conversation_id,
            reason=WithoutSummary.REFUSED,
            sources=proposed.sources,
            refused=refused,
            more=proposed.more,
            made_at=now,
        )
    said = [text.turn.occurred_at for text in texts]
    return SessionSummarised(
        conversation_id=conversation_id,
        summary=" ".join(kept),
        sources=proposed.sources,
        first_said_at=min(said),
        last_said_at=max(said),
        shortened=proposed.shortened,
        refused=refused,
        cut=cut,
        more=proposed.more,
        prompt_hash=prompt_hash,
        made_at=now,
    )


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each on one line; what ends none stays with what follows."""
    for part in _ENDS.split(text):
        sentence = " ".join(part.split())
        if sentence:
            yield sentence


def _judged(
    text: str, texts: Sequence[SourceText]
) -> tuple[list[str], tuple[SentencesRefused, ...], int]:
    """Return the sentences that are kept, what was refused, and how many found no room."""
    said, told = Said.by_person(), _numbers_of(texts)
    refused: Counter[RejectionReason] = Counter()
    kept: list[str] = []
    found = list(sentences(text))
    if not found:
        refused[RejectionReason.CONTENT_EMPTY] = 1
    cut, room = max(0, len(found) - SENTENCES_MAX), SUMMARY_CHARACTERS_MAX
    for sentence in found[:SENTENCES_MAX]:
        reasons = _reasons(sentence, said)
        if not _numbers(sentence) <= told:
            reasons = (*reasons, RejectionReason.EVIDENCE_NOT_IN_USER_TEXT)
        refused.update(reasons)
        if reasons:
            continue
        if len(sentence) + 1 > room:
            cut += 1
            continue
        kept.append(sentence)
        room -= len(sentence) + 1
    # What is harmless in two sentences may be a secret in one.
    together = _reasons(" ".join(kept), said, rules=RULES[2:]) if len(kept) > 1 else ()
    if together:
        refused.update(dict.fromkeys(together, len(kept)))
        kept = []
    return kept, _told(refused), cut


def _reasons(
    text: str, said: Said, rules: Sequence[Callable[..., RejectionReason | None]] = RULES
) -> tuple[RejectionReason, ...]:
    operation = Operation(
        action=Action.ADD,
        kind=MemoryKind.EPISODIC,
        slot=Slot.EPISODE,
        about=ABOUT_USER,
        content=text,
        importance=3,
        confidence=Confidence.STATED,
        quote="",
    )
    found = (rule(operation, said) for rule in rules)
    return tuple(dict.fromkeys(reason for reason in found if reason is not None))


def _numbers_of(texts: Sequence[SourceText]) -> set[str]:
    """Return the numbers that turns tell, those of their days among them."""
    found: set[str] = set()
    for text in texts:
        turn = text.turn
        found |= _numbers(turn.user_text) | _numbers(turn.assistant_text or "")
        found |= _numbers(turn.occurred_at.date().isoformat())
    return found


def _numbers(text: str) -> set[str]:
    """Return the numbers of two digits or more of a text; a year's last two digits are another."""
    return set(_NUMBER.findall(unicodedata.normalize("NFKC", text)))


def _told(refused: Counter[RejectionReason]) -> tuple[SentencesRefused, ...]:
    return tuple(
        SentencesRefused(reason=reason, sentences=number)
        for reason, number in sorted(refused.items())
    )
