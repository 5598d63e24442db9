"""Budgets: whether a tenant may still spend on models, today and this month.

What was spent is in the ledger, which several workers share: each outcome carries its usage, those
of records that were given up included. A worker reads the sums every few seconds and adds what it
knows and the ledger may not show yet: what its own calls in flight will cost, as the average of
those before, and what they did cost until their outcome is applied. So a limit is passed by at
most:

- of this worker: what its calls in flight cost beyond the average of those before them (of a worker
  that has just started: all of it, for at most ``in_flight_max`` calls);
- of each other worker: what it began since the sums were read, ``FRESH_S`` at most, and has not
  finished yet.

Nothing is lost by a budget: a turn whose tenant has none left is deferred.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from processors import budget_metrics
from processors.budget_limits import BudgetLimits, Measure, Period
from schemas.clock import utc_now
from schemas.prices import Prices, cost, tokens_of
from schemas.proposals import Usage
from schemas.spending import Spend, Spending

logger = logging.getLogger(__name__)

FRESH_S: Final = 5.0
"""How long the ledger's sums are used before they are read again: one small query a tenant."""

_LEARNING: Final = Decimal("0.1")
"""Weight of the newest call in the average of what calls cost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetState:
    """A limit that is reached.

    Attributes:
        tenant: whose.
        period: whether it is the day's or the month's.
        measure: tokens or money.
        limit: how much may be spent in the period.
        spent: how much is, with what is in flight.
        until: when the next period begins, in UTC. Of several limits that are reached, the one
            that holds longest is told.
    """

    tenant: str
    period: Period
    measure: Measure
    limit: Decimal
    spent: Decimal
    until: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class _Amount:
    tokens: Decimal = Decimal(0)
    money: Decimal = Decimal(0)

    def __add__(self, other: _Amount) -> _Amount:
        return _Amount(tokens=self.tokens + other.tokens, money=self.money + other.money)

    def __sub__(self, other: _Amount) -> _Amount:
        return _Amount(tokens=self.tokens - other.tokens, money=self.money - other.money)

    def towards(self, other: _Amount, weight: Decimal) -> _Amount:
        return _Amount(
            tokens=self.tokens + (other.tokens - self.tokens) * weight,
            money=self.money + (other.money - self.money) * weight,
        )

    def of(self, measure: Measure) -> Decimal:
        return self.tokens if measure is Measure.TOKENS else self.money


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sums:
    """What the ledger told: as of when (by the monotonic clock), and for which day."""

    read_at: float
    day: date
    by_period: dict[Period, _Amount]


@dataclass(kw_only=True, slots=True, eq=False)
class _Own:
    """What one call of this worker costs, until the ledger's sums show it."""

    amount: _Amount
    applied_at: float | None = None


@dataclass(kw_only=True, slots=True)
class _Account:
    """What is known of one tenant's spending.

    Attributes:
        sums: what the ledger told last.
        own: this worker's calls that these sums may not show.
        own_total: what those cost together, kept beside them: they are many, and asked for often.
        reading: held while the sums are read.
    """

    sums: _Sums | None = None
    own: list[_Own] = field(default_factory=list)
    own_total: _Amount = field(default_factory=_Amount)
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begin(self, amount: _Amount) -> _Own:
        """Count a call that is expected to cost so much."""
        own = _Own(amount=amount)
        self.own.append(own)
        self.own_total += amount
        return own

    def correct(self, own: _Own, amount: _Amount) -> None:
        """Count a call as what it cost."""
        self.own_total += amount - own.amount
        own.amount = amount

    def take(self, sums: _Sums) -> None:
        """Use new sums, and forget the calls that are in them.

        What was applied after they were asked for may be in them too, and counts twice until they
        are read again: better too much than too little.
        """
        self.sums = sums
        self.own = [
            own for own in self.own if own.applied_at is None or own.applied_at >= sums.read_at
        ]
        self.own_total = sum((own.amount for own in self.own), _Amount())


class RunningCall:
    """A call of the model that is under way; see :meth:`Budgets.asking`.

    Attributes:
        told: whether it was told what the call cost.
    """

    def __init__(self, note: Callable[[Usage], None]) -> None:
        self.told = False
        self._note = note

    def spent(self, usage: Usage) -> None:
        """Tell what it cost, as soon as that is known, attempts that failed included."""
        self.told = True
        self._note(usage)


