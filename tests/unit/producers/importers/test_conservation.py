"""Nothing of an export is lost in silence: a message is a turn's words, or it is counted."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from producers.importers.destinations import Ledger
from producers.importers.left_out import LeftOut
from producers.importers.records import Conversation, PassedOver, Unreadable
from producers.importers.run import import_file
from tests.unit.producers.fakes import NOW, InMemoryAppender
from tests.unit.producers.importers.generated import FORMATS, Generated, marks_in

PARTS = {LeftOut.NOT_TEXT, LeftOut.ATTACHMENT, LeftOut.COLUMN}
"""What is counted of a message beside the message itself."""

EXAMPLES = 60

generated = st.sampled_from(sorted(FORMATS)).flatmap(lambda name: FORMATS[name]())


def accounted(export: Generated) -> int:
    """Return for how many entries the importer accounts, in turns, counts and unreadable parts."""
    found = 0
    for part in export.importer.parts(BytesIO(export.raw), now=NOW):
        assert not isinstance(part, PassedOver)
        if isinstance(part, Unreadable):
            found += export.entries[int(re.sub(r"\D", "", part.place)) - 1]
            continue
        for turn in part.turns:
            marks = marks_in(turn.user_text, turn.assistant_text)
            assert marks, "a turn of no message"
            found += len(marks)
            if marks[0] in export.times:
                assert turn.occurred_at == export.times[marks[0]]
        found += sum(count for why, count in part.left_out.items() if why not in PARTS)
    return found


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"csv"}))
def test_every_message_is_a_turns_words_or_counted(name: str) -> None:
    @settings(max_examples=EXAMPLES)
    @given(FORMATS[name]())
    def conserved(export: Generated) -> None:
        assert accounted(export) == sum(export.entries)

    conserved()


@settings(max_examples=EXAMPLES)
@given(FORMATS["csv"]())
def test_every_row_is_a_turn_or_told(export: Generated) -> None:
    parts = list(export.importer.parts(BytesIO(export.raw), now=NOW))
    said = [
        marks_in(turn.user_text)
        for part in parts
        if isinstance(part, Conversation)
        for turn in part.turns
    ]
    assert len(parts) == len(export.entries)
    assert said == [[number] for number in range(len(export.entries))]


@settings(max_examples=EXAMPLES // 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(generated)
def test_every_turn_is_appended_as_it_was_said_or_told(tmp_path: Path, export: Generated) -> None:
    turns = [
        turn
        for part in export.importer.parts(BytesIO(export.raw), now=NOW)
        if isinstance(part, Conversation)
        for turn in part.turns
    ]
    path = tmp_path / "export"
    path.write_bytes(export.raw)
    appender = InMemoryAppender()

    def imported(user: str | None) -> None:
        report = asyncio.run(
            import_file(
                Ledger(appender, appender),
                tenant="acme",
                user=user,
                path=path,
                format_name=export.importer.name,
                clock=lambda: NOW,
            )
        )
        totals = report.totals
        told = totals.accepted + totals.already_there + totals.repeated + totals.refused
        assert told == len(turns)
        assert totals.refused == report.refused.total
        assert totals.accepted + before == len(appender.appended)

    before = 0
    imported("u")
    before = len(appender.appended)
    said = {
        (unicodedata.normalize("NFC", turn.user_text), turn.occurred_at)
        for turn in turns
        if "\x00" not in turn.user_text
    }
    assert {(turn.user_text, turn.occurred_at) for _, turn, _ in appender.appended} <= said
    imported("u")
    assert len(appender.appended) == before, "the same file twice adds nothing"
