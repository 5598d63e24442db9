"""Opening records for an audit, which must go on where a reader of the pipeline would stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar
from uuid import UUID

from schemas.errors import KeyMissing, RecordInvalid, SealBroken
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogPosition, LogRecord, open_record
from schemas.memory import Record
from schemas.records import Closing
from schemas.tree import Punctured

RecordType = TypeVar("RecordType", bound=Record)
States: TypeAlias = Mapping[UUID, SubjectKeys | Erased]
"""Subjects' keys, or the records of their destruction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A record that cannot be used.

    Attributes:
        error: the class of what is wrong with it.
    """

    error: str


class KeySource(Protocol):
    """The part of the keyring that an audit needs."""

    async def keys(self, subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        """Return each subject's keys, or the record of their destruction.

        Raises:
            KeyMissing: a subject has neither.
            KeyringUnavailable: it cannot be reached.
        """
        ...


KEY_MISSING: Final = Unreadable(error=KeyMissing.__name__)
"""What is said of a record whose keys are missing without a record of their destruction."""


class Opener:
    """Opens batches of records, each to what it holds or to why it cannot be opened."""

    def __init__(self, keyring: KeySource) -> None:
        self._keyring = keyring

    async def open(
        self, expected: type[RecordType], records: Sequence[LogRecord]
    ) -> dict[LogPosition, RecordType | Closing | Unreadable]:
        """Return what each record holds, by its position.

        A record whose keys are destroyed is ``Closing.ERASED``. Keys that are missing without a
        record of their destruction make it unreadable, never erased.

        Raises:
            KeyringUnavailable: the keyring cannot be reached.
        """
        subjects = {subject for record in records if (subject := _subject_of(record)) is not None}
        states = await known_states(self._keyring.keys, subjects)
        return {record.position: _opened(expected, record, states) for record in records}


async def known_states(
    keys: Callable[[Collection[UUID]], Awaitable[States]], subjects: Collection[UUID]
) -> States:
    """Return the states of those subjects that the keyring knows.

    A header may name any subject: one that is unknown must not hide the others.

    Args:
        keys: asks the keyring; raises KeyMissing where it does not know one of them.
        subjects: the subjects.

    Raises:
        KeyringUnavailable: the keyring cannot be reached.
    """
    try:
        return await keys(subjects)
    except KeyMissing:
        found: dict[UUID, SubjectKeys | Erased] = {}
        for subject in subjects:
            try:
                found |= await keys([subject])
            except KeyMissing:
                continue
        return found


def _subject_of(record: LogRecord) -> UUID | None:
    try:
        return record.header().subject
    except SealBroken:
        return None


def _opened(
    expected: type[RecordType],
    record: LogRecord,
    states: Mapping[UUID, SubjectKeys | Erased],
) -> RecordType | Closing | Unreadable:
    try:
        state = states.get(record.header().subject)
        if state is None:
            return KEY_MISSING
        if isinstance(state, Erased):
            return Closing.ERASED
        return open_record(expected, record, state)
    except Punctured:
        return Closing.ERASED
    except (SealBroken, RecordInvalid) as error:
        return Unreadable(error=type(error).__name__)
