"""Taking down what stands between a caller and the rows of others, one wall at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
import pytest

from projections import (
    flags,
    held_memories,
    memories,
    profile,
    recall_rows,
    recall_waiting,
    recalls,
    summaries,
    turns,
)
from projections.files import answers, listings
from projections.read_model import schema_name
from tests.conftest import TestStores

READERS: Final = (
    flags,
    held_memories,
    listings,
    answers,
    memories,
    profile,
    recall_rows,
    recall_waiting,
    recalls,
    summaries,
    turns,
)
"""The modules that ask the read model on behalf of a caller."""

_FILTER: Final = re.compile(
    r"(?:\w+\.)?subject = (?:%\(subject\)s(?:::uuid)?|(?P<named>(?:named|weighed)\.subject))"
    r"|(?:\w+\.)?tenant = %\(tenant\)s"
)


def _let_through(found: re.Match[str]) -> str:
    # What is read hangs on the row that names the subject: that order is no filter.
    return f"{found['named']} IS NOT NULL" if found["named"] else "true"


@contextmanager
def without_filters() -> Iterator[None]:
    """Have every statement that a caller's question leads to ask for the rows of everybody."""
    with pytest.MonkeyPatch.context() as patch:
        for module in READERS:
            queries = module._QUERIES
            unfiltered = {name: _FILTER.sub(_let_through, query) for name, query in queries.items()}
            assert unfiltered != queries, module
            patch.setattr(module, "_QUERIES", unfiltered)
        yield


@contextmanager
def without_row_security(stores: TestStores) -> Iterator[None]:
    """Let Postgres show every row of every table to whoever asks."""
    with psycopg.connect(stores.database_url, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relrowsecurity AND relkind = 'r'"
            " AND relnamespace = %s::regnamespace",
            [schema_name(stores.generation)],
        ).fetchall()
        assert len(tables) > 10

        def switch(state: str) -> None:
            for (table,) in tables:
                connection.execute(f"ALTER TABLE {table} {state} ROW LEVEL SECURITY")

        switch("DISABLE")
        try:
            yield
        finally:
            switch("ENABLE")
