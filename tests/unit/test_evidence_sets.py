"""Public sets as they are written: evidence in several spellings, files that are none of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deploy.evaluation.locomo import evidence_ids, read_locomo
from deploy.evaluation.longmemeval import read_longmemeval
from schemas.errors import InvalidInput


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("D8:6", ["D8:6"]),
        ("D8:6; D9:17", ["D8:6", "D9:17"]),
        ("D:11:26", ["D11:26"]),
        ("D30:05", ["D30:5"]),
        ("D1:18 D1:20", ["D1:18", "D1:20"]),
        ("D", []),
        ("", []),
    ],
)
def test_evidence_is_read_as_people_wrote_it(written: str, ids: list[str]) -> None:
    assert evidence_ids(written) == ids


def _file(tmp_path: Path, held: Any) -> Path:
    path = tmp_path / "set.json"
    path.write_text(held if isinstance(held, str) else json.dumps(held), "utf-8")
    return path


def _locomo(*questions: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "sample_id": "talk",
            "conversation": {
                "speaker_a": "Ann",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi"},
                    {"speaker": "Bo", "dia_id": "D1:2", "text": "I moved"},
                ],
                "session_2_date_time": "1:56 pm on 9 May, 2023",
            },
            "qa": list(questions),
        }
    ]


def test_locomo_turns_carry_speaker_and_time_and_questions_their_evidence(tmp_path: Path) -> None:
    held = read_locomo(
        _file(
            tmp_path,
            _locomo(
                {"question": "Who moved?", "evidence": ["D1:02; D1:1"], "category": 4},
                {"question": "Why?", "evidence": ["D1:1"], "category": 5},
                {"question": "When?", "evidence": ["D"], "category": 2},
                {"question": "Where?", "evidence": ["D7:9"], "category": 1},
            ),
        )
    )
    (talk,) = held.talks
    assert [(said.reference, said.text) for said in talk.said] == [
        ("D1:1", "Ann: Hi"),
        ("D1:2", "Bo: I moved"),
    ]
    assert talk.said[0].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    (question,) = talk.asked
    assert question.kind == "single-hop"
    assert sorted(question.evidence) == ["D1:1", "D1:2"]
    assert held.left_out == {"cannot be answered": 1, "names no turn": 2}


def _evidence_line(name: str, **changed: Any) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_type": "multi-session",
        "question": f"What of {name}?",
        "abstention": False,
        "evidence_sessions": [
            {"date": "2023/05/21 (Sun) 19:50", "turns": [{"role": "user", "content": name}]}
        ],
        **changed,
    }


def test_longmemeval_lines_of_evidence_are_one_history(tmp_path: Path) -> None:
    lines = [_evidence_line("a"), _evidence_line("b"), _evidence_line("c", abstention=True)]
    held = read_longmemeval(_file(tmp_path, "\n".join(map(json.dumps, lines)) + "\n"))
    (talk,) = held.talks
    assert [said.text for said in talk.said] == ["a", "b", "c"]
    assert [question.evidence for question in talk.asked] == [{"a/0/0"}, {"b/0/0"}]
    assert held.left_out == {"cannot be answered": 1}


def test_longmemeval_in_its_own_form_gives_each_question_its_history(tmp_path: Path) -> None:
    entry = {
        "question_id": "q",
        "question_type": "temporal-reasoning",
        "question": "When?",
        "haystack_dates": ["2023/05/21 (Sun) 19:50", "2023/05/22 (Mon) 07:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "one"}, {"role": "assistant", "content": " "}],
            [{"role": "user", "content": "two", "has_answer": True}],
        ],
    }
    held = read_longmemeval(_file(tmp_path, [entry, {**entry, "question_id": "r_abs"}]))
    assert [len(talk.said) for talk in held.talks] == [2, 2]
    assert [question.evidence for question in held.talks[0].asked] == [{"1/0"}]
    assert held.left_out == {"cannot be answered": 1}


@pytest.mark.parametrize("held", ["", "[]", "{", "[1]", [{"qa": []}], '{"question": "x"}', None])
@pytest.mark.parametrize("read", [read_locomo, read_longmemeval])
def test_a_file_that_is_none_of_them_is_unusable_input(
    tmp_path: Path, read: Any, held: Any
) -> None:
    path = tmp_path / "none.json" if held is None else _file(tmp_path, held)
    with pytest.raises(InvalidInput, match="cannot be read as"):
        read(path)
