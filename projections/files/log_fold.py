"""Folding the commands on files of one partition in memory, for comparing their rows with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import islice
from typing import Final
from uuid import UUID

from projections.audit_opening import known_states
from projections.batch import BatchReader, Poison
from projections.files import projection
from projections.files.projection import FilesTopic, Opened
from projections.files.state import FileEvent, SubjectFiles
from projections.log_batches import read_batches
from projections.side_topics import open_beside
from schemas.files import ToolResult
from schemas.keyring import Keyring
from schemas.log.sealed import LogRecord
from schemas.topics import FILES

_CLIENT_ID: Final = "memledger-digest"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldedCommand:
    """A command that was carried out.

    Attributes:
        log_offset: where it stands.
        result: what it is answered with.
    """

    log_offset: int
    result: ToolResult


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldedEvent:
    """An entry of the history.

    Attributes:
        log_offset: where its command stands.
        place: its place among the entries of the command.
        command_id: the command.
        event: what happened.
    """

    log_offset: int
    place: int
    command_id: UUID
    event: FileEvent


@dataclass(kw_only=True, slots=True)
class FoldedFiles:
    """What the log says of one subject's files.

    Attributes:
        files: those that are there.
        commands: what was carried out, by its id.
        events: what became of files, in order.
    """

    files: SubjectFiles = field(default_factory=SubjectFiles)
    commands: dict[UUID, FoldedCommand] = field(default_factory=dict)
    events: list[FoldedEvent] = field(default_factory=list)

    def apply(self, opened: Opened) -> None:
        """Carry out a command, unless its id was seen before."""
        if opened.record_id in self.commands:
            return
        offset = opened.position.offset
        applied = self.files.apply(opened.record)
        self.commands[opened.record_id] = FoldedCommand(log_offset=offset, result=applied.result)
        self.events += (
            FoldedEvent(log_offset=offset, place=place, command_id=opened.record_id, event=event)
            for place, event in enumerate(applied.events)
        )

    def kept_events(self) -> Iterator[FoldedEvent]:
        """Yield the newest entries, as many as the table keeps."""
        characters = 0
        for event in islice(reversed(self.events), projection.HISTORY_ENTRIES_MAX):
            characters += len(event.event.content or "")
            if characters > projection.HISTORY_CHARACTERS_MAX:
                return
            yield event


class FilesFold:
    """Folds the commands on files.

    Args:
        bootstrap: ``host:port[,host:port]`` of the broker.
        keyring: knows the subjects' keys.
        generation: the generation whose rows are compared.
        system_subject: the system's own subject.
        partitions: how many partitions the topics have.
    """

    def __init__(
        self,
        bootstrap: str,
        keyring: Keyring,
        *,
        generation: str,
        system_subject: UUID,
        partitions: int,
    ) -> None:
        self._bootstrap = bootstrap
        self._keyring = keyring
        self._topic = FilesTopic(partitions=partitions)
        self._reader = BatchReader(
            generation=generation,
            system_subject=system_subject,
            partitions=partitions,
            side_topics=(FILES,),
        )

    async def partition(self, partition: int, *, end: int) -> dict[UUID, FoldedFiles]:
        """Fold a partition up to an offset; what nobody can open says nothing.

        Args:
            partition: the partition.
            end: the first offset that is left out.

        Raises:
            LogUnavailable, KeyringUnavailable: a store cannot be reached.
        """
        folded: dict[UUID, FoldedFiles] = {}
        if end == 0:
            return folded
        batches = read_batches(self._bootstrap, FILES, partition, client_id=_CLIENT_ID)
        async with aclosing(batches):
            async for batch in batches:
                wanted = [record for record in batch if record.position.offset < end]
                for opened in await self._opened(wanted, partition):
                    folded.setdefault(opened.subject, FoldedFiles()).apply(opened)
                if len(wanted) < len(batch):
                    break
        return folded

    async def _opened(self, records: list[LogRecord], partition: int) -> list[Opened]:
        batch = self._reader.read(records, {(FILES, partition): 0})
        states = await known_states(self._keyring.fresh_keys, batch.opened_subjects)
        sealed = [one for one in batch.beside.get(FILES, ()) if one.header.subject in states]
        # What is of no use is a dead letter, and was carried out by nobody.
        of_no_use: list[Poison] = []
        return open_beside(self._topic, sealed, states, of_no_use)
