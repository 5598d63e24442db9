"""How the rows that a digest covers are told apart."""

from __future__ import annotations

from typing import Literal, TypeAlias
from uuid import UUID

from projections.canonical_rows import CanonicalRow

RowKey: TypeAlias = (
    tuple[
        Literal[
            "memory", "turn", "waiting", "flag", "suppression", "summary", "file", "file-command"
        ],
        UUID,
    ]
    | tuple[Literal["rejection", "file-event"], UUID, int]
)
"""A row by the id of the memory, of the turn, of the flag, of the end of the session that a summary
is of, of the file or of the command on files, or by a suppression's key; what was refused, by the
record that it was proposed for and its place there; what became of a file, by the command and its
place there."""

Rows: TypeAlias = dict[RowKey, CanonicalRow]
"""A subject's rows."""
