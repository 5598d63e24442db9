"""What the gateway asks of the read model for one request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from schemas.request_context import current_request
from tests.conftest import TestStores

Statements = dict[str, list[tuple[str, int]]]
"""By request id: each statement of the read model, and how many rows it found."""


@contextmanager
def statements_of_requests(stores: TestStores) -> Iterator[Statements]:
    """Note what requests ask of the read model, in the process of the test."""
    noted: Statements = {}
    execute, fetch = psycopg.AsyncCursor.execute, psycopg.AsyncCursor.fetchall
    database = conninfo_to_dict(stores.database_url)["dbname"]

    def of_request(cursor: psycopg.AsyncCursor[Any]) -> list[tuple[str, int]] | None:
        request = current_request()
        if request is None or cursor.connection.info.dbname != database:
            return None
        return noted.setdefault(request.request_id, [])

    async def noting(self: Any, query: Any, *arguments: Any, **more: Any) -> Any:
        if (statements := of_request(self)) is not None:
            statements.append((str(query), 0))
        return await execute(self, query, *arguments, **more)

    async def fetching(self: Any) -> Any:
        rows = await fetch(self)
        if (statements := of_request(self)) is not None:
            statements.append(("fetched", len(rows)))
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.AsyncCursor, "execute", noting)
        patch.setattr(psycopg.AsyncCursor, "fetchall", fetching)
        yield noted
