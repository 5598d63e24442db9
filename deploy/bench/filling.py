"""Read models of a bench's own, filled and ready to be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from rich.console import Console

from deploy.bench.rows import BenchUser, Filler
from projections.read_model import ReadModel, open_read_model

EMBEDDER: Final = "bench"
DIMENSION: Final = 384
CLIENTS: Final = 8
"""How many may ask at once."""

_SEED: Final = 7
_TELL_EVERY: Final = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledSite:
    """A filled read model.

    Attributes:
        read_model: its tables.
        users: whose memories it holds.
    """

    read_model: ReadModel
    users: Sequence[BenchUser]


@asynccontextmanager
async def filled(
    generation: str, rows: int, memories_a_user: int, database_url: str, announce: Console
) -> AsyncIterator[FilledSite]:
    """Open a new read model of at least ``rows`` memories, loaded as a fleet's turns would."""
    read_model = await open_read_model(
        database_url,
        generation=generation,
        embedder=EMBEDDER,
        dimension=DIMENSION,
        max_size=CLIENTS,
        migrate=True,
    )
    try:
        users = max(1, rows // memories_a_user)
        announce.print(
            f"· storing {memories_a_user:,} memories of each user, {users:,} in all, "
            "one of each in turn"
        )
        filler = Filler(read_model, seed=_SEED)
        found = await filler.fill(users, memories_a_user, tell_rows(announce))
        yield FilledSite(read_model=read_model, users=found)
    finally:
        await read_model.close()


def tell_rows(announce: Console) -> Callable[[int], None]:
    """Return what tells how many rows are stored, now and then."""

    def tell(stored: int) -> None:
        if stored % _TELL_EVERY == 0:
            announce.print(f"· {stored:,} rows")

    return tell
