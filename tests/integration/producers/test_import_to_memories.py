"""What an import appends is what the memories say, at the time it was said; the rest was told."""

from __future__ import annotations

import asyncio
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from io import BytesIO
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from processors.extractors.verbatim import VerbatimExtractor
from producers.append import TurnAppender
from producers.importers.destinations import Destination, DryRun, Ledger
from producers.importers.records import Conversation
from producers.importers.report import Tally
from producers.importers.run import import_file
from projections.known_turns import ProjectedTurns
from projections.memories import LIMIT_MAX, Memories
from schemas.records import Closing
from tests.conftest import TestStores
from tests.support.one_process import TENANT, OneProcess, opened_pipeline
from tests.support.waiting import eventually
from tests.unit.producers.fakes import NOW
from tests.unit.producers.importers.generated import FORMATS, Generated, jsonlines, tables

EXPORTS_EACH = 2
OWNED: Mapping[str, Callable[[], st.SearchStrategy[Generated]]] = {
    **FORMATS,
    "jsonlines": lambda: jsonlines(owned=True),
    "csv": lambda: tables(owned=True),
}
"""Every format, with exports that name no user."""


def drawn() -> dict[str, Generated]:
    """Return those exports of every format that hold most turns, by a user of their own."""
    return {
        f"{name} {number}": export
        for name, strategy in OWNED.items()
        for number, export in enumerate(_largest(strategy()), start=1)
    }


def _largest(strategy: st.SearchStrategy[Generated]) -> list[Generated]:
    exports: list[Generated] = []

    # The same in every run.
    @settings(max_examples=40, derandomize=True, database=None, phases=[Phase.generate])
    @given(strategy)
    def draw(export: Generated) -> None:
        exports.append(export)

    draw()
    return sorted(exports, key=lambda export: len(turns_of(export)))[-EXPORTS_EACH:]


def turns_of(export: Generated) -> list[tuple[str, datetime | None]]:
    """Return text and time of every turn of an export, in normal form."""
    return [
        (unicodedata.normalize("NFC", turn.user_text), turn.occurred_at)
        for part in export.importer.parts(BytesIO(export.raw), now=NOW)
        if isinstance(part, Conversation)
        for turn in part.turns
    ]


def importing(pipeline: OneProcess) -> tuple[Ledger, DryRun]:
    """Return where an import goes, and where one that is only tried goes."""
    known = ProjectedTurns(pipeline.read_model)
    appender = TurnAppender(pipeline.keyring, pipeline.producer, pipeline.stores.partitions)
    return Ledger(appender, known), DryRun(pipeline.keyring, known)


async def there_and_back(pipeline: OneProcess, path: Path, user: str, export: Generated) -> None:
    """Try, import, look and import again."""
    await asyncio.to_thread(path.write_bytes, export.raw)
    ledger, dry_run = importing(pipeline)

    async def imported(destination: Destination) -> Tally:
        report = await import_file(
            destination,
            tenant=TENANT,
            user=user,
            path=path,
            format_name=export.importer.name,
        )
        return report.totals

    tried = await imported(dry_run)
    assert await pipeline.keyring.subjects_for(TENANT, [user], create=False) == {}
    added = await imported(ledger)
    assert (added.accepted, added.refused) == (tried.accepted, tried.refused)
    turns = turns_of(export)
    assert added.accepted + added.refused + added.repeated == len(turns)
    if not added.accepted:
        return

    (keys,) = (await pipeline.keyring.subjects_for(TENANT, [user], create=False)).values()
    ids = {keys.subject: [turn_id for _, turn_id in ledger.first_appended]}
    projected = ProjectedTurns(pipeline.read_model)

    async def closed() -> Counter[str] | None:
        closings = await projected.closings(ids)
        return closings if closings.total() == added.accepted else None

    closings = await eventually(closed, what=f"the turns of {user} to be closed", timeout_s=60)
    assert closings is not None
    assert closings.keys() <= {Closing.STORED, Closing.REJECTED, Closing.NOTHING_FOUND}
    page = await Memories(pipeline.read_model).list_memories(
        keys.subject, history=True, limit=LIMIT_MAX
    )
    told = dict(turns)
    assert len(page.memories) == closings[Closing.STORED] > 0
    for memory in page.memories:
        assert memory.content in told
        assert told[memory.content] in (memory.valid_from, None)
    again = await imported(ledger)
    assert (again.accepted, again.already_there) == (0, added.accepted)


def test_every_format_comes_through_the_whole_pipeline(stores: TestStores, tmp_path: Path) -> None:
    exports = drawn()
    assert min(len(turns_of(export)) for export in exports.values()) > 0

    async def run() -> None:
        async with (
            opened_pipeline(stores) as pipeline,
            pipeline.projecting(),
            pipeline.working(VerbatimExtractor()),
        ):
            for user, export in exports.items():
                await there_and_back(pipeline, tmp_path / user, user, export)

    asyncio.run(run())
