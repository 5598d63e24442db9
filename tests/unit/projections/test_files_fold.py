"""Folding commands on files: each id counts once, whatever is read again."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.files import projection
from projections.files.log_fold import FoldedFiles
from projections.files.projection import Opened
from projections.side_topics import OpenedBeside
from schemas.files import FileCommand
from schemas.log.sealed import LogPosition
from schemas.topics import FILES
from tests.support.file_commands import commands

SUBJECT = UUID(int=1)


def _logged(sent: list[FileCommand]) -> list[Opened]:
    return [
        OpenedBeside(
            subject=SUBJECT,
            tenant="acme",
            record_id=command.command_id,
            position=LogPosition(topic=FILES, partition=0, offset=offset),
            timestamp_ms=0,
            record=command,
        )
        for offset, command in enumerate(sent)
    ]


def _folded(read: list[Opened]) -> FoldedFiles:
    folded = FoldedFiles()
    for opened in read:
        folded.apply(opened)
    return folded


def _said(folded: FoldedFiles) -> object:
    return dict(folded.files.files), folded.commands, folded.events


@given(st.lists(commands(), max_size=20), st.data())
def test_reading_any_range_again_changes_nothing(
    sent: list[FileCommand], data: st.DataObject
) -> None:
    log = _logged(sent)
    read_to = data.draw(st.integers(0, len(log)))
    again_from = data.draw(st.integers(0, read_to))

    assert _said(_folded(log[:read_to] + log[again_from:])) == _said(_folded(log))


@given(st.lists(commands(), min_size=1, max_size=10), st.data())
def test_of_several_records_of_one_id_the_lowest_offset_counts(
    sent: list[FileCommand], data: st.DataObject
) -> None:
    first = data.draw(st.sampled_from(sent))
    other = data.draw(commands())
    doubled = [*sent, other.model_copy(update={"command_id": first.command_id})]

    assert _said(_folded(_logged(doubled))) == _said(_folded(_logged(sent)))


@pytest.mark.parametrize(("entries_max", "characters_max"), [(3, 10**6), (10**6, 9), (4, 12)])
def test_what_is_kept_of_a_history_is_the_same_however_it_is_cut(
    monkeypatch: pytest.MonkeyPatch, entries_max: int, characters_max: int
) -> None:
    monkeypatch.setattr(projection, "HISTORY_ENTRIES_MAX", entries_max)
    monkeypatch.setattr(projection, "HISTORY_CHARACTERS_MAX", characters_max)

    @given(st.lists(commands(), max_size=20), st.data())
    def shortened_at_any_time(sent: list[FileCommand], data: st.DataObject) -> None:
        whole = _folded(_logged(sent))
        cut = FoldedFiles()
        for opened in _logged(sent):
            cut.apply(opened)
            if data.draw(st.booleans()):
                cut.events = list(reversed(list(cut.kept_events())))

        assert list(cut.kept_events()) == list(whole.kept_events())
        assert len(list(whole.kept_events())) <= entries_max

    shortened_at_any_time()
