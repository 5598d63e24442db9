"""Carrying out the memory tool's commands: a change is appended, and its result is waited for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias
from uuid import UUID

from producers.memory_tool_input import FileView, ToolCommand
from producers.metrics import Command, count_command
from producers.ports import FileAnswers
from producers.subject_records import (
    Draft,
    SubjectRecords,
    Withheld,
    appended_or_raise,
    sealed_at_its_time,
)
from schemas.clock import utc_now
from schemas.errors import CommandRefused
from schemas.files import FileChange, FileCommand, ToolResult, checked_change, refusal
from schemas.ids import file_command_id
from schemas.keyring import SubjectKeys
from schemas.log.sealed import SealedRecord

FindSubject: TypeAlias = Callable[[str, str], Awaitable[UUID | None]]
"""Returns the subject of a tenant's user, ``None`` where there is none."""


IsPaused: TypeAlias = Callable[[str, str], Awaitable[bool]]
"""Whether a tenant's user has paused memory."""

_PAUSED: Final = ToolResult(
    content="Error: The user has paused memory, so nothing is read or noted now: go on without it.",
    is_error=True,
)


@dataclass(kw_only=True, slots=True)
class _Sealing:
    """Seals one command; appended again for a new subject, it is sealed again.

    Attributes:
        change: what is to be done.
        client_id: the caller's own id of the command.
        now: when it was accepted.
        subject: whose it was sealed for last.
    """

    change: FileChange
    client_id: str | None
    now: datetime
    subject: UUID | None = None

    def __call__(self, keys: SubjectKeys) -> tuple[UUID, SealedRecord]:
        self.subject = keys.subject
        command_id = file_command_id(keys.id_secret, self.client_id)
        command = FileCommand(command_id=command_id, change=self.change, received_at=self.now)
        return sealed_at_its_time(
            command, keys=keys, record_id=command_id, occurred_at=self.now, named_by="command_id"
        )


class MemoryTool:
    """Answers commands of the memory tool.

    Args:
        records: appends to subjects' lines of the topic of files.
        answers: tells what commands came to, and shows files.
        find_subject: tells the subject of a tenant's user.
        is_paused: tells whether a tenant's user has paused memory.
        clock: the current time, aware.
    """

    def __init__(
        self,
        records: SubjectRecords,
        answers: FileAnswers,
        find_subject: FindSubject,
        is_paused: IsPaused,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._records = records
        self._answers = answers
        self._find_subject = find_subject
        self._is_paused = is_paused
        self._clock = clock

    async def answer(self, tenant: str, command: ToolCommand) -> ToolResult:
        """Carry out one command and return what the model is to be told.

        A change is acknowledged by all replicas and carried out by then; who views afterwards sees
        it. What the model got wrong is a result too, and changes nothing.

        Raises:
            ResultPending: the change stands in the log and was not carried out in time.
            LogBusy, LogUnavailable: the log did not take it; it may stand all the same, and to send
                it again under its own id is harmless.
            InvalidInput: it was forgotten.
            UnknownTenant, KeyringUnavailable: as the keyring does.
            ReadModelUnavailable: the read model cannot be reached.
        """
        if await self._is_paused(tenant, command.user_id):
            return _PAUSED
        asked = command.asked
        if isinstance(asked, FileView):
            subject = await self._find_subject(tenant, command.user_id)
            return await self._answers.view(subject, asked.path, asked.view_range)
        try:
            change = checked_change(asked)
        except CommandRefused as error:
            return refusal(error)
        return await self._change(tenant, command, change)

    async def _change(self, tenant: str, command: ToolCommand, change: FileChange) -> ToolResult:
        sealing = _Sealing(change=change, client_id=command.client_id, now=self._clock())
        draft = Draft(owner=command.user_id, seal=sealing, while_paused=False)
        (result,) = await self._records.append(tenant, [draft])
        if isinstance(result, Withheld):
            return _PAUSED
        result = appended_or_raise(result)
        count_command(Command.FILE_COMMAND)
        assert sealing.subject is not None  # noqa: S101 - what was appended was sealed
        return await self._answers.result(sealing.subject, result.turn_id)
