"""A report is bounded: totals count everything, and the first of each kind are named."""

from __future__ import annotations

import json

from producers.importers.left_out import LeftOut
from producers.importers.records import Conversation, ImportedTurn, PassedOver, Unreadable
from producers.importers.report import (
    CONVERSATIONS_KEPT_MAX,
    REFUSALS_KEPT_MAX,
    ConversationReport,
    ReportBuilder,
)

LONG = "x" * 1_000_000


def turn(name: str) -> ImportedTurn:
    return ImportedTurn(
        client_turn_id=name, place=name, user_text="", assistant_text=None, occurred_at=None
    )


def part(name: str, title: str | None = None) -> Conversation:
    return Conversation(
        conversation_id=name,
        title=title,
        turns=(),
        place="here",
        left_out={LeftOut.SYSTEM: 2},
        notes={"noted": 1},
    )


def test_conversations_beyond_the_first_are_in_the_totals() -> None:
    builder = ReportBuilder("any")
    for number in range(CONVERSATIONS_KEPT_MAX + 500):
        for _ in range(2):
            builder.note_accepted(builder.conversation("u", part(f"c{number}")), turn("t"))
    report = builder.report()
    assert len(report.conversations.first) == CONVERSATIONS_KEPT_MAX
    assert report.conversations.more == 500
    assert report.totals.accepted == 2 * (CONVERSATIONS_KEPT_MAX + 500)
    assert report.totals.left_out == {LeftOut.SYSTEM: 4 * (CONVERSATIONS_KEPT_MAX + 500)}
    assert {(row.accepted, row.left_out.total()) for row in report.conversations.first} == {(2, 4)}


def test_users_do_not_share_a_row() -> None:
    builder = ReportBuilder("any")
    for user in ("u", "v", None, "u"):
        builder.note_accepted(builder.conversation(user, part("c")), turn("t"))
    rows = builder.report().conversations.first
    assert [(row.user_id, row.accepted) for row in rows] == [("u", 2), ("v", 1), (None, 1)]


def test_what_went_wrong_is_named_up_to_a_limit_and_counted_beyond() -> None:
    builder = ReportBuilder("any")
    tally = builder.conversation("u", part("c"))
    for number in range(REFUSALS_KEPT_MAX + 7):
        builder.note_refused(tally, turn(f"line {number}"), "reason")
        builder.note_unreadable(Unreadable(place=f"line {number}", reason="reason"))
        builder.note_passed_over(PassedOver(place=f"file {number}", reason="reason"))
    report = builder.report()
    for kept in (report.refused, report.unreadable, report.passed_over):
        assert (len(kept.first), kept.more) == (REFUSALS_KEPT_MAX, 7)
    assert report.totals.refused == REFUSALS_KEPT_MAX + 7
    assert report.refused.first[16].place == "line 16"


def test_names_of_any_length_are_shortened() -> None:
    builder = ReportBuilder("any")
    tally = builder.conversation(LONG, part(LONG, title=LONG))
    builder.note_refused(tally, turn(LONG), "reason")
    builder.note_unreadable(Unreadable(place=LONG, reason="reason", conversation_id=LONG))
    builder.note_passed_over(PassedOver(place=LONG, reason="reason"))
    assert isinstance(tally, ConversationReport)
    assert tally.title is not None
    assert tally.title.endswith("(1,000,000 characters)")
    assert len(json.dumps(repr(builder.report()))) < 5_000
