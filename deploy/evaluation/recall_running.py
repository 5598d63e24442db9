"""Let scripts run: what was said goes into the read model, then the questions are asked."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from typing import Final
from uuid import UUID

from deploy.evaluation.known_vectors import KnownVectors
from deploy.evaluation.recall_scripts import Proposed, Question, RecallScript, ToldTurn
from deploy.evaluation.recall_site import GENERATION, PARTITIONS, Site
from processors.deciding.decider import Decider
from processors.deciding.occasions import occasion_of_turn
from processors.deciding.outcome import LogPlace
from projections.injection import injection
from projections.recall import Recall
from projections.recall_policies import Policies
from schemas import ids
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemorySuperseded,
    ProposalFlagged,
    ProposalRejected,
)
from schemas.keyring import SubjectKeys
from schemas.memory import Memory
from schemas.proposals import Action, Operation, Proposal
from schemas.records import Outcome, Turn

_EXTRACTOR: Final = "script"


@dataclass(frozen=True, kw_only=True, slots=True)
class Misfit:
    """An operation of which something else became than its script says.

    Attributes:
        script: category and name.
        said: the turn's words.
        label: the operation's label, if it has one.
        expected: ``stored`` or ``refused``.
        got: what became of it: ``stored``, or the reasons of the gate.
    """

    script: str
    said: str
    label: str | None
    expected: str
    got: str


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


@dataclass(kw_only=True, slots=True)
class _User:
    """One user of one script.

    Attributes:
        keys: the subject's keys.
        operations: by label, the operation.
        memories: by label, the memories that it means.
        contents: the label of each statement, for versions that code brings forth by itself.
    """

    keys: SubjectKeys
    operations: dict[str, Operation] = field(default_factory=dict)
    memories: defaultdict[str, list[UUID]] = field(default_factory=lambda: defaultdict(list))
    contents: dict[str, str] = field(default_factory=dict)

    def labels_of(self, memory_id: UUID) -> frozenset[str]:
        """Return the labels that mean a memory."""
        return frozenset(label for label, held in self.memories.items() if memory_id in held)


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
        self._users: dict[tuple[str, str], _User] = {}
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
        """Take every turn of scripts; return the operations that came out otherwise than they say.

        The turns of different users are taken side by side, those of one user in their order.
        """
        await self._vectors.learn(_texts(scripts))
        await self._make_users(scripts)
        waiting: defaultdict[tuple[str, str], list[ToldTurn]] = defaultdict(list)
        for script in scripts:
            for told in script.told():
                waiting[_user_key(script, told.session.who)].append(told)
        misfits: list[Misfit] = []
        for round_ in zip_longest(*waiting.values()):
            decided = await asyncio.gather(*(self._decide(told) for told in round_ if told))
            await self._site.apply(
                [(user.keys, turn, outcome) for user, turn, outcome, _ in decided]
            )
            misfits += (misfit for *_, found in decided for misfit in found)
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
                self._users[tenant, user_id] = _User(keys=of_user)

    async def _decide(self, told: ToldTurn) -> tuple[_User, Turn, Outcome, list[Misfit]]:
        user = self._users[_user_key(told.script, told.session.who)]
        turn = told.turn()
        operations = tuple(self._operation(user, proposed, turn) for proposed in told.told.proposes)
        proposal = Proposal(
            turn_id=turn.turn_id,
            generation=GENERATION,
            extractor=_EXTRACTOR,
            model=_EXTRACTOR,
            prompt_hash=_EXTRACTOR,
            operations=operations,
            proposed_at=told.arrived_at,
        )
        partition, offset = self._site.place_turn(user.keys.subject)
        decider = Decider(
            ledger=self._site.ledger, embedder=self._vectors, clock=lambda: told.arrived_at
        )
        outcome = await decider.outcome(
            occasion_of_turn(turn),
            proposal,
            subject=user.keys.subject,
            place=LogPlace(
                generation=GENERATION,
                partition=partition,
                offset=offset,
                proposal_offset=offset,
                proposals_floor=0,
            ),
        )
        return user, turn, outcome, self._note(user, told, operations, outcome)

    def _operation(self, user: _User, proposed: Proposed, turn: Turn) -> Operation:
        named = proposed.names
        held = user.memories[named] if named is not None else []
        operation = proposed.operation(
            turn.user_text,
            named=None if named is None else user.operations[named],
            reference=held[-1] if held else None,
        )
        if proposed.label is not None:
            user.operations[proposed.label] = operation
        return operation

    def _note(
        self,
        user: _User,
        told: ToldTurn,
        operations: Sequence[Operation],
        outcome: Outcome,
    ) -> list[Misfit]:
        """Note which memories the labels mean; return what came out otherwise than it should."""
        opened = {memory.memory_id: memory for memory in _opened(outcome)}
        for memory_id in opened:
            self._owners[memory_id] = user.keys.subject
        refused = _refused(outcome)
        confirmed = iter(
            event.memory_id for event in outcome.events if isinstance(event, MemoryConfirmed)
        )
        misfits = []
        for index, (proposed, operation) in enumerate(
            zip(told.told.proposes, operations, strict=True)
        ):
            got = refused.get(index, "stored")
            if (got != "stored") != proposed.refused:
                misfits.append(_misfit(told, proposed, got))
            if got != "stored" or operation.action is Action.RETRACT:
                continue
            own = ids.memory_id(ids.outcome_id(GENERATION, outcome.turn_id), index)
            meant = own if opened.pop(own, None) is not None else next(confirmed, None)
            if proposed.label is None:
                continue
            if meant is None:
                misfits.append(_misfit(told, proposed, "nothing"))
                continue
            user.memories[proposed.label].append(meant)
            user.contents[operation.content] = proposed.label
        # What is left goes on where a late turn split what was known.
        for memory_id, memory in opened.items():
            if memory.content in user.contents:
                user.memories[user.contents[memory.content]].append(memory_id)
        return misfits

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


def _opened(outcome: Outcome) -> Iterator[Memory]:
    for event in outcome.events:
        if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled):
            yield event.memory


def _refused(outcome: Outcome) -> dict[int, str]:
    """Return by operation why it was refused or left to a person."""
    return {
        event.operation: ", ".join(reason.value for reason in event.reasons)
        for event in outcome.events
        if isinstance(event, ProposalRejected | ProposalFlagged)
    }


def _misfit(told: ToldTurn, proposed: Proposed, got: str) -> Misfit:
    return Misfit(
        script=f"{told.script.category}/{told.script.name}",
        said=told.told.says,
        label=proposed.label,
        expected="refused" if proposed.refused else "stored",
        got=got,
    )


def _texts(scripts: Sequence[RecallScript]) -> Iterator[str]:
    """Yield what will need a vector."""
    for script in scripts:
        for session in script.sessions:
            for turn in session.turns:
                yield from (one.content for one in turn.proposes if one.content is not None)
        yield from (question.asks for question in script.questions)


def _tenant(script: RecallScript, tenant: str) -> str:
    """Return the name of a tenant of one script: each has tenants of its own."""
    return f"{script.category}/{script.name}/{tenant}"


def _user_key(script: RecallScript, who: tuple[str, str]) -> tuple[str, str]:
    tenant, user = who
    return (_tenant(script, tenant), user)
