"""``memledger memories`` shows each memory with what a decision about it needs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from click.testing import CliRunner

from deploy.cli import main, reading
from projections.memories import ListedMemory, MemoryState
from schemas.memory import Confidence, MemoryKind, Precision, Source
from schemas.slots import Slot

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SAID = ListedMemory(
    memory_id=UUID(int=1),
    lineage_id=UUID(int=1),
    state=MemoryState.LIVE,
    kind=MemoryKind.SEMANTIC,
    content="Lives in Pune",
    slot=Slot.RESIDENCE,
    about="user",
    importance=4,
    confidence=Confidence.STATED,
    source=Source.USER,
    provenance=None,
    merged_from=(),
    merged_into=None,
    turn_id=UUID(int=2),
    conversation_id="c1",
    quote="I moved to Pune.",
    valid_from=AT,
    valid_from_precision=Precision.DAY,
    valid_to=None,
    recorded_at=AT,
    closed_recorded_at=None,
    retracted_at=None,
    last_confirmed_at=AT,
    confirmations=0,
    expires_at=None,
    pinned_at=None,
    searchable=True,
)


def lines(monkeypatch: pytest.MonkeyPatch, *found: ListedMemory) -> list[str]:
    """Return what the verb prints of these memories."""

    async def listed(*_: object) -> list[ListedMemory]:
        return list(found)

    monkeypatch.setattr(reading, "_with_read_model", listed)
    ran = CliRunner().invoke(main, ["memories", "--user", "ann"])
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout.splitlines()


def test_each_memory_is_listed_with_the_id_by_which_it_is_corrected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, *shown = lines(monkeypatch, SAID)
    assert any(line.startswith(str(SAID.memory_id)) for line in shown), shown


def test_a_pin_and_a_missing_vector_are_told_with_the_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    _, plain, _, pinned, _, waits, _ = lines(
        monkeypatch,
        SAID,
        replace(SAID, pinned_at=AT),
        replace(SAID, pinned_at=AT, searchable=False),
    )
    assert "live " in plain
    assert "live, pinned " in pinned
    assert "live, pinned, no vector yet " in waits


def test_what_nobody_said_is_told_with_who_vouches_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    _, said, _, decided, _, approved, _ = lines(
        monkeypatch,
        SAID,
        replace(SAID, source=Source.CURATION, quote=""),
        replace(SAID, source=Source.CURATION),
    )
    assert "“I moved to Pune.”" in said
    assert "decided by a person" in decided
    assert "“" not in decided
    assert "“I moved to Pune.”" in approved


def test_of_nobody_it_says_what_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    (said,) = lines(monkeypatch)
    assert "ids are matched exactly" in said
    assert "`memledger turns`" in said
