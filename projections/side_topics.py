"""Topics that are projected beside the ledger's own: what was served, commands on files.

Their records close no turn. They are read by the same consumer, inside the same fence, and their
rows are committed with the positions, so each takes effect once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from projections.batch import Batch, Poison, SealedBeside
from schemas.database import Connection
from schemas.errors import RecordInvalid, SealBroken
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogPosition, open_record
from schemas.memory import Record
from schemas.tree import Punctured

RecordType = TypeVar("RecordType", bound=Record)


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedBeside(Generic[RecordType]):
    """A record of a side topic.

    Attributes:
        subject: whose it is.
        tenant: the subject's tenant; ``None`` for the system's own subject.
        record_id: its id, from its header; of several records of one id the lowest offset counts.
        position: where it stands.
        timestamp_ms: when the broker appended it, in milliseconds since 1970.
        record: what it says.
    """

    subject: UUID
    tenant: str | None
    record_id: UUID
    position: LogPosition
    timestamp_ms: int
    record: RecordType


class SideTopic(Protocol[RecordType]):
    """What becomes of the records of one topic.

    Attributes:
        topic: its name.
        model: what its records are.
    """

    @property
    def topic(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def model(self) -> type[RecordType]: ...  # noqa: D102 - described with the class

    def check(self, opened: OpenedBeside[RecordType]) -> None:
        """Refuse what the schema allows and the tables cannot hold or must not believe.

        Raises:
            RecordInvalid: the record is of no use.
        """
        ...

    async def apply(
        self, connection: Connection, opened: Sequence[OpenedBeside[RecordType]]
    ) -> None:
        """Write the rows of some records, in the order of each partition.

        It is called inside the batch's transaction, which holds the fence and has named the
        records' subjects. A record may come again that was applied before: it must change nothing.
        """
        ...


class SideApplier:
    """Opens and applies what a batch holds of side topics.

    Args:
        sides: the topics.
    """

    def __init__(self, sides: Sequence[SideTopic[Any]]) -> None:
        self._sides = tuple(sides)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics' names."""
        return tuple(side.topic for side in self._sides)

    async def apply(
        self,
        connection: Connection,
        batch: Batch,
        keys: Mapping[UUID, SubjectKeys | Erased],
    ) -> list[Poison]:
        """Apply the records that can be opened; return those that are of no use.

        What belongs to an erased subject, or to a leaf that was forgotten, is passed over.
        """
        poison: list[Poison] = []
        for side in self._sides:
            opened = open_beside(side, batch.beside.get(side.topic, ()), keys, poison)
            if opened:
                await side.apply(connection, opened)
        return poison


def open_beside(
    side: SideTopic[Any],
    sealed: Sequence[SealedBeside],
    keys: Mapping[UUID, SubjectKeys | Erased],
    poison: list[Poison],
) -> list[OpenedBeside[Any]]:
    """Open records of a side topic.

    Args:
        side: the topic.
        sealed: the records.
        keys: the state of every subject that they name.
        poison: takes those that are of no use.

    Returns:
        The records, in their order, but for those of erased subjects and forgotten leaves.
    """
    opened: list[OpenedBeside[Any]] = []
    for item in sealed:
        state = keys[item.header.subject]
        if isinstance(state, Erased):
            continue
        try:
            found = OpenedBeside(
                subject=item.header.subject,
                tenant=state.tenant,
                record_id=item.header.record_id,
                position=item.record.position,
                timestamp_ms=item.record.timestamp_ms,
                record=open_record(side.model, item.record, state),
            )
            side.check(found)
        except Punctured:
            continue
        except SealBroken as error:
            poison.append(Poison(record=item.record, stage="open", error=error))
        except RecordInvalid as error:
            poison.append(Poison(record=item.record, stage="decode", error=error))
        else:
            opened.append(found)
    return opened
