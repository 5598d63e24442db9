"""Reading LongMemEval: questions about chats with an assistant, with the sessions that answer them.

Wu and others, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory" (2024);
files of https://github.com/xiaowu0162/LongMemEval. Two forms are read: its own, in which each
question has its own history, with ``has_answer`` on the turns that answer it; and lines that hold
only the sessions' evidence turns, of which all together are one history.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from deploy.evaluation.evidence import EvidenceQuestion, PublicSet, Said, Talk
from schemas.errors import InvalidInput

OPTION: Final = "--longmemeval"

_TIME: Final = "%Y/%m/%d (%a) %H:%M"


def read_longmemeval(path: Path) -> PublicSet:
    """Return the histories of a file, each with its questions.

    Questions that cannot be answered are left out, as are those without a turn that answers them.

    Raises:
        InvalidInput: it cannot be read, or is no such file.
    """
    try:
        entries = list(_entries(path.read_text("utf-8-sig")))
        if not entries:
            raise ValueError("it holds no question")  # noqa: TRY301 - told like the others below
        left_out: Counter[str] = Counter()
        if all("haystack_sessions" in entry for entry in entries):
            talks = tuple(_own_history(entry, left_out) for entry in entries)
        else:
            talks = (_one_history(entries, left_out),)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            field=OPTION,
            problem=f"{path} cannot be read as LongMemEval: {error!r}",
            remedy="give a file of github.com/xiaowu0162/LongMemEval, or lines of JSON with "
            "evidence_sessions",
        ) from error
    return PublicSet(name="longmemeval", talks=talks, left_out=dict(left_out))


def _entries(text: str) -> Iterator[dict[str, Any]]:
    if text.lstrip().startswith("["):
        yield from json.loads(text)
    else:
        yield from (json.loads(line) for line in text.splitlines() if line.strip())


def _own_history(entry: dict[str, Any], left_out: Counter[str]) -> Talk:
    said: list[Said] = []
    answers: set[str] = set()
    sessions = zip(entry["haystack_sessions"], entry["haystack_dates"], strict=True)
    for number, (session, date) in enumerate(sessions):
        turns = _session(session, date, f"{number}")
        said += turns
        answers |= {
            turn.reference
            for turn, told in zip(turns, session, strict=True)
            if told.get("has_answer")
        }
    return Talk(
        name=entry["question_id"],
        said=_once(said),
        asked=_asked(entry, answers, left_out),
    )


def _one_history(entries: list[dict[str, Any]], left_out: Counter[str]) -> Talk:
    said: list[Said] = []
    asked: list[EvidenceQuestion] = []
    for entry in entries:
        answers: set[str] = set()
        for number, session in enumerate(entry["evidence_sessions"]):
            turns = _session(session["turns"], session["date"], f"{entry['question_id']}/{number}")
            said += turns
            answers |= {turn.reference for turn in turns}
        asked += _asked(entry, answers, left_out)
    return Talk(name="all", said=_once(said), asked=tuple(asked))


def _asked(
    entry: dict[str, Any], answers: set[str], left_out: Counter[str]
) -> tuple[EvidenceQuestion, ...]:
    if entry.get("abstention") or str(entry["question_id"]).endswith("_abs"):
        left_out["cannot be answered"] += 1
        return ()
    if not answers:
        left_out["names no turn"] += 1
        return ()
    question = EvidenceQuestion(
        asks=entry["question"], kind=entry["question_type"], evidence=frozenset(answers)
    )
    return (question,)


def _session(turns: list[dict[str, Any]], date: str, name: str) -> list[Said]:
    began = datetime.strptime(date, _TIME).replace(tzinfo=UTC)
    return [
        Said(
            reference=f"{name}/{place}",
            text=turn["content"],
            said_at=began + timedelta(seconds=place),
        )
        for place, turn in enumerate(turns)
    ]


def _once(said: list[Said]) -> tuple[Said, ...]:
    """Return turns that say something; an empty one is no memory."""
    return tuple(turn for turn in said if turn.text.strip())
