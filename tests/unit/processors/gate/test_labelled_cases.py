"""The labelled cases: enough of them, in enough languages, and the gate holds its bounds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.cli.evaluating import evaluate
from deploy.evaluation.gate_cases import CASES, default_files, read_cases
from deploy.evaluation.gate_scores import PRECISION_MIN, RECALL_MIN, measure_gate
from schemas.errors import InvalidInput
from schemas.events import RejectionReason

DECIDED_ELSEWHERE = {
    RejectionReason.ALREADY_PAST,
    RejectionReason.CONTRADICTION,
    RejectionReason.CURATED,
    RejectionReason.SUPPRESSED,
    RejectionReason.UNKNOWN_MEMORY,
    RejectionReason.UNFOUNDED_MERGE,
    RejectionReason.UNKNOWN_REFERENCE,
    RejectionReason.NOTHING_TO_RETRACT,
}
"""Reasons that need what the ledger holds, or when something was said."""


def test_there_are_cases_of_both_kinds_in_many_languages() -> None:
    cases = read_cases(default_files())
    languages = Counter(case.language for case in cases)
    assert len(cases) >= 200
    assert all(languages[name] >= 20 for name in ("en", "de", "es", "fr", "zh", "ja", "hi"))
    assert sum(not case.expect for case in cases) >= len(cases) / 3
    expected = {reason for case in cases for reason in case.expect}
    assert set(RejectionReason) - DECIDED_ELSEWHERE == expected


def test_every_rule_holds_its_bounds_on_the_cases() -> None:
    scores = measure_gate(read_cases(default_files()))
    missed = {
        reason.value: (score.precision, score.recall)
        for reason, score in scores.rules.items()
        if (score.precision or 0) < PRECISION_MIN or (score.recall or 0) < RECALL_MIN
    }
    assert missed == {}


def a_case(**changes: object) -> str:
    case: dict[str, object] = {
        "id": "a",
        "rule": "secret",
        "language": "en",
        "expect": [],
        "user_text": "I like tea",
        "operation": {"content": "Likes tea"},
    }
    return json.dumps(case | changes)


def test_the_command_tells_what_went_wrong_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(a_case() + "\n" + a_case(id="b", expect=["secret"]) + "\n")
    shown = CliRunner().invoke(evaluate, ["gate", "--cases", str(file), "--json"])
    report = json.loads(shown.output)
    assert shown.exit_code == 1
    assert report["wrong"] == [{"id": "b", "expected": ["secret"], "got": []}]
    assert report["rules"]["secret"]["recall"] == 0
    assert (report["cases"], report["held"]) == (2, False)
    listed = CliRunner().invoke(evaluate, ["gate", "--cases", str(file)])
    assert "2 cases, 1 wrong" in listed.output


def test_the_command_takes_the_cases_of_the_source_tree() -> None:
    shown = CliRunner().invoke(evaluate, ["gate", "--json"])
    report = json.loads(shown.output)
    assert (shown.exit_code, report["held"]) == (0, True)
    assert report["cases"] == len(read_cases(sorted(CASES.glob("*.jsonl"))))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "are none"),
        ("{", "is no case"),
        (a_case(expect=["no_such_reason"]), "is no case: expect.0"),
        (a_case(more=1), "is no case: more"),
        (a_case() + "\n" + a_case(), "repeats the id 'a'"),
    ],
)
def test_cases_that_cannot_be_read_are_told_with_their_place(
    tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=problem):
        read_cases([file])


def test_without_a_source_tree_the_cases_must_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deploy.evaluation.gate_cases.CASES", tmp_path / "none")
    with pytest.raises(InvalidInput, match="--cases"):
        default_files()
