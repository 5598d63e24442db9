"""Let scripts run: what was said goes into the read model, then the questions are asked."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Final
from uuid import UUID

from deploy.evaluation.known_vectors import KnownVectors
from deploy.evaluation.recall_labels import Misfit, ScriptUser
from deploy.evaluation.recall_scripts import Question, RecallScript, ToldDecision, ToldTurn
from deploy.evaluation.recall_site import GENERATION, PARTITIONS, Site
from processors.deciding.decider import Decider
from processors.deciding.occasions import occasion_of_curation, occasion_of_turn
from processors.deciding.outcome import LogPlace
from projections.injection import injection
from projections.recall import Recall
from projections.recall_policies import Policies
from schemas.commands import Curation, PersonCorrects, PersonDeletes, PersonPins
from schemas.errors import InvalidInput
from schemas.keyring import SubjectKeys
from schemas.proposals import Proposal
from schemas.records import Outcome, Turn
from schemas.suppression import SuppressionKeying

_EXTRACTOR: Final = "script"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedNote:
    """One memory that was served.

    Attributes:
        content: what it says.
        labels: the labels of the asking user's script that mean it.
        foreign: whether it is not the asking user's.
    """

    content: str
    labels: frozenset[str]
    foreign: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a question got.

    Attributes:
        script: where it stands.
        question: the question.
        served: the memories, in their order.
        block: the block of notes, as an application puts it into a prompt; empty for none.
    """

    script: RecallScript
    question: Question
    served: tuple[ServedNote, ...]
    block: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decided:
    """What something that was told came to.

    Attributes:
        keys: the keys of whose it is.
        record: the record.
        outcome: its outcome.
        misfits: what came out otherwise than its script says.
    """

    keys: SubjectKeys
    record: Turn | Curation
    outcome: Outcome
    misfits: Sequence[Misfit]


class _Clock:
    """The time that a recall takes for now."""

    moment: datetime

    def __call__(self) -> datetime:
        return self.moment


