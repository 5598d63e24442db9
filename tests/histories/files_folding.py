"""What a golden log's commands on files come to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from projections.files.state import Applied, SubjectFiles
from schemas.files import FileCommand
from schemas.keyring import SubjectKeys
from schemas.log.sealed import open_record
from schemas.topics import FILES
from tests.histories.golden import GoldenLog


def fold_files(log: GoldenLog) -> Any:
    """Return what a log's commands on files come to, as JSON."""
    files: dict[UUID, SubjectFiles] = {}
    results: dict[UUID, Applied] = {}
    for keys, command in _commands(log):
        if command.command_id not in results:
            subject = files.setdefault(keys.subject, SubjectFiles())
            results[command.command_id] = subject.apply(command)
    return {
        "subjects": [
            {
                "subject": str(subject),
                "files": [
                    {
                        "file_id": str(file.file_id),
                        "path": file.path,
                        "content": file.content,
                        "version": file.version,
                        "created_at": file.created_at.isoformat(),
                        "changed_at": file.changed_at.isoformat(),
                    }
                    for _, file in sorted(kept.files.items())
                ],
            }
            for subject, kept in sorted(files.items())
        ],
        "results": [
            {
                "command_id": str(command_id),
                "content": applied.result.content,
                "is_error": applied.result.is_error,
                "events": [f"{event.kind.value} {event.path}" for event in applied.events],
            }
            for command_id, applied in results.items()
        ],
    }


def _commands(log: GoldenLog) -> Iterator[tuple[SubjectKeys, FileCommand]]:
    states = log.keys.states()
    for stored in log.sealed:
        if stored.topic == FILES:
            keys = states[stored.record().header().subject]
            assert isinstance(keys, SubjectKeys)
            yield keys, open_record(FileCommand, stored.record(), keys)
