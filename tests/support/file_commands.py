"""Commands on files, made up by hypothesis and by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import strategies as st

from schemas.files import (
    FileChange,
    FileCommand,
    FileCreated,
    FileDeleted,
    FileInserted,
    FileRenamed,
    FileReplaced,
)

_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_NAMES = st.sampled_from(["a", "b", ".c", "node_modules", "..", "%2e", ""])
_PATHS = st.lists(_NAMES, max_size=3).map(lambda names: "/".join(("/memories", *names)))
_TEXTS = st.text(alphabet="ab\n", max_size=8)


def changes(path: str) -> list[FileChange]:
    """Return one change of each kind, and a renaming to and from, that name a path."""
    return [
        # Unchecked, since a log in another language may hold what our models would not.
        FileCreated.model_construct(path=path, file_text="x"),
        FileReplaced.model_construct(path=path, old_str="x", new_str="y"),
        FileInserted.model_construct(path=path, insert_line=0, insert_text="x"),
        FileDeleted.model_construct(path=path),
        FileRenamed.model_construct(old_path=path, new_path="/memories/new.md"),
        FileRenamed.model_construct(old_path="/memories/notes.md", new_path=path),
    ]


def commands() -> st.SearchStrategy[FileCommand]:
    """Return commands on few paths with short texts, so that they meet; ids may repeat."""
    change = st.one_of(
        st.builds(FileCreated, path=_PATHS, file_text=_TEXTS),
        st.builds(FileReplaced, path=_PATHS, old_str=_TEXTS, new_str=_TEXTS),
        st.builds(FileInserted, path=_PATHS, insert_line=st.integers(-1, 4), insert_text=_TEXTS),
        st.builds(FileDeleted, path=_PATHS),
        st.builds(FileRenamed, old_path=_PATHS, new_path=_PATHS),
    )
    return st.builds(
        FileCommand,
        command_id=st.integers(1, 2**64).map(lambda number: UUID(int=number)),
        change=change,
        received_at=st.just(_NOON),
    )
