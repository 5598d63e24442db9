"""What a model is answered: the result of a command once it is carried out, and what it views."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from projections.files.viewing import view_directory, view_file
from projections.read_model import ReadModel, name_subjects
from projections.reading import read_rows
from schemas.clock import utc_now
from schemas.errors import CommandRefused, ResultPending
from schemas.file_paths import checked_path
from schemas.files import ToolResult, refusal
from schemas.queries import load_queries

RESULT_WAIT_S: Final = 10.0
"""How long a caller waits for a command to be carried out: forty times what it took on two cores
with a load of eight."""

_QUERIES: Final = load_queries("projections", "sql/files.sql")

_FIRST_PAUSE_S: Final = 0.005
_PAUSE_S_MAX: Final = 0.1


class FileAnswers:
    """Answers to the memory tool out of a read model.

    Args:
        read_model: the generation's tables.
        clock: the current time, aware.
        wait_s: how long to wait for a command to be carried out.
    """

    def __init__(
        self,
        read_model: ReadModel,
        *,
        clock: Callable[[], datetime] = utc_now,
        wait_s: float = RESULT_WAIT_S,
    ) -> None:
        self._read_model = read_model
        self._clock = clock
        self._wait_s = wait_s

    async def result(self, subject: UUID, command_id: UUID) -> ToolResult:
        """Return what a command is answered with, once the projector has carried it out.

        Raises:
            ResultPending: it was not carried out in time; it will be.
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {"subject": subject, "command_id": command_id}
        loop = asyncio.get_running_loop()
        deadline, pause_s = loop.time() + self._wait_s, _FIRST_PAUSE_S
        # Asked again and again, over being notified: a row that is there is found whatever became
        # of a notification, and the gateway needs no connection that listens.
        while True:
            rows = await read_rows(self._read_model, subject, _QUERIES["select_result"], asked)
            if rows:
                return ToolResult(content=rows[0]["content"], is_error=rows[0]["is_error"])
            left_s = deadline - loop.time()
            if left_s <= 0:
                raise ResultPending(
                    f"the command is accepted and was not carried out within {self._wait_s:g} s: "
                    "send it again under the same command_id to learn what it came to, or view the "
                    "files; under one command_id it takes effect once"
                )
            await asyncio.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 2, _PAUSE_S_MAX)

    async def view(
        self, subject: UUID | None, path: str, view_range: Sequence[int] | None = None
    ) -> ToolResult:
        """Return what a model sees of a directory or a file, and note that the file was read.

        Args:
            subject: whose files; ``None`` where nothing was ever heard of the user.
            path: the path as the model told it.
            view_range: which lines of a file.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        try:
            checked = checked_path(path)
            if subject is None:
                return ToolResult(content=view_directory(checked, {}))
            return ToolResult(content=await self._view(subject, checked, view_range))
        except CommandRefused as error:
            return refusal(error)

    async def _view(self, subject: UUID, path: str, view_range: Sequence[int] | None) -> str:
        asked = {"subject": subject, "path": path}
        rows = await read_rows(self._read_model, subject, _QUERIES["select_file"], asked)
        if not rows:
            sizes = await read_rows(self._read_model, subject, _QUERIES["select_sizes"], asked)
            return view_directory(path, {row["path"]: row["size_bytes"] for row in sizes})
        shown = view_file(path, rows[0]["content"], view_range=view_range)
        await self._note_view(subject, path, rows[0]["file_id"])
        return shown

    async def _note_view(self, subject: UUID, path: str, file_id: UUID) -> None:
        """Note when a file was read: a hint for tidying and no part of what happened.

        So it is a row and no record of the log, which would hold more of them than of all else.
        """
        viewed_at = self._clock()
        noted = {"subject": subject, "path": path, "file_id": file_id, "viewed_at": viewed_at}
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, [subject])
            await connection.execute(_QUERIES["note_view"], noted)
