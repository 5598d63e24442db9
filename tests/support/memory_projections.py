"""What was spent, and flags, in memory: as a ledger in memory has folded them."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from projections.flag_fold import FlagRow
from projections.spending_fold import Spent, SpentOn
from schemas.flags import Flag, Verdict
from schemas.keyring import SubjectKeys
from schemas.spending import Spend
from tests.support.memory_keyring import MemoryKeyring
from tests.support.memory_ledger import MemoryLedger


class MemorySpending:
    """Tells what was spent; implements :class:`schemas.spending.Spending`."""

    def __init__(self, ledger: MemoryLedger, keyring: MemoryKeyring, *, partitions: int) -> None:
        self._ledger = ledger
        self._keyring = keyring
        self._partitions = partitions

    async def spent(self, *, since: date, tenant: str | None = None) -> tuple[Spend, ...]:
        """Return what was spent from a UTC day on, of one tenant or of all."""
        sums: dict[tuple[SpentOn, str], Spent] = {}
        for partition in range(self._partitions):
            for state in (await self._ledger.folded(partition)).values():
                of = await _tenant(self._keyring, state.subject)
                for on, spent in state.spent.items():
                    if of is not None and on.day >= since and tenant in {None, of}:
                        sums[on, of] = sums.get((on, of), Spent()).plus(spent)
        return tuple(
            Spend(
                day=on.day,
                tenant=of,
                extractor=on.extractor,
                model=on.model,
                closings=spent.closings,
                turns=spent.turns,
                usage=spent.usage,
            )
            for (on, of), spent in sorted(sums.items(), key=_by_day_and_tenant)
        )


def _by_day_and_tenant(item: tuple[tuple[SpentOn, str], Spent]) -> tuple[date, str, str, str]:
    (on, of), _ = item
    return on.day, of, on.extractor, on.model


class MemoryFlags:
    """Finds flags; implements :class:`schemas.flags.Flags`."""

    def __init__(self, ledger: MemoryLedger, keyring: MemoryKeyring, *, partitions: int) -> None:
        self._ledger = ledger
        self._keyring = keyring
        self._partitions = partitions

    async def get(self, tenant: str, flag_id: UUID) -> Flag | None:
        """Return a flag of one of the tenant's users, or ``None``."""
        for partition in range(self._partitions):
            for state in (await self._ledger.folded(partition)).values():
                row = state.flags.get(flag_id)
                if row is not None and await _tenant(self._keyring, state.subject) == tenant:
                    return _flag(state.subject, row)
        return None


async def _tenant(keyring: MemoryKeyring, subject: UUID) -> str | None:
    state = (await keyring.keys([subject]))[subject]
    return state.tenant if isinstance(state, SubjectKeys) else None


def _flag(subject: UUID, row: FlagRow) -> Flag | None:
    raised, decided = row.raised, row.decided
    if raised is None:
        return None
    return Flag(
        flag_id=raised.flag_id,
        subject=subject,
        state=row.state,
        reasons=raised.reasons,
        operation=raised.proposed,
        turn_id=raised.turn_id,
        conversation_id=raised.conversation_id,
        said_at=raised.said_at,
        utc_offset_minutes=raised.utc_offset_minutes,
        flagged_at=raised.flagged_at,
        verdict=None
        if decided is None
        else Verdict(
            actor=decided.decision.actor,
            reason=decided.decision.reason,
            decided_at=decided.decision.decided_at,
            turn_id=decided.turn_id,
        ),
    )
