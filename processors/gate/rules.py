"""Every rule of the gate, and how an operation is judged by all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from processors.gate.assertion import asserted
from processors.gate.bank_accounts import no_bank_account
from processors.gate.credentials import no_credential
from processors.gate.evidence import assistant_words_attributed, evidence_in_own_words
from processors.gate.instructions import no_instruction
from processors.gate.language import in_the_users_script
from processors.gate.national_ids import no_national_id
from processors.gate.obligations import no_obligation
from processors.gate.one_time_codes import no_one_time_code
from processors.gate.passwords import no_password
from processors.gate.payment_cards import no_payment_card
from processors.gate.privacy import no_sensitive_category, no_third_person_data
from processors.gate.said import Said
from processors.gate.shape import (
    about_named,
    content_present,
    content_readable,
    content_within_limit,
    worth_keeping,
)
from schemas.events import RejectionReason
from schemas.proposals import Operation

Rule = Callable[[Operation, Said], RejectionReason | None]
"""A pure function of one operation and of what was said: why it must not be kept, if at all."""

RULES: Final[tuple[Rule, ...]] = (
    evidence_in_own_words,
    assistant_words_attributed,
    asserted,
    content_present,
    content_within_limit,
    content_readable,
    in_the_users_script,
    worth_keeping,
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
    about_named,
)
"""Every rule of the gate."""


def refusals(operation: Operation, said: Said) -> tuple[RejectionReason, ...]:
    """Return every reason for which ``operation`` must not be kept; none means that it may be.

    A reason that several rules tell is told once.
    """
    found = (rule(operation, said) for rule in RULES)
    return tuple(dict.fromkeys(reason for reason in found if reason is not None))
