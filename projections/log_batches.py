"""Reading a partition to its end without holding up the event loop or the whole log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from itertools import islice
from typing import Final, cast

from schemas.log.reader import read_to_end
from schemas.log.sealed import LogRecord

BATCH_RECORDS: Final = 500


async def read_batches(
    bootstrap: str, topic: str, partition: int, *, client_id: str
) -> AsyncGenerator[list[LogRecord], None]:
    """Yield every record of a partition, in order, in batches of up to ``BATCH_RECORDS``.

    Use it inside :func:`contextlib.aclosing`, so that the consumer is closed at once.

    Raises:
        LogUnavailable: the broker ceased to answer.
    """
    # It is a generator, which its type does not promise: closing it closes the consumer.
    records = cast(
        "Generator[LogRecord, None, None]",
        read_to_end(bootstrap, topic, partition, start=0, client_id=client_id),
    )
    try:
        while True:
            # Shielded: a generator cannot be closed while another thread still runs it.
            reading = asyncio.ensure_future(
                asyncio.to_thread(lambda: list(islice(records, BATCH_RECORDS)))
            )
            try:
                batch = await asyncio.shield(reading)
            except asyncio.CancelledError:
                await asyncio.wait([reading])
                raise
            if not batch:
                return
            yield batch
    finally:
        await asyncio.to_thread(records.close)
