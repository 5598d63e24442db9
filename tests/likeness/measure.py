"""How well a cosine, and words beside it, tell what says the same.

Run by ``python -m tests.likeness.measure``. Prints JSON: for each threshold the precision and
recall of the cosine alone and of both.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from processors.deciding.wording import may_state_the_same
from projections.embedders import MiniLmEmbedder
from schemas.ports import Embedder
from tests.likeness.pairs import Pair, read_pairs

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """What one way of telling finds.

    Attributes:
        found: how many pairs it takes to say the same.
        right: how many of these do.
        precision: their share; ``None`` where nothing is found.
        recall: how many of those that do it finds.
    """

    found: int
    right: int
    precision: float | None
    recall: float


def figures(pairs: Sequence[Pair], taken: Sequence[bool]) -> Figures:
    """Return the figures of a way of telling that takes some pairs for the same."""
    found = [pair for pair, took in zip(pairs, taken, strict=True) if took]
    right = sum(pair.same for pair in found)
    return Figures(
        found=len(found),
        right=right,
        precision=round(right / len(found), 3) if found else None,
        recall=round(right / sum(pair.same for pair in pairs), 3),
    )


async def cosines(pairs: Sequence[Pair], embedder: Embedder) -> list[float]:
    """Return the cosine of each pair."""
    texts = [text for pair in pairs for text in (pair.one, pair.other)]
    vectors = await embedder.embed(texts)
    return [float(vectors[at] @ vectors[at + 1]) for at in range(0, len(texts), 2)]


async def main() -> None:
    """Measure the default embedder."""
    embedder = MiniLmEmbedder()
    pairs = read_pairs()
    measured = await cosines(pairs, embedder)
    words = [may_state_the_same(pair.one, pair.other) for pair in pairs]
    rows = []
    for threshold in THRESHOLDS:
        near = [cosine >= threshold for cosine in measured]
        both = [one and other for one, other in zip(near, words, strict=True)]
        rows.append(
            {
                "threshold": threshold,
                "cosine_alone": asdict(figures(pairs, near)),
                "with_words": asdict(figures(pairs, both)),
            }
        )
    same = sum(pair.same for pair in pairs)
    told = {"embedder": embedder.name, "same": same, "different": len(pairs) - same, "rows": rows}
    print(json.dumps(told, indent=2))  # noqa: T201 - what it is for


if __name__ == "__main__":
    asyncio.run(main())