class ScriptRun:
    """Scripts, and the stores that hold what was said in them.

    Args:
        site: empty stores.
        vectors: the site's embedder.
        policies: how memories are chosen; as they ship where none are given.
    """

    def __init__(self, site: Site, vectors: KnownVectors, policies: Policies | None = None) -> None:
        self._site = site
        self._vectors = vectors
        self._users: dict[tuple[str, str], ScriptUser] = {}
        self._owners: dict[UUID, UUID] = {}
        self._clock = _Clock()
        self._recall = Recall(
            site.read_model,
            vectors,
            partitions=PARTITIONS,
            clock=self._clock,
            policies=policies or Policies(),
        )

    async def tell(self, scripts: Sequence[RecallScript]) -> list[Misfit]:
        """Take all that scripts tell; return what came out otherwise than they say.

        What different users say is taken side by side, what one says in its order.
        """
        await self._vectors.learn(_texts(scripts))
        await self._make_users(scripts)
        waiting: defaultdict[tuple[str, str], list[ToldTurn | ToldDecision]] = defaultdict(list)
        for script in scripts:
            for told in script.told():
                waiting[_user_key(script, told.who)].append(told)
        misfits: list[Misfit] = []
        for round_ in zip_longest(*waiting.values()):
            decided = await asyncio.gather(*(self._decide(told) for told in round_ if told))
            await self._site.apply([(one.keys, one.record, one.outcome) for one in decided])
            misfits += (misfit for one in decided for misfit in one.misfits)
        return misfits

    async def ask(
        self, scripts: Sequence[RecallScript], *, min_similarity: float | None = None
    ) -> list[Answer]:
        """Ask every question of scripts that were told.

        Args:
            scripts: the scripts.
            min_similarity: the threshold; ``None`` takes the embedder's.
        """
        return [
            await self._answer(script, question, min_similarity)
            for script in scripts
            for question in script.questions
        ]

    async def _make_users(self, scripts: Sequence[RecallScript]) -> None:
        """Make a subject for everybody who says something; who only asks stays unknown."""
        speakers: defaultdict[str, set[str]] = defaultdict(set)
        for script in scripts:
            for session in script.sessions:
                speakers[_tenant(script, session.tenant)].add(session.user)
            for question in script.questions:
                speakers.setdefault(_tenant(script, question.tenant), set())
        for tenant, users in speakers.items():
            await self._site.keyring.ensure_tenant(tenant)
            keys = await self._site.keyring.subjects_for(tenant, users, create=True)
            for user_id, of_user in keys.items():
                self._users[tenant, user_id] = ScriptUser(keys=of_user)

    async def _decide(self, told: ToldTurn | ToldDecision) -> _Decided:
        user = self._users[_user_key(told.script, told.who)]
        partition, offset = self._site.place_turn(user.keys.subject)
        place = LogPlace(
            generation=GENERATION, partition=partition, offset=offset, proposals_floor=0
        )
        decider = Decider(
            ledger=self._site.ledger, embedder=self._vectors, clock=lambda: told.arrived_at
        )
        if isinstance(told, ToldTurn):
            decided = await self._decide_turn(told, user, decider, place)
        else:
            decided = await self._decide_by_hand(told, user, decider, place)
        for memory_id in user.versions:
            self._owners[memory_id] = user.keys.subject
        return decided

    async def _decide_turn(
        self, told: ToldTurn, user: ScriptUser, decider: Decider, place: LogPlace
    ) -> _Decided:
        turn = told.turn()
        operations = tuple(
            user.operation(proposed, turn.user_text) for proposed in told.told.proposes
        )
        proposal = Proposal(
            turn_id=turn.turn_id,
            generation=GENERATION,
            extractor=_EXTRACTOR,
            model=_EXTRACTOR,
            prompt_hash=_EXTRACTOR,
            operations=operations,
            proposed_at=told.arrived_at,
        )
        outcome = await decider.outcome(
            occasion_of_turn(turn),
            proposal,
            subject=user.keys.subject,
            keying=SuppressionKeying.of_subject(user.keys.id_secret),
            place=replace(place, proposal_offset=place.offset),
        )
        return _Decided(
            keys=user.keys,
            record=turn,
            outcome=outcome,
            misfits=user.note_turn(told, operations, outcome),
        )

    async def _decide_by_hand(
        self, told: ToldDecision, user: ScriptUser, decider: Decider, place: LogPlace
    ) -> _Decided:
        names = told.decided.names
        memory = None if names is None else user.memory(names)
        if names is not None and memory is None:
            raise InvalidInput(
                field=f"{told.script.category}/{told.script.name}.toml: {told.key}.names",
                problem=f"is {names!r}, of which nothing was stored",
                remedy="name a memory that the gate lets pass",
            )
        curation = told.curation(memory)
        decision = curation.decision
        subject, keying = user.keys.subject, SuppressionKeying.of_subject(user.keys.id_secret)
        if isinstance(decision, PersonCorrects | PersonPins | PersonDeletes):
            outcome = await decider.curate(
                curation, decision, subject=subject, keying=keying, place=place
            )
        else:
            outcome = await decider.outcome(
                occasion_of_curation(curation), None, subject=subject, keying=keying, place=place
            )
        return _Decided(
            keys=user.keys,
            record=curation,
            outcome=outcome,
            misfits=user.note_decision(told, outcome),
        )

    async def _answer(
        self, script: RecallScript, question: Question, min_similarity: float | None
    ) -> Answer:
        tenant = _tenant(script, question.tenant)
        found = await self._site.keyring.subjects_for(tenant, [question.user], create=False)
        keys = found.get(question.user)
        subject = None if keys is None else keys.subject
        self._clock.moment = question.at
        result = await self._recall.recall(
            subject,
            question.asks,
            limit=question.limit,
            min_similarity=min_similarity,
            as_of=question.as_of,
            known_at=question.known_at,
        )
        user = self._users.get(_user_key(script, question.who))
        return Answer(
            script=script,
            question=question,
            served=tuple(
                ServedNote(
                    content=memory.content,
                    labels=frozenset() if user is None else user.labels_of(memory.memory_id),
                    foreign=subject is None or self._owners.get(memory.memory_id) != subject,
                )
                for memory in result.memories
            ),
            block=injection(result.memories),
        )


def _texts(scripts: Sequence[RecallScript]) -> Iterator[str]:
    """Yield what will need a vector."""
    for script in scripts:
        for session in script.sessions:
            for turn in session.turns:
                yield from (one.content for one in turn.proposes if one.content is not None)
        yield from (one.content for one in script.curations if one.content is not None)
        yield from (question.asks for question in script.questions)


def _tenant(script: RecallScript, tenant: str) -> str:
    """Return the name of a tenant of one script: each has tenants of its own."""
    return f"{script.category}/{script.name}/{tenant}"


def _user_key(script: RecallScript, who: tuple[str, str]) -> tuple[str, str]:
    tenant, user = who
    return (_tenant(script, tenant), user)
