"""What asking models has cost; implements :class:`schemas.spending.Spending`."""

from __future__ import annotations

from datetime import date
from typing import Final

from projections.read_model import ReadModel, name_every_subject, name_tenants
from schemas.proposals import Usage
from schemas.queries import load_queries
from schemas.spending import Spend

_QUERIES: Final = load_queries("projections", "sql/spending.sql")


class PostgresSpending:
    """What was spent, as a read model has added it up.

    Args:
        read_model: the generation's tables.
    """

    def __init__(self, read_model: ReadModel) -> None:
        self._read_model = read_model

    async def spent(self, *, since: date, tenant: str | None = None) -> tuple[Spend, ...]:
        """Return what was spent from a UTC day on, of one tenant or of all, by day.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {"since": since, "tenant": tenant}
        async with self._read_model.connection() as connection, connection.transaction():
            if tenant is None:
                await name_every_subject(connection)
            else:
                await name_tenants(connection, [tenant])
            cursor = await connection.execute(_QUERIES["select_spending"], asked, binary=True)
            rows = await cursor.fetchall()
        return tuple(
            Spend(
                day=day,
                tenant=of,
                extractor=extractor,
                model=model,
                closings=closings,
                turns=turns,
                usage=Usage(
                    calls=calls,
                    input_tokens=input_tokens,
                    output_tokens=output_tokens,
                    cache_read_tokens=cache_read_tokens,
                    cache_write_tokens=cache_write_tokens,
                ),
            )
            for (
                day,
                of,
                extractor,
                model,
                closings,
                turns,
                calls,
                input_tokens,
                output_tokens,
                cache_read_tokens,
                cache_write_tokens,
            ) in rows
        )
