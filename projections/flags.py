"""The flag queue, for a tenant's staff; implements :class:`schemas.flags.Flags`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final
from uuid import UUID

from psycopg.rows import dict_row

from projections.cursors import Cursor, listing_digest, require_between
from projections.read_model import ReadModel, name_subjects, name_tenants
from projections.reading import Row
from schemas.events import RejectionReason
from schemas.flags import Flag, FlagState, Verdict
from schemas.proposals import Operation
from schemas.queries import load_queries

LIMIT_DEFAULT: Final = 50
LIMIT_MAX: Final = 500

_QUERIES: Final = load_queries("projections", "sql/flags.sql")


@dataclass(frozen=True, kw_only=True, slots=True)
class FlagPage:
    """A page of flags.

    Attributes:
        flags: what waits, the longest waiting first; or what was decided, the latest flagged first.
        next_cursor: what to send for the next page; ``None`` on the last.
        generation: the generation that was asked.
    """

    flags: tuple[Flag, ...]
    next_cursor: str | None
    generation: str


class PostgresFlags:
    """The flags of a read model.

    Args:
        read_model: the generation's tables.
    """

    def __init__(self, read_model: ReadModel) -> None:
        self._read_model = read_model

    @property
    def generation(self) -> str:
        """The generation that is asked."""
        return self._read_model.generation

    async def get(self, tenant: str, flag_id: UUID) -> Flag | None:
        """Return a flag of one of the tenant's users, as far as the projection has come.

        Returns:
            The flag; ``None`` where no user of this tenant has it.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {"tenant": tenant, "flag_id": flag_id}
        rows = await self._rows(tenant, _QUERIES["select_flag"], asked)
        return _flag(rows[0]) if rows else None

    async def page(
        self,
        tenant: str,
        *,
        state: FlagState = FlagState.OPEN,
        subject: UUID | None = None,
        cursor: str | None = None,
        limit: int = LIMIT_DEFAULT,
    ) -> FlagPage:
        """Return a page of the flags of a tenant's users.

        Args:
            tenant: the tenant whose staff asks.
            state: what became of them.
            subject: whose; ``None`` for those of every user of the tenant.
            cursor: ``next_cursor`` of the page before.
            limit: the most flags of the page, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: an argument cannot be used.
            ReadModelUnavailable: the read model cannot be reached.
        """
        require_between("limit", limit, LIMIT_MAX)
        listing = listing_digest(tenant, state.value, subject)
        after = (
            None
            if cursor is None
            else Cursor.decode(cursor, listing, arguments="state and user_id")
        )
        asked = {
            "tenant": tenant,
            "state": state.value,
            "subject": subject,
            "after_flagged_at": None if after is None else after.moment,
            "after_flag_id": None if after is None else after.row_id,
            "limit": limit + 1,
        }
        query = _QUERIES["list_open" if state is FlagState.OPEN else "list_decided"]
        rows = await self._rows(tenant, query, asked, subject)
        found = [_flag(row) for row in rows]
        flags = tuple(found[:limit])
        following = None
        if len(found) > limit:
            last = flags[-1]
            following = Cursor(
                moment=last.flagged_at, row_id=last.flag_id, listing=listing
            ).encode()
        return FlagPage(flags=flags, next_cursor=following, generation=self._read_model.generation)

    async def _rows(
        self, tenant: str, query: str, asked: Mapping[str, Any], subject: UUID | None = None
    ) -> list[Row]:
        async with self._read_model.connection() as connection, connection.transaction():
            # Of one user's flags alone is asked: then nobody else's can be seen either.
            if subject is None:
                await name_tenants(connection, [tenant])
            else:
                await name_subjects(connection, [subject])
            cursor = connection.cursor(binary=True, row_factory=dict_row)
            await cursor.execute(query, asked)
            return list(await cursor.fetchall())


def _flag(row: Row) -> Flag:
    return Flag(
        flag_id=row["flag_id"],
        subject=row["subject"],
        state=FlagState(row["state"]),
        reasons=tuple(map(RejectionReason, row["reasons"])),
        operation=Operation.model_validate_json(row["proposed"]),
        turn_id=row["turn_id"],
        conversation_id=row["conversation_id"],
        said_at=row["said_at"].astimezone(UTC),
        utc_offset_minutes=row["utc_offset_minutes"],
        flagged_at=row["flagged_at"].astimezone(UTC),
        verdict=_verdict(row),
    )


def _verdict(row: Row) -> Verdict | None:
    if row["decided_at"] is None:
        return None
    return Verdict(
        actor=row["actor"],
        reason=row["reason"],
        decided_at=row["decided_at"].astimezone(UTC),
        turn_id=row["decided_by_turn"],
    )
