"""Reading LoCoMo: very long conversations of two people, with questions and their evidence.

Maharana and others, "Evaluating Very Long-Term Conversational Memory of LLM Agents" (2024); the
file is ``locomo10.json`` of https://github.com/snap-research/locomo. Evidence is named as people
wrote it: several ids in one text, a colon too many, a zero in front of a number.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from deploy.evaluation.evidence import EvidenceQuestion, PublicSet, Said, Talk
from schemas.errors import InvalidInput

OPTION: Final = "--locomo"

_EVIDENCE: Final = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)")
_TIME: Final = "%I:%M %p on %d %B, %Y"
_KINDS: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_CANNOT_BE_ANSWERED: Final = 5


def read_locomo(path: Path) -> PublicSet:
    """Return the conversations of a file.

    Questions that cannot be answered are left out, as are those that name no turn of their
    conversation.

    Raises:
        InvalidInput: it cannot be read, or is no such file.
    """
    try:
        held = json.loads(path.read_text("utf-8-sig"))
        if not held:
            raise ValueError("it holds no conversation")  # noqa: TRY301 - told like the others below
        left_out: Counter[str] = Counter()
        talks = tuple(_talk(entry, place, left_out) for place, entry in enumerate(held))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            field=OPTION,
            problem=f"{path} cannot be read as LoCoMo: {error!r}",
            remedy="give locomo10.json of github.com/snap-research/locomo, or a part of its list",
        ) from error
    return PublicSet(name="locomo", talks=talks, left_out=dict(left_out))


def evidence_ids(written: str) -> list[str]:
    """Return the ids of turns that a text names: of ``D8:6; D09:17`` ``D8:6`` and ``D9:17``."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(written)]


def _talk(entry: dict[str, Any], place: int, left_out: Counter[str]) -> Talk:
    conversation = entry["conversation"]
    said: list[Said] = []
    for name in conversation:
        session = _SESSION.fullmatch(name)
        if session is not None:
            began = datetime.strptime(conversation[f"{name}_date_time"], _TIME).replace(tzinfo=UTC)
            said += _session(conversation[name], began)
    known = {turn.reference for turn in said}
    asked = [_question(one, known, left_out) for one in entry["qa"]]
    return Talk(
        name=str(entry.get("sample_id", place)),
        said=tuple(said),
        asked=tuple(one for one in asked if one is not None),
    )


def _session(turns: list[dict[str, Any]], began: datetime) -> list[Said]:
    found = []
    for place, turn in enumerate(turns):
        (reference,) = evidence_ids(turn["dia_id"])
        found.append(
            Said(
                reference=reference,
                text=f"{turn['speaker']}: {turn['text']}",
                # Only the session's time is told; the order within it is kept.
                said_at=began + timedelta(seconds=place),
            )
        )
    return found


def _question(
    one: dict[str, Any], known: set[str], left_out: Counter[str]
) -> EvidenceQuestion | None:
    if one["category"] == _CANNOT_BE_ANSWERED:
        left_out["cannot be answered"] += 1
        return None
    named = {name for written in one.get("evidence", []) for name in evidence_ids(written)}
    if not named & known:
        left_out["names no turn"] += 1
        return None
    return EvidenceQuestion(
        asks=one["question"],
        kind=_KINDS.get(one["category"], str(one["category"])),
        evidence=frozenset(named & known),
    )
