"""A record of the turns topic that could be opened, and what it asks for."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, TypeAlias

from processors.losses import AtStake
from schemas import registry
from schemas.commands import ConsolidationStart, Curation, SessionEnd
from schemas.errors import RecordInvalid, UnknownSchema
from schemas.keyring import SubjectKeys
from schemas.log.sealed import LogRecord, open_record
from schemas.records import Turn
from schemas.sealing import Header
from schemas.suppression import SuppressionKeying

Cause: TypeAlias = Turn | Curation | SessionEnd | ConsolidationStart
"""What a record of the turns topic may be; its outcome says what became of it."""

CAUSES: Final[tuple[type[Cause], ...]] = (Turn, Curation, SessionEnd, ConsolidationStart)

_BY_SCHEMA: Final = {registry.schema_of(model).name: model for model in CAUSES}


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A record that is being worked on.

    Attributes:
        record: as it was read.
        header: its header.
        keys: its subject's keys.
        cause: what was sealed.
        until_applied: closed once the projection has applied the outcome.
        at_stake: what goes with the record if it is given up.
    """

    record: LogRecord
    header: Header
    keys: SubjectKeys
    cause: Cause
    until_applied: ExitStack
    at_stake: AtStake

    @property
    def keying(self) -> SuppressionKeying:
        """What makes the keys of what its subject deleted or corrected."""
        return SuppressionKeying.of_subject(self.keys.id_secret)


def open_cause(record: LogRecord, header: Header, keys: SubjectKeys) -> Cause:
    """Open a record of the turns topic.

    Raises:
        Punctured: its key was forgotten.
        SealBroken: it is not what was sealed.
        RecordInvalid: it opened and does not fit, or is nothing that this program knows.
    """
    model = _BY_SCHEMA.get(header.schema_name)
    if model is None:
        raise UnknownSchema(
            f"schema {header.schema_name!r} does not belong into the turns topic; this program "
            f"knows {', '.join(sorted(_BY_SCHEMA))}"
        )
    cause = open_record(model, record, keys)
    if cause.turn_id != header.record_id:
        # The projection knows it by its header: under another id it would stay open for ever.
        raise RecordInvalid("the record's id is not the one that its header names")
    return cause