class Budgets:
    """Tells whether a tenant may still spend.

    Args:
        limits: what each tenant may spend.
        spending: what was spent, as the ledger has it.
        prices: what models cost; needed for limits in money.
        fresh_s: how long the ledger's sums are used before they are read again.
        clock: the time, aware.
        monotonic: seconds that only grow.
    """

    def __init__(
        self,
        limits: BudgetLimits,
        spending: Spending,
        prices: Prices | None,
        *,
        fresh_s: float = FRESH_S,
        clock: Callable[[], datetime] = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._spending = spending
        self._prices = prices
        self._fresh_s = fresh_s
        self._clock = clock
        self._monotonic = monotonic
        self._accounts: defaultdict[str, _Account] = defaultdict(_Account)
        self._average: dict[str, _Amount] = {}
        self._unpriced: set[str] = set()

    async def exhausted(self, tenant: str | None) -> BudgetState | None:
        """Return the limit that a tenant has reached, or ``None`` while it may spend.

        To be asked before each turn for which a model would be called, and not where code finds
        that nothing is to be asked: small talk is not deferred. Where a state is returned the turn
        is deferred with the cause ``DeferralCause.BUDGET``; the end of a session settles nothing.

        Args:
            tenant: the tenant's name; ``None``, of the system's own subject, has no limits.

        Raises:
            ReadModelUnavailable: the ledger's sums are older than ``fresh_s`` and cannot be read
                again: it is waited for, as for every other question to the ledger.
        """
        if tenant is None:
            return None
        limits = list(self._limits.of(tenant).limits())
        if not limits:
            return None
        now = self._clock().astimezone(UTC)
        spent = await self._spent(tenant, now.date())
        reached: list[BudgetState] = []
        used = Decimal(0)
        for period, measure, limit in limits:
            amount = spent[period].of(measure)
            used = max(used, amount / limit if limit else Decimal(1))
            if amount >= limit:
                state = BudgetState(
                    tenant=tenant,
                    period=period,
                    measure=measure,
                    limit=limit,
                    spent=amount,
                    until=_next_start(period, now),
                )
                reached.append(state)
        budget_metrics.USED.labels(tenant).set(float(used))
        budget_metrics.EXHAUSTED.labels(tenant).set(1 if reached else 0)
        return max(reached, key=lambda state: state.until, default=None)

    @contextmanager
    def asking(self, tenant: str | None, model: str) -> Iterator[RunningCall]:
        """Count a call against the tenant's budget while the ledger does not show it.

        To be held around the call of the model and until its outcome is applied (or is another
        worker's to append)::

            with budgets.asking(tenant, model) as call:
                proposal = await ...
                call.spent(proposal.usage)
                ...  # append the outcome and wait until it is applied

        Args:
            tenant: the tenant's name, or ``None``.
            model: the model that is asked.
        """
        if tenant is None or not any(self._limits.of(tenant).limits()):
            yield RunningCall(lambda _usage: None)
            return
        account = self._accounts[tenant]
        own = account.begin(self._average.get(model, _Amount()))

        def note(usage: Usage) -> None:
            amount = self._amount(usage, model)
            account.correct(own, amount)
            self._learn(model, amount)

        call = RunningCall(note)
        try:
            yield call
        finally:
            if not call.told:
                account.correct(own, _Amount())
            own.applied_at = self._monotonic()

    def _learn(self, model: str, amount: _Amount) -> None:
        average = self._average.get(model)
        self._average[model] = amount if average is None else average.towards(amount, _LEARNING)

    async def _spent(self, tenant: str, today: date) -> dict[Period, _Amount]:
        account = self._accounts[tenant]
        async with account.reading:
            sums = account.sums
            if sums is None or sums.day != today or self._age(sums) >= self._fresh_s:
                sums = await self._read(tenant, today)
                account.take(sums)
        own = account.own_total
        return {period: amount + own for period, amount in sums.by_period.items()}

    def _age(self, sums: _Sums) -> float:
        return self._monotonic() - sums.read_at

    async def _read(self, tenant: str, today: date) -> _Sums:
        read_at = self._monotonic()
        rows = await self._spending.spent(since=today.replace(day=1), tenant=tenant)
        return _Sums(
            read_at=read_at,
            day=today,
            by_period={
                Period.DAY: self._total(row for row in rows if row.day == today),
                Period.MONTH: self._total(rows),
            },
        )

    def _total(self, rows: Iterable[Spend]) -> _Amount:
        return sum((self._amount(row.usage, row.model) for row in rows), _Amount())

    def _amount(self, usage: Usage, model: str) -> _Amount:
        amount = _Amount(tokens=Decimal(tokens_of(usage)))
        if not self._limits.in_money:
            return amount
        money = cost(self._prices, usage, model)
        if money is None:
            if model not in self._unpriced:
                self._unpriced.add(model)
                logger.warning(
                    "no price is known for the model %r: what it was asked for counts towards no "
                    "limit in money; add it to the file that MEMLEDGER_PRICES names",
                    model,
                )
            return amount
        return replace(amount, money=money)


def _next_start(period: Period, now: datetime) -> datetime:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if period is Period.DAY:
        return midnight + timedelta(days=1)
    # The 28th and 4 days lie in the next month, whichever it is.
    return (midnight.replace(day=28) + timedelta(days=4)).replace(day=1)
