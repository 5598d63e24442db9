"""Deciding a flag, and seeing the decision through."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from deploy.cli.carried_out import ClosedRecords, carried_out
from producers.commands import CommandAppender, unknown_flag
from producers.commands_input import DecisionInput
from producers.subject_records import Appended
from projections.turns import ClosedRecord
from schemas.errors import FlagDecided
from schemas.flags import Flag, Flags, FlagState


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """What became of a decision.

    Attributes:
        flag: the flag, as it stands now.
        appended: where the decision stands; ``None`` where the flag was decided like this before.
        closed: how the decision's record closed; ``None`` where that was not seen.
    """

    flag: Flag
    appended: Appended | None
    closed: ClosedRecord | None


class Deciding:
    """Decides flags for one who waits to see what comes of it."""

    def __init__(self, flags: Flags, appender: CommandAppender, closed: ClosedRecords) -> None:
        """Wire the parts.

        Args:
            flags: finds flags.
            appender: appends decisions.
            closed: tells whether a decision was carried out.
        """
        self._flags = flags
        self._appender = appender
        self._closed = closed

    async def decide(
        self, tenant: str, flag_id: str, decision: DecisionInput, *, timeout_s: float
    ) -> Decided:
        """Append a decision and wait until it has been carried out.

        Args:
            tenant: the tenant whose flag it is.
            flag_id: the flag, as it was typed.
            decision: the decision.
            timeout_s: how long to wait, in seconds; the decision stands all the same.

        Raises:
            UnknownFlag: the tenant has no such flag.
            FlagDecided: it was decided in the other way, before or at the same time.
            MemledgerError: the decision could not be appended; see
                :meth:`~producers.commands.CommandAppender.decide`.
        """
        flag = await self._flag(tenant, flag_id)
        if flag.state is _state_of(decision):
            return Decided(flag=flag, appended=None, closed=None)
        appended = await self._appender.decide(tenant, flag, decision)
        closed = await carried_out(
            self._closed, subject=flag.subject, record_id=appended.turn_id, timeout_s=timeout_s
        )
        if closed is None:
            return Decided(flag=flag, appended=appended, closed=None)
        return await self._seen_through(tenant, flag, decision, appended, closed)

    async def _flag(self, tenant: str, flag_id: str) -> Flag:
        try:
            flag = await self._flags.get(tenant, UUID(flag_id))
        except ValueError:
            flag = None
        if flag is None:
            raise unknown_flag()
        return flag

    async def _seen_through(
        self,
        tenant: str,
        flag: Flag,
        decision: DecisionInput,
        appended: Appended,
        closed: ClosedRecord,
    ) -> Decided:
        now = await self._flags.get(tenant, flag.flag_id) or flag
        if now.state not in (FlagState.OPEN, _state_of(decision)):
            raise FlagDecided(
                f"somebody else's decision came first: the flag was {now.state.value}, and that "
                "counts"
            )
        return Decided(flag=now, appended=appended, closed=closed)


def _state_of(decision: DecisionInput) -> FlagState:
    return FlagState.APPROVED if decision.approved else FlagState.REFUSED
