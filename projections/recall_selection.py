"""Choosing what is served: what always is, then what the question brings, within a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from projections.injection import note
from projections.near_duplicates import Saying
from projections.recall_explanation import Verdict
from projections.recall_held import Held
from projections.recall_policies import Policy
from projections.recall_weights import Weighed
from projections.recalled import LeftOut, RecalledMemory, TokenUse
from schemas.injection import BLOCK_END, BLOCK_START, FRAME
from schemas.ports import TokenCounter

_SPARE_MIN: Final = 10
"""More of what is near enough is read than is served, to take the place of duplicates."""

READ_MAX: Final = 400
"""The most of what is near enough that is read for one question, where duplicates are many: twice
what the greatest limit reads at once, and it holds the event loop for about 10 ms."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """Which memories are to be served, as places in what is held.

    Attributes:
        always: what is served whatever is asked, the user's safety first, with why.
        capped: how many of each sort were beyond the policy's cap.
        beyond_cap: their places.
        near: all others that are near enough to the question, the best first.
        wanted: as many of these as are read.
    """

    always: Mapping[int, Verdict]
    capped: Mapping[Verdict, int]
    beyond_cap: frozenset[int]
    near: Sequence[int]
    wanted: Sequence[int]

    def reading_on(self) -> Ranked | None:
        """Return the same with twice as many wanted; ``None`` where no more are read."""
        wanted = self.near[: min(2 * len(self.wanted), READ_MAX)]
        return replace(self, wanted=wanted) if len(wanted) > len(self.wanted) else None


def rank(weighed: Weighed, policy: Policy, *, limit: int) -> Ranked:
    """Tell which memories are to be served.

    Args:
        weighed: what each memory is worth.
        policy: its caps are applied.
        limit: the most memories that the question may bring.
    """
    always: dict[int, Verdict] = {}
    capped: Counter[Verdict] = Counter()
    beyond: set[int] = set()
    for verdict, places, cap in _sorts(weighed.held, policy):
        always |= dict.fromkeys(places[:cap], verdict)
        beyond.update(places[cap:])
        capped[verdict] += len(places[cap:])
    near = [place for place in best_first(weighed, weighed.near) if place not in always]
    return Ranked(
        always=always,
        capped=capped,
        # One that is cut is still served where the question brings it.
        beyond_cap=frozenset(beyond.difference(near)),
        near=near,
        wanted=near[: limit + max(limit, _SPARE_MIN)],
    )


def best_first(weighed: Weighed, among: NDArray[np.bool_]) -> list[int]:
    """Return the places of some memories, the greatest rank first; equal ones by id."""
    places = np.flatnonzero(among).tolist()
    return sorted(places, key=lambda place: (-weighed.final[place], weighed.held.id_bytes(place)))


def _sorts(held: Held, policy: Policy) -> list[tuple[Verdict, list[int], int]]:
    """Return what is served whatever is asked, sort by sort, each in the order it is served in."""
    if not held.always.any():
        return []
    safety, pinned = held.safety, held.pinned
    rule = held.procedural & ~(safety | pinned)
    return [
        (Verdict.SAFETY, _ordered(held, safety, _newest), policy.safety),
        (Verdict.PINNED, _ordered(held, pinned & ~safety, _pinned_last), policy.pins),
        (Verdict.RULE, _ordered(held, rule, _most_important), policy.rules),
    ]


_Keys: TypeAlias = Callable[[Held], Sequence[NDArray[np.generic]]]


def _newest(held: Held) -> Sequence[NDArray[np.generic]]:
    return [-held.valid_from_s]


def _pinned_last(held: Held) -> Sequence[NDArray[np.generic]]:
    return [-held.pinned_s]


def _most_important(held: Held) -> Sequence[NDArray[np.generic]]:
    return [-held.importance, -held.valid_from_s]


def _ordered(held: Held, among: NDArray[np.bool_], keys_of: _Keys) -> list[int]:
    """Return places, ordered by the first key, then the next one, at last by id.

    Where rows lie in the table, which a rebuild changes, must not tell what a cap cuts.
    """
    places = np.flatnonzero(among).tolist()
    if not places:
        return places  # keys would be made of all
    keys = keys_of(held)
    return sorted(places, key=lambda place: (*(key[place] for key in keys), held.id_bytes(place)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Selected:
    """What is served.

    Attributes:
        memories: in the order of the block.
        verdicts: what became of the memories that were to be served, by their place.
        duplicate_of: for those left out as such, the place of the one that is served.
        left_out: what was to be served and was not.
        tokens: what the block costs.
        crowded: whether duplicates took the places of others that were not read.
    """

    memories: tuple[RecalledMemory, ...]
    verdicts: Mapping[int, Verdict]
    duplicate_of: Mapping[int, int]
    left_out: LeftOut
    tokens: TokenUse
    crowded: bool


@dataclass(kw_only=True, slots=True)
class _Block:
    """A block of notes that is being filled."""

    counter: TokenCounter
    sayings: Mapping[int, Saying]
    tokens_left: int
    taken: list[int] = field(default_factory=list)
    by_words: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    duplicate_of: dict[int, int] = field(default_factory=dict)

    def offer(self, place: int, verdict: Verdict, *, keep_tokens: int = 0) -> None:
        """Take a memory, unless one that is taken says the same or there is no room for it.

        Args:
            place: the memory.
            verdict: why it would be served.
            keep_tokens: what must be left for others.
        """
        saying = self.sayings[place]
        # Of as many as are taken, few have the same words: vectors are compared with theirs alone.
        worded = self.by_words.setdefault(saying.words, []) if saying.words else []
        same = next((one for one in worded if self.sayings[one].same_as(saying)), None)
        if same is not None:
            self.verdicts[place], self.duplicate_of[place] = Verdict.DUPLICATE, same
            return
        cost = self.counter.count("\n" + note(saying.memory))
        if cost > self.tokens_left - keep_tokens:
            self.verdicts[place] = Verdict.BUDGET
            return
        self.tokens_left -= cost
        self.taken.append(place)
        worded.append(place)
        self.verdicts[place] = verdict

    def retry(self, places: Iterable[int], why: Mapping[int, Verdict]) -> None:
        """Offer again what found no room before."""
        for place in places:
            if self.verdicts.get(place) is Verdict.BUDGET:
                self.offer(place, why[place])


def select(
    ranked: Ranked,
    sayings: Mapping[int, Saying],
    weighed: Weighed,
    policy: Policy,
    *,
    limit: int,
    budget_tokens: int,
    frame_tokens: int,
    counter: TokenCounter,
) -> Selected:
    """Fill the block.

    A flood of what is always served leaves the question its share; what that does not need is
    theirs again.

    Args:
        ranked: what is to be served.
        sayings: what was read of it; one that does not hold any more meanwhile is missing.
        weighed: tells why a memory is near enough.
        policy: its shares are applied.
        limit: the most memories that the question may bring.
        budget_tokens: the most tokens of the block.
        frame_tokens: those of them that it takes before there is a note in it.
        counter: counts them.
    """
    room = max(budget_tokens - frame_tokens, 0)
    filled = _Block(counter=counter, sayings=sayings, tokens_left=room)
    always = [place for place in ranked.always if place in sayings]
    for place in always:
        filled.offer(place, ranked.always[place], keep_tokens=int(room * (1 - policy.always_share)))
    brought = 0
    for place in ranked.wanted:
        if place not in sayings:
            continue
        if brought == limit:
            filled.verdicts[place] = Verdict.LIMIT
            continue
        filled.offer(place, _why(weighed, place))
        brought += place in filled.taken
    filled.retry(always, ranked.always)
    used = frame_tokens + room - filled.tokens_left if filled.taken else 0
    crowded = brought < limit and any(place in filled.duplicate_of for place in ranked.wanted)
    return _selected(ranked, filled, used=used, budget_tokens=budget_tokens, crowded=crowded)


def _why(weighed: Weighed, place: int) -> Verdict:
    if weighed.similar[place]:
        return Verdict.SIMILAR
    return Verdict.WORDS if weighed.worded[place] else Verdict.TOPIC


def tokens_of_frame(counter: TokenCounter) -> int:
    """Return what the block takes before there is a note in it."""
    return counter.count("\n".join([BLOCK_START, FRAME, BLOCK_END]))


def _selected(
    ranked: Ranked, filled: _Block, *, used: int, budget_tokens: int, crowded: bool
) -> Selected:
    order = [place for place in ranked.always if place in filled.taken]
    # Stable: within each sort the order stays.
    order.sort(key=lambda place: not filled.sayings[place].memory.pinned)
    order += [place for place in filled.taken if place not in ranked.always]
    memories = tuple(filled.sayings[place].memory for place in order)
    counted = Counter(filled.verdicts.values())
    unread = len(ranked.near) - len(ranked.wanted)
    return Selected(
        memories=memories,
        verdicts=filled.verdicts,
        duplicate_of=filled.duplicate_of,
        left_out=LeftOut(
            pins=ranked.capped[Verdict.PINNED],
            safety=ranked.capped[Verdict.SAFETY],
            rules=ranked.capped[Verdict.RULE],
            limit=counted[Verdict.LIMIT] + unread,
            budget=counted[Verdict.BUDGET],
            duplicates=counted[Verdict.DUPLICATE],
        ),
        tokens=TokenUse(
            used=used,
            budget=budget_tokens,
            counter=filled.counter.name,
            exact=filled.counter.exact,
        ),
        crowded=crowded and unread > 0,
    )
