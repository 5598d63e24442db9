"""What ``memledger recall`` says of what it left out, and why each memory is in or out."""

from __future__ import annotations

from uuid import UUID

import pytest

from deploy.cli.recall_print import WHY, print_explanation, print_left_out
from projections.recall import Candidate, Explanation, LeftOut, TokenUse, Verdict
from schemas.memory import MemoryKind

_TOKENS = TokenUse(used=120, budget=2_000, counter="estimate", exact=False)


def _candidate(verdict: Verdict, cosine: float | None) -> Candidate:
    return Candidate(
        memory_id=UUID(int=1),
        content="Likes tea",
        kind=MemoryKind.SEMANTIC,
        cosine=cosine,
        bm25=1.25,
        words=("tea",),
        share=0.75,
        relevance=0.5,
        recency=1.0,
        importance=3,
        final=0.6,
        verdict=verdict,
    )


def test_every_verdict_is_said_in_words() -> None:
    assert WHY.keys() == set(Verdict)


def test_what_was_left_out_is_said_and_nothing_where_all_is_served(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_left_out(LeftOut(), _TOKENS)
    assert capsys.readouterr().out == ""
    print_left_out(LeftOut(pins=3, budget=1_200), _TOKENS)
    assert capsys.readouterr().out == (
        "left out: 3 pinned, beyond the policy's cap; 1,200 for which 2,000 tokens had no room\n"
    )


def test_an_explanation_shows_threshold_words_tokens_and_each_candidates_parts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    explanation = Explanation(
        embedder="minilm",
        min_similarity=0.25,
        min_share=0.5,
        limit=10,
        stored=9,
        searched=8,
        nearest=0.61,
        words=("tea",),
        candidates=(_candidate(Verdict.WORDS, None), _candidate(Verdict.BELOW_THRESHOLD, 0.125)),
        unlisted={Verdict.LIMIT: 7},
    )
    print_explanation(explanation, _TOKENS)
    out = capsys.readouterr().out
    for said in (
        "minilm: threshold 0.25, 9 held true, 8 searched, nearest 0.61",
        "words: tea; from 50% of their weight on they are enough",
        "notes: 120 of 2,000 tokens, estimated (estimate)",
        "in: by its words",
        "out: below the threshold",
        "0.125",
        "1.25 tea",
        "75%",
        "and 7 out: beyond the limit",
    ):
        assert said in out
