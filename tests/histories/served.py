"""What golden logs hold of recalls: one that served memories, one that served none, one twice."""

from __future__ import annotations

from uuid import UUID

from schemas.injection import InjectionForm
from schemas.keyring import SubjectKeys
from schemas.recalls import ServedMemory, ServedRecall, block_digest
from tests.histories.writing import GENERATION, GoldenWriter, at

RECALL = UUID(int=77)
"""The recall that a turn of the scenario names."""


def write_recalls(writer: GoldenWriter, keys: SubjectKeys) -> None:
    """Append what was served to a user."""
    nothing = UUID(int=78)
    served = ServedRecall(
        recall_id=RECALL,
        served_at=at(700),
        generation=GENERATION,
        policy="gated",
        reason=None,
        form=InjectionForm.ANTHROPIC,
        template=1,
        budget_tokens=600,
        as_of=at(650),
        known_at=at(660),
        memories=(
            ServedMemory(memory_id=UUID(int=901), score=0.61, until=None),
            ServedMemory(memory_id=UUID(int=902), score=None, until="2026-03-01"),
        ),
        digest=block_digest(keys.id_secret, RECALL, "a block"),
    )
    empty = ServedRecall(
        recall_id=nothing,
        served_at=at(701),
        generation=GENERATION,
        policy="gated",
        reason="none_above_threshold",
        form=InjectionForm.TEXT,
        template=1,
        budget_tokens=None,
        as_of=None,
        known_at=None,
        memories=(),
        digest=block_digest(keys.id_secret, nothing, ""),
    )
    for note, recall in (
        ("a recall that served two memories", served),
        ("the same once more", served),
        ("a recall that served nothing", empty),
    ):
        writer.recall(note, keys, recall)
