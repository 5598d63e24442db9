"""Writing an explanation: each candidate's parts, of the best and of all that is served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from projections.near_duplicates import Saying
from projections.recall_explanation import CANDIDATES_MAX, Candidate, Explanation, Verdict
from projections.recall_policies import Policy
from projections.recall_question import Question
from projections.recall_selection import Ranked, Selected, best_first
from projections.recall_weights import Weighed
from projections.recalled import RecalledMemory


def listed(weighed: Weighed, ranked: Ranked) -> list[int]:
    """Return the places that an explanation lists: what is always served, then the best ranked."""
    every = np.ones(len(weighed.held), dtype=bool)
    best = [place for place in best_first(weighed, every) if place not in ranked.always]
    return [*ranked.always, *best][:CANDIDATES_MAX]


def explain(
    question: Question,
    weighed: Weighed,
    ranked: Ranked,
    selected: Selected,
    sayings: Mapping[int, Saying],
    *,
    policy: Policy,
    embedder: str,
) -> Explanation:
    """Return why a recall served what it served.

    Args:
        question: the question.
        weighed: what each memory is worth.
        ranked: which were to be served.
        selected: which are.
        sayings: the memories that were read, those that :func:`listed` named among them.
        policy: the policy that chose.
        embedder: the model that cosines are taken in.
    """
    held = weighed.held
    verdicts = {place: _verdict(place, weighed, ranked, selected) for place in range(len(held))}
    shown = [place for place in listed(weighed, ranked) if place in sayings]
    shown += [place for place in selected.verdicts if place not in shown and place in sayings]
    shown = shown[:CANDIDATES_MAX]
    unlisted = Counter(verdict for place, verdict in verdicts.items() if place not in set(shown))
    return Explanation(
        embedder=embedder,
        min_similarity=question.min_similarity,
        min_share=policy.words_share,
        limit=question.limit,
        stored=len(held),
        searched=held.searched,
        nearest=held.nearest,
        words=tuple(word.text for word in weighed.asked),
        candidates=tuple(
            _candidate(place, weighed, selected, sayings[place].memory, verdicts[place])
            for place in shown
        ),
        unlisted=dict(unlisted),
    )


def _verdict(place: int, weighed: Weighed, ranked: Ranked, selected: Selected) -> Verdict:
    told = selected.verdicts.get(place)
    if told is not None:
        return told
    if place in ranked.beyond_cap:
        return Verdict.CAP
    return Verdict.LIMIT if weighed.near[place] else Verdict.BELOW_THRESHOLD


def _candidate(
    place: int,
    weighed: Weighed,
    selected: Selected,
    memory: RecalledMemory,
    verdict: Verdict,
) -> Candidate:
    other = selected.duplicate_of.get(place)
    return Candidate(
        memory_id=memory.memory_id,
        content=memory.content,
        kind=memory.kind,
        cosine=memory.score,
        bm25=float(weighed.words.bm25[place]),
        words=tuple(weighed.asked[word].text for word in weighed.words.words_in(place)),
        share=float(weighed.words.share[place]),
        relevance=float(weighed.relevance[place]),
        recency=float(weighed.recency[place]),
        importance=int(weighed.importance[place]),
        final=float(weighed.final[place]),
        verdict=verdict,
        duplicate_of=None if other is None else weighed.held.memory_id(other),
    )
