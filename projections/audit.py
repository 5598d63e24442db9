"""The audit: what became of every turn, from the logs alone.

Per partition: turns in = how they closed + in flight. What does not fit is *unaccounted* and an
alarm: an outcome that closes no known turn, a turn that the read model holds for closed and the
log does not, an outcome that nobody can read and nobody has set aside.

An outcome that cannot be used, or that Postgres refused, closes its turn as dead-lettered where no
outcome of a lower offset did.

The outcomes are read before the turns. A turn is appended before its outcome, so every outcome that
was read finds its turn, and a turn whose outcome came too late counts as in flight. Memory is that
of one partition: about 500 bytes a turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Any, Final

from projections.audit_opening import KeySource, Opener
from projections.audit_tally import PartitionAudit, Tally
from projections.digest import Comparison
from projections.log_batches import read_batches
from schemas.ports import PartitionProgress
from schemas.records import DeadLetter, Outcome
from schemas.topics import DEAD_LETTERS, TURNS, memories_topic

_CLIENT_ID: Final = "memledger-audit"

CompareReadModel = Callable[[], Awaitable[Comparison]]
"""Compares the read model with a fold of its log, as ``ReadModelComparer.compare`` does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditReport:
    """What became of every turn of a generation.

    Attributes:
        generation: the generation.
        partitions: one report for each partition, in order.
        comparison: how the read model compares with a fold of its log; ``None`` where that was not
            asked for.
    """

    generation: str
    partitions: tuple[PartitionAudit, ...]
    comparison: Comparison | None

    @property
    def unaccounted(self) -> int:
        """What does not fit, of all partitions."""
        return sum(partition.unaccounted for partition in self.partitions)

    @property
    def passed(self) -> bool:
        """Whether nothing is unaccounted for, and no compared subject differs."""
        return self.unaccounted == 0 and (self.comparison is None or self.comparison.equal)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object, with the totals of all partitions."""
        partitions = [
            {**asdict(partition), "unaccounted": partition.unaccounted}
            for partition in self.partitions
        ]
        return {
            "generation": self.generation,
            "passed": self.passed,
            "totals": _totals(partitions),
            "partitions": partitions,
            "comparison": None if self.comparison is None else _compared(self.comparison),
        }


async def audit(
    bootstrap: str,
    keyring: KeySource,
    *,
    generation: str,
    partitions: int,
    progress: Mapping[int, PartitionProgress] | None = None,
    compare: CompareReadModel | None = None,
) -> AuditReport:
    """Account for every turn, one partition after the other; reads only.

    Args:
        bootstrap: the broker, ``host:port[,host:port]``.
        keyring: opens outcomes and dead letters.
        generation: the generation to account for.
        partitions: number of partitions of the topics.
        progress: what the read model holds for closed, by partition, as it was read *before* this
            call; ``None`` leaves the read model out.
        compare: compares the read model with a fold of its log, or ``None``.

    Raises:
        LogUnavailable: the broker ceased to answer.
        KeyringUnavailable: the keyring cannot be reached.
    """
    opener = Opener(keyring)
    reports = []
    for partition in range(partitions):
        tally = Tally(generation=generation, partition=partition, partitions=partitions)
        await _read_outcomes(tally, bootstrap, opener)
        await _read_dead_letters(tally, bootstrap, opener)
        await _read_turns(tally, bootstrap)
        reports.append(tally.report(None if progress is None else progress.get(partition)))
    return AuditReport(
        generation=generation,
        partitions=tuple(reports),
        comparison=None if compare is None else await compare(),
    )


async def _read_outcomes(tally: Tally, bootstrap: str, opener: Opener) -> None:
    topic = memories_topic(tally.generation)
    batches = read_batches(bootstrap, topic, tally.partition, client_id=_CLIENT_ID)
    async with aclosing(batches):
        async for batch in batches:
            filled = [record for record in batch if record.value is not None]
            opened = await opener.open(Outcome, filled)
            for record in batch:
                if record.value is None:
                    tally.bury_outcome(record)
                else:
                    tally.add_outcome(record, opened[record.position])


async def _read_turns(tally: Tally, bootstrap: str) -> None:
    batches = read_batches(bootstrap, TURNS, tally.partition, client_id=_CLIENT_ID)
    async with aclosing(batches):
        async for batch in batches:
            for record in batch:
                if record.value is None:
                    tally.bury_turn(record)
                else:
                    tally.add_turn(record)


async def _read_dead_letters(tally: Tally, bootstrap: str, opener: Opener) -> None:
    batches = read_batches(bootstrap, DEAD_LETTERS, tally.partition, client_id=_CLIENT_ID)
    async with aclosing(batches):
        async for batch in batches:
            filled = [record for record in batch if record.value is not None]
            opened = await opener.open(DeadLetter, filled)
            for record in filled:
                tally.add_dead_letter(record, opened[record.position])


def _totals(partitions: list[dict[str, Any]]) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for partition in partitions:
        for name, value in partition.items():
            if isinstance(value, Mapping):
                so_far = totals.setdefault(name, {})
                for key, count in value.items():
                    so_far[key] = so_far.get(key, 0) + count
            elif name != "partition":
                totals[name] = totals.get(name, 0) + value
    return totals


def _compared(comparison: Comparison) -> dict[str, Any]:
    differences = [
        {
            "subject": str(difference.subject),
            "partition": difference.partition,
            "missing": [str(one) for one in difference.missing],
            "surplus": [str(one) for one in difference.surplus],
            "changed": [str(one) for one in difference.changed],
        }
        for difference in comparison.differences
    ]
    return {
        "equal": comparison.equal,
        "subjects": comparison.subjects,
        "rows": comparison.rows,
        "spending_differs": list(comparison.spending_differs),
        "embeddings_waiting": comparison.embeddings_waiting,
        "differences": differences,
    }
