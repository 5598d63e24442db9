"""Under whom a record of the turns topic is accounted for.

The worker that closes it, the projector that counts it and the audit that checks both must agree,
also on records that nobody should have written.
"""

from __future__ import annotations

from uuid import UUID

from schemas import ids
from schemas.errors import RecordInvalid, SealBroken
from schemas.log.sealed import LogRecord
from schemas.partitioning import partition_for
from schemas.sealing import Header


class RecordUnaccountable(RecordInvalid):
    """The record names no subject that belongs here; it counts for the system subject."""


def header_in_place(record: LogRecord, partitions: int) -> Header:
    """Return the header of a record that stands where its subject's records stand.

    Args:
        record: a record of the turns topic.
        partitions: how many partitions the topic has.

    Raises:
        RecordUnaccountable: it has no readable header, or stands in another partition than its
            subject's, where its order among the subject's turns is not kept.
    """
    try:
        header = record.header()
    except SealBroken as error:
        raise RecordUnaccountable(str(error)) from None
    belongs = partition_for(header.subject, partitions)
    if belongs != record.position.partition:
        raise RecordUnaccountable(
            f"it stands in partition {record.position.partition}, its subject's is {belongs}: mend "
            "the producer that wrote it"
        )
    return header


def turn_id_of_unaccountable(record: LogRecord) -> UUID:
    """Return the turn id under which the system subject accounts for a record."""
    position = record.position
    return ids.unreadable_turn_id(position.topic, position.partition, position.offset)
