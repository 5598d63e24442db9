"""What sealing costs: the same producer appends turns, and the same bytes as they are."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from deploy.bench.figures import Figure, at_least, rounded
from deploy.bench.options import BenchSize
from deploy.bench.stores import throwaway_broker, throwaway_home, throwaway_postgres
from deploy.embedded.postgres_databases import KEYRING_DATABASE
from producers.append import TurnAppender
from producers.subject_records import Refused
from producers.turns_input import TURNS_MAX, TurnInput, clean_turn
from schemas.errors import MemledgerError
from schemas.keyring import Keyring
from schemas.log.admin import ensure_topics
from schemas.log.producer import LogProducer
from schemas.log.sealed import SealedRecord
from schemas.records import Origin
from schemas.topics import Topic, ledger_topics

SHARE_BOUND: Final = at_least(0.5)

_PLAIN_TOPIC: Final = "bench-plain"
_GENERATION: Final = "bench"
_PARTITIONS: Final = 8
_TENANT: Final = "bench"
_USERS: Final = 500
_CHARACTERS: Final = 1024
_ROUNDS: Final = 5
_LISTS_AT_ONCE: Final = 4

_Append = Callable[[Sequence[TurnInput]], Awaitable[None]]


def measure_appends(size: BenchSize, announce: Console) -> list[Figure]:
    """Append a round of sealed turns and a round of plain ones in turn, with the same producer."""
    announce.print(f"· {_ROUNDS} rounds of {size.appends:,} appends, sealed and plain in turn")
    with (
        throwaway_home() as home,
        throwaway_postgres(home) as postgres,
        throwaway_broker(home) as bootstrap,
    ):
        return [
            asyncio.run(_measure(size, postgres.url(KEYRING_DATABASE), bootstrap, home / "keys"))
        ]


async def _measure(
    size: BenchSize, keyring_url: str, bootstrap: str, key_directory: Path
) -> Figure:
    ledger = ledger_topics(_GENERATION, _PARTITIONS)
    plain_topic = Topic(name=_PLAIN_TOPIC, partitions=_PARTITIONS, settings=ledger[0].settings)
    await ensure_topics(bootstrap, (*ledger, plain_topic), replication=1)
    async with _parts(keyring_url, bootstrap, key_directory) as (keyring, producer):
        appender = TurnAppender(keyring, producer, _PARTITIONS)

        async def sealed(turns: Sequence[TurnInput]) -> None:
            results = await appender.append(_TENANT, turns, Origin.HTTP)
            refused = [result for result in results if isinstance(result, Refused)]
            if refused:
                raise MemledgerError(f"an append failed: {refused[0].error}")

        async def plain(turns: Sequence[TurnInput]) -> None:
            await asyncio.gather(
                *(
                    producer.submit(_PLAIN_TOPIC, place % _PARTITIONS, _plain_record(turn))
                    for place, turn in enumerate(turns)
                )
            )

        wanted = [_turn(place) for place in range(size.appends)]
        for append in (sealed, plain):  # the first round makes users and opens connections
            await _rate(append, wanted)
        rates = [(await _rate(sealed, wanted), await _rate(plain, wanted)) for _ in range(_ROUNDS)]
    return Figure(
        name="appends.sealed_against_plain",
        value=statistics.median(ours / theirs for ours, theirs in rates),
        unit="ratio",
        bound=SHARE_BOUND,
        details={
            "sealed_per_s": rounded(statistics.median(ours for ours, _ in rates)),
            "plain_per_s": rounded(statistics.median(theirs for _, theirs in rates)),
            "rounds": [rounded(ours / theirs) for ours, theirs in rates],
            "appends_a_round": size.appends,
            "characters": _CHARACTERS,
        },
    )


@contextlib.asynccontextmanager
async def _parts(
    keyring_url: str, bootstrap: str, key_directory: Path
) -> AsyncIterator[tuple[Keyring, LogProducer]]:
    keyring = await Keyring.open(keyring_url, key_directory, migrate=True)
    producer = LogProducer(bootstrap, client_id="memledger-bench")
    try:
        await keyring.ensure_tenant(_TENANT)
        yield keyring, producer
    finally:
        await producer.close()
        await keyring.close()


async def _rate(append: _Append, wanted: Sequence[TurnInput]) -> float:
    """Append turns in lists, a few at once; return turns a second."""
    lists = iter([wanted[start : start + TURNS_MAX] for start in range(0, len(wanted), TURNS_MAX)])

    async def post() -> None:
        for one in lists:
            await append(one)

    began = time.perf_counter()
    await asyncio.gather(*(post() for _ in range(_LISTS_AT_ONCE)))
    return len(wanted) / (time.perf_counter() - began)


def _turn(place: int) -> TurnInput:
    return clean_turn(
        user_id=f"bench-{place % _USERS}",
        conversation_id="bench",
        user_text=f"{place} ".ljust(_CHARACTERS, "x"),
        assistant_text=None,
        turn_id=None,
        occurred_at=None,
    )


def _plain_record(turn: TurnInput) -> SealedRecord:
    """Return a turn as a record that anybody can read: what appending costs without sealing."""
    value = json.dumps(
        {
            "user_id": turn.user_id,
            "conversation_id": turn.conversation_id,
            "user_text": turn.user_text,
        }
    )
    return SealedRecord(key=turn.user_id.encode(), value=value.encode(), headers=[])
