"""An import adds what is new, in order, and says what became of everything else."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from producers.importers import run
from producers.importers.destinations import DryRun, Ledger
from producers.importers.formats import choose
from producers.importers.left_out import LeftOut, Note
from producers.importers.report import ImportProgress, ImportReport, ReportBuilder
from producers.importers.run import import_file
from producers.importers.sources import Export
from producers.turns_input import TURNS_MAX, TurnInput
from schemas.errors import (
    InvalidInput,
    KeyringUnavailable,
    LogBusy,
    LogUnavailable,
    ReadModelUnavailable,
)
from schemas.ids import turn_id
from schemas.keyring import Erased, SubjectKeys
from schemas.records import Origin
from tests.unit.producers.fakes import NOW, InMemoryAppender, InMemoryKeyring
from tests.unit.producers.importers.exports import conversation, message

LINE = {"conversation_id": "c", "user_text": "hello", "user_id": "u"}


class Import:
    """Imports of one file into one in-memory ledger."""

    def __init__(self, path: Path) -> None:
        self.path = path / "export"
        self.appender = InMemoryAppender()
        self.progress: list[ImportProgress] = []

    def chatgpt(self, *conversations: object, user: str | None = "u") -> ImportReport:
        self.path.write_bytes(json.dumps(conversations).encode())
        return self.run(self.path, user=user)

    def lines(self, *lines: object, user: str | None = None) -> ImportReport:
        self.path.write_text("\n".join(json.dumps(line) for line in lines))
        return self.run(self.path, user=user)

    def run(self, path: Path, **options: Any) -> ImportReport:
        return asyncio.run(
            import_file(
                Ledger(self.appender, self.appender),
                tenant="acme",
                path=path,
                progress=self.progress.append,
                clock=lambda: NOW,
                **options,
            )
        )

    @property
    def said(self) -> list[str]:
        return [turn.user_text for _, turn, _ in self.appender.appended]


@pytest.fixture
def importing(tmp_path: Path) -> Import:
    return Import(tmp_path)


def questions(*said: str, name: str = "c1") -> dict[str, Any]:
    return conversation(*(message("user", text) for text in said), conversation_id=name)


def test_turns_are_appended_in_the_order_of_the_file(importing: Import) -> None:
    report = importing.chatgpt(questions("1", "2", name="a"), questions("3", name="b"))
    assert importing.said == ["1", "2", "3"]
    assert {origin for _, _, origin in importing.appender.appended} == {Origin.IMPORT}
    assert [(part.conversation_id, part.accepted) for part in report.conversations.first] == [
        ("a", 2),
        ("b", 1),
    ]
    assert report.format == "chatgpt"
    assert importing.progress[-1] == ImportProgress(
        accepted=3,
        already_there=0,
        refused=0,
        unreadable=0,
        bytes_read=importing.path.stat().st_size,
    )


def test_the_same_file_twice_adds_nothing(importing: Import) -> None:
    importing.chatgpt(questions("1", "2"))
    report = importing.run(importing.path, user="u")
    assert (report.totals.accepted, report.totals.already_there) == (0, 2)
    assert importing.said == ["1", "2"]


def test_a_longer_export_adds_what_is_new(importing: Import) -> None:
    importing.chatgpt(questions("1", "2"))
    report = importing.chatgpt(questions("1", "2", "3"), questions("4", name="d"))
    assert (report.totals.accepted, report.totals.already_there) == (2, 2)
    assert importing.said == ["1", "2", "3", "4"]


def test_another_users_import_of_the_same_file_is_theirs(importing: Import) -> None:
    importing.chatgpt(questions("1"))
    assert importing.chatgpt(questions("1"), user="v").totals.accepted == 1


def test_a_conversation_twice_in_a_file_is_counted_and_appended_once(importing: Import) -> None:
    report = importing.chatgpt(questions("1"), questions("1", "2"))
    assert (report.totals.accepted, report.totals.repeated) == (2, 1)
    assert importing.said == ["1", "2"]


def test_batches_are_full_and_never_above_the_limit(importing: Import) -> None:
    lines = [{**LINE, "user_text": str(number)} for number in range(2 * TURNS_MAX + 1)]
    importing.lines(*lines)
    assert importing.appender.batches == [TURNS_MAX, TURNS_MAX, 1]
    assert importing.said == [str(number) for number in range(2 * TURNS_MAX + 1)]


def test_batches_of_long_turns_are_cut_by_their_size(
    importing: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "BATCH_CHARACTERS_MAX", 100)
    importing.lines(*({**LINE, "user_text": f"{number}" * 60} for number in range(4)))
    assert importing.appender.batches == [2, 2]


def test_a_turn_against_the_policy_costs_itself_alone(importing: Import) -> None:
    report = importing.chatgpt(questions("1", "ab\ud800", "2"), {"id": "broken"})
    assert importing.said == ["1", "2"]
    (refused,) = report.refused.first
    assert refused.place == "conversation 1, message m1"
    assert refused.turn_id == "chatgpt:c1:m1"
    assert "lone surrogate" in refused.reason
    assert [part.place for part in report.unreadable.first] == ["conversation 2"]
    assert importing.progress[-1].unreadable == 1


def test_progress_adds_up_to_the_report_without_going_through_it(
    importing: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing.lines(LINE)
    reported = ReportBuilder.report
    asked = 0

    def report(builder: ReportBuilder) -> ImportReport:
        nonlocal asked
        asked += 1
        return reported(builder)

    monkeypatch.setattr(ReportBuilder, "report", report)
    others = [{**LINE, "conversation_id": f"c{number}"} for number in range(2 * TURNS_MAX)]
    told = importing.lines(LINE, {**LINE, "user_text": " "}, *others)

    assert asked == 1
    last = importing.progress[-1]
    assert (last.accepted, last.already_there, last.refused) == (2 * TURNS_MAX, 1, 1)
    assert (told.totals.accepted, told.totals.already_there, told.totals.refused) == (
        2 * TURNS_MAX,
        1,
        1,
    )


def test_what_is_left_out_is_told_by_reason(importing: Import) -> None:
    report = importing.chatgpt(
        conversation(message("system", "rules"), message("user", "1"), message("tool", "x"))
    )
    assert report.totals.left_out == {LeftOut.SYSTEM: 1, LeftOut.TOOL: 1}


def test_lines_may_name_their_user(importing: Import) -> None:
    importing.lines(LINE, {**LINE, "user_id": None}, user="owner")
    assert [turn.user_id for _, turn, _ in importing.appender.appended] == ["u", "owner"]


def test_a_line_of_nobody_is_refused_and_the_others_are_not(importing: Import) -> None:
    report = importing.lines(LINE, {**LINE, "user_id": None, "user_text": "whose?"})
    assert importing.said == ["hello"]
    assert "name the user with --user" in report.refused.first[0].reason


def test_an_export_that_tells_no_user_needs_one(importing: Import) -> None:
    with pytest.raises(InvalidInput, match="name the user with --user"):
        importing.chatgpt(questions("1"), user=None)
    assert importing.said == []


def test_what_the_log_finds_too_large_is_refused(importing: Import) -> None:
    error = InvalidInput(field="record", problem="p", remedy="r")
    importing.appender.refuse = lambda turn: error if turn.user_text == "1" else None
    report = importing.chatgpt(questions("1", "2"))
    assert (report.totals.accepted, report.totals.refused) == (1, 1)


def test_a_busy_log_is_waited_for(importing: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_BUSY_WAIT_S", 0.0)
    refusals = iter([LogBusy("full")] * 3)

    def refuse(turn: TurnInput) -> LogBusy | None:
        return next(refusals, None) if turn.user_text == "2" else None

    importing.appender.refuse = refuse
    report = importing.chatgpt(questions("1", "2", "3"))
    assert report.totals.accepted == 3
    assert sorted(importing.said) == ["1", "2", "3"]


def test_a_log_that_stays_busy_ends_the_import(
    importing: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_BUSY_WAIT_S", 0.0)
    importing.appender.refuse = lambda _turn: LogBusy("full")
    with pytest.raises(LogUnavailable, match="run it again"):
        importing.chatgpt(questions("1"))


def test_an_import_that_broke_off_is_completed_by_the_next(importing: Import) -> None:
    down = LogUnavailable("no answer")
    importing.appender.refuse = lambda turn: down if turn.user_text == "2" else None
    with pytest.raises(LogUnavailable, match="stopped after 1 turns, which stand"):
        importing.chatgpt(questions("1", "2"))
    importing.appender.refuse = lambda _turn: None
    report = importing.run(importing.path, user="u")
    assert (report.totals.accepted, report.totals.already_there) == (1, 1)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (json.dumps([conversation(message("user", "1"))]).encode(), "chatgpt"),
        (json.dumps(conversation(message("user", "1"))).encode(), "chatgpt"),
        (b"\xef\xbb\xbf" + json.dumps([conversation()]).encode(), "chatgpt"),
        (json.dumps(LINE).encode(), "jsonlines"),
        (b"\xef\xbb\xbf\n" + json.dumps(LINE).encode(), "jsonlines"),
    ],
)
def test_a_format_is_known_by_its_content(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(content)
    with Export(path) as export:
        assert choose(export).importer.name == name


def test_a_byte_order_mark_is_not_part_of_the_first_line(importing: Import) -> None:
    importing.path.write_bytes(b"\xef\xbb\xbf" + json.dumps(LINE).encode())
    assert importing.run(importing.path, user=None).totals.accepted == 1


@pytest.mark.parametrize(
    ("content", "message_"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        (b'{"a": 1}', "of no format"),
        (b'{"a": 1}\n{"b', "of no format"),
        (b"hello, ann\n\nhow are you", "of no format"),
        (b"{broken", "is not JSON: "),
        (b"c1,hello\nc1,hi\n", "looks like a table without a header; begin with a line"),
    ],
)
def test_a_file_of_no_known_format_is_refused(
    importing: Import, content: bytes, message_: str
) -> None:
    importing.path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message_):
        importing.run(importing.path, user="u")


def test_a_file_that_is_not_there_and_a_format_that_is_unknown_are_refused(
    importing: Import, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        importing.run(tmp_path / "none", user="u")
    with pytest.raises(InvalidInput, match="cannot be read: Is a directory"):
        importing.run(tmp_path, user="u")
    os.mkfifo(tmp_path / "pipe")
    for endless in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InvalidInput, match="no ordinary file"):
            importing.run(endless, user="u", format_name="jsonlines")
    with pytest.raises(InvalidInput, match=r"'xml' is not a known format.*chatgpt, claude, .*csv"):
        importing.run(importing.path, user="u", format_name="xml")


def test_notes_are_of_the_turns_that_were_appended(importing: Import) -> None:
    report = importing.lines(LINE, {**LINE, "user_text": " "})
    assert (report.totals.accepted, report.totals.refused) == (1, 1)
    assert report.totals.notes == report.conversations.first[0].notes == {Note.TIME_UNTOLD: 1}


def test_a_turn_id_that_comes_again_with_other_words_is_told(importing: Import) -> None:
    line = {**LINE, "turn_id": "t"}
    report = importing.lines(line, line, {**line, "user_text": "other words"})
    assert importing.said == ["hello"]
    assert (report.totals.repeated, report.totals.refused) == (1, 1)
    (refused,) = report.refused.first
    assert refused.place == "line 3"
    assert "says something else" in refused.reason


def test_what_is_remembered_of_a_file_is_bounded(
    importing: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SEEN_MAX", 10)
    lines = [{**LINE, "turn_id": f"{number}"} for number in range(2 * TURNS_MAX)]
    report = importing.lines(*lines, lines[0], lines[-1])
    # The first one came too long ago to be known from the file; the ledger knows it.
    assert (report.totals.repeated, report.totals.already_there) == (1, 1)
    assert len(importing.said) == 2 * TURNS_MAX


@pytest.mark.parametrize("error", [KeyringUnavailable("gone"), ReadModelUnavailable("gone")])
def test_whoever_cannot_be_asked_ends_the_import_with_what_stands(
    importing: Import, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    known = importing.appender.known_turns
    calls = 0

    async def known_turns(turns: Mapping[UUID, Collection[UUID]]) -> set[tuple[UUID, UUID]]:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise error
        return await known(turns)

    monkeypatch.setattr(importing.appender, "known_turns", known_turns)
    lines = [{**LINE, "turn_id": f"{number}"} for number in range(TURNS_MAX + 1)]
    with pytest.raises(type(error), match=f"gone; the import stopped after {TURNS_MAX} turns"):
        importing.lines(*lines)


class LookingKeyring:
    """A keyring in which a dry run may look, and nothing more."""

    def __init__(self, keyring: InMemoryKeyring) -> None:
        self._keyring = keyring

    async def subjects_for(
        self, tenant: str, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        assert not create
        living = self._keyring.living
        return {user: living[tenant, user] for user in user_ids if (tenant, user) in living}

    async def keys(self, subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        raise AssertionError(subjects)

    async def erased_among(self, subjects: Collection[UUID]) -> set[UUID]:
        raise AssertionError(subjects)

    async def fresh_keys(self, subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        raise AssertionError(subjects)


def test_a_dry_run_tells_what_an_import_would_add_and_adds_nothing(tmp_path: Path) -> None:
    keyring = InMemoryKeyring()
    keys = keyring.keys_of("acme", "ann")
    held = turn_id(keys.id_secret, "1")

    class Known:
        async def known_turns(
            self, turns: Mapping[UUID, Collection[UUID]]
        ) -> set[tuple[UUID, UUID]]:
            return {(subject, held) for subject, ids in turns.items() if held in ids}

    lines = [
        {"user_id": user, "conversation_id": "c", "turn_id": name, "user_text": said}
        for user, name, said in [
            ("ann", "1", "there"),
            ("ann", "2", "new"),
            ("ben", "1", "new"),
            ("ben", "2", " "),
        ]
    ]
    path = tmp_path / "turns"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    report = asyncio.run(
        import_file(
            DryRun(LookingKeyring(keyring), Known()),
            tenant="acme",
            user=None,
            path=path,
            clock=lambda: NOW,
        )
    )
    totals = report.totals
    assert (totals.accepted, totals.already_there, totals.refused) == (2, 1, 1)
    assert set(keyring.living) == {("acme", "ann")}
