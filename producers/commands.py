"""Appending what is no turn: facts of the operator's systems, decisions, ends of conversations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from uuid import UUID, uuid4

from producers.commands_input import ConversationEndInput, DecisionInput
from producers.facts_input import FactInput
from producers.metrics import Command, count_command
from producers.subject_records import (
    Appended,
    AppendResult,
    Draft,
    SubjectRecords,
    appended_or_raise,
)
from producers.subject_records import sealed_at_its_time as sealed
from schemas.clock import utc_now
from schemas.commands import (
    ConsolidationStart,
    Curation,
    FlagDecision,
    SessionEnd,
    SessionEndCause,
    SystemFact,
)
from schemas.errors import FlagDecided, UnknownFlag
from schemas.flags import Flag, FlagState
from schemas.ids import flag_decision_id, system_fact_id
from schemas.keyring import SubjectKeys
from schemas.log.sealed import SealedRecord
from schemas.memory import Source


class CommandAppender:
    """Appends single records that are no turns, each once acknowledged by all replicas.

    Every method raises, beside what it names:

    - ``LogBusy`` or ``LogUnavailable``: the log did not take it; it may stand all the same, and to
      send it again is harmless;
    - ``InvalidInput``: it was forgotten, or ``InputTooLarge``: the log has no room for such a
      record;
    - ``UnknownTenant`` or ``KeyringUnavailable``: as the keyring does.
    """

    def __init__(self, records: SubjectRecords, clock: Callable[[], datetime] = utc_now) -> None:
        """Wire the parts.

        Args:
            records: appends to subjects' lines.
            clock: the current time, aware.
        """
        self._records = records
        self._clock = clock

    async def remember(self, tenant: str, fact: FactInput) -> Appended:
        """Append a fact of one of the operator's systems; a user without a subject is given one.

        The same fact under its ``client_id`` has the same id each time, so the first append counts.

        Raises:
            UserPaused: the user has paused memory.
        """
        draft = Draft(
            owner=fact.user_id,
            seal=partial(_sealed_fact, fact, self._clock()),
            while_paused=False,
        )
        (result,) = await self._records.append(tenant, [draft])
        return _acknowledged(Command.SYSTEM_FACT, result)

    async def decide(self, tenant: str, flag: Flag, decision: DecisionInput) -> Appended:
        """Append a person's decision about a flag.

        Its id follows from the flag, so of several decisions the first append counts, also where
        two people decide before the projection has shown either.

        Raises:
            FlagDecided: the flag was decided already, and in the other way.
            UnknownFlag: the flag's subject is not the tenant's, or was erased.
        """
        decided = FlagState.APPROVED if decision.approved else FlagState.REFUSED
        if flag.state not in (FlagState.OPEN, decided):
            verdict = flag.verdict
            when = "" if verdict is None else f" at {verdict.decided_at:%Y-%m-%dT%H:%M:%SZ}"
            raise FlagDecided(
                f"the flag was {flag.state.value} already{when}, and the first decision counts: "
                "leave it as it is"
            )
        draft = Draft(
            owner=flag.subject, seal=partial(_sealed_decision, flag, decision, self._clock())
        )
        result = await self._records.append_known(tenant, draft)
        if result is None:
            raise unknown_flag()
        return _acknowledged(Command.FLAG_DECISION, result)

    async def end_conversation(self, tenant: str, end: ConversationEndInput) -> Appended | None:
        """Append the end of a conversation's session.

        Each call appends an end of its own: one that finds no turn waiting settles nothing, so a
        retry is harmless, and a conversation that goes on can be ended again.

        Returns:
            Where it stands; ``None`` where nothing was ever heard of the user, of whom nothing can
            wait: no subject is made.
        """
        draft = Draft(owner=end.user_id, seal=partial(_sealed_end, end, uuid4(), self._clock()))
        result = await self._records.append_known(tenant, draft)
        return None if result is None else _acknowledged(Command.SESSION_END, result)

    async def consolidate(self, tenant: str, user_id: str) -> Appended | None:
        """Append the start of a consolidation of a user's memories.

        Returns:
            Where it stands; ``None`` where nothing was ever heard of the user.
        """
        draft = Draft(owner=user_id, seal=partial(_sealed_start, uuid4(), self._clock()))
        result = await self._records.append_known(tenant, draft)
        return None if result is None else _acknowledged(Command.CONSOLIDATION, result)


def unknown_flag() -> UnknownFlag:
    """Return the error for a flag that the tenant does not have, whoever else may have it."""
    return UnknownFlag(
        "no user of the tenant has a flag of this id: take one from GET /v1/flags or "
        "`memledger flags`"
    )


def _acknowledged(command: Command, result: AppendResult) -> Appended:
    appended = appended_or_raise(result)
    count_command(command)
    return appended


def _sealed_fact(fact: FactInput, now: datetime, keys: SubjectKeys) -> tuple[UUID, SealedRecord]:
    record_id = system_fact_id(keys.id_secret, fact.provenance.system, fact.client_id)
    record = Curation(
        turn_id=record_id,
        source=Source.SYSTEM,
        actor=fact.provenance.system,
        decision=SystemFact(
            kind=fact.kind,
            slot=fact.slot,
            about=fact.about,
            content=fact.content,
            importance=fact.importance,
            provenance=fact.provenance,
            valid_from=fact.valid_from,
            expires_at=fact.expires_at,
        ),
        occurred_at=now,
        received_at=now,
    )
    return sealed(record, keys=keys, record_id=record_id, occurred_at=now, named_by="id")


def _sealed_decision(
    flag: Flag, decision: DecisionInput, now: datetime, keys: SubjectKeys
) -> tuple[UUID, SealedRecord]:
    record_id = flag_decision_id(flag.flag_id)
    record = Curation(
        turn_id=record_id,
        source=Source.CURATION,
        actor=decision.actor,
        decision=FlagDecision(
            flag_id=flag.flag_id,
            approved=decision.approved,
            reason=decision.reason,
            operation=flag.operation,
            source_turn_id=flag.turn_id,
            conversation_id=flag.conversation_id,
            said_at=flag.said_at,
            utc_offset_minutes=flag.utc_offset_minutes,
        ),
        occurred_at=now,
        received_at=now,
    )
    return sealed(record, keys=keys, record_id=record_id, occurred_at=now, named_by="flag_id")


def _sealed_end(
    end: ConversationEndInput, record_id: UUID, now: datetime, keys: SubjectKeys
) -> tuple[UUID, SealedRecord]:
    record = SessionEnd(
        turn_id=record_id,
        conversation_id=end.conversation_id,
        cause=SessionEndCause.EXPLICIT,
        occurred_at=now,
        received_at=now,
    )
    return sealed(
        record, keys=keys, record_id=record_id, occurred_at=now, named_by="conversation_id"
    )


def _sealed_start(record_id: UUID, now: datetime, keys: SubjectKeys) -> tuple[UUID, SealedRecord]:
    record = ConsolidationStart(turn_id=record_id, occurred_at=now)
    return sealed(record, keys=keys, record_id=record_id, occurred_at=now, named_by="user_id")
