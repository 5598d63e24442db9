"""Ports: what one package needs of another, wired together by ``deploy``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from schemas.memory import Embedding, Memory, MemoryKind
from schemas.proposals import InvalidItem, Operation, Usage
from schemas.records import Closing, Turn
from schemas.slots import Slot

Vectors = NDArray[np.float32]
"""Shape ``(texts, dimension)``, each row of length 1."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one model.

    Attributes:
        name: the model's name with its version; vectors of different names are never compared.
        dimension: number of components.
        min_similarity: the cosine at and above which this model's vectors count as related.
        same_statement_similarity: the cosine below which two statements never count as the same
            one in other words; ``None`` where none was measured: they never do.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def dimension(self) -> int: ...  # noqa: D102 - described with the class

    @property
    def min_similarity(self) -> float: ...  # noqa: D102 - described with the class

    @property
    def same_statement_similarity(self) -> float | None: ...  # noqa: D102 - described with the class

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text.

        Raises:
            PartlyEmbedded: some of the vectors cannot be used; it carries the others.
            EmbedderUnavailable: the embedder cannot be asked; no text is at fault.
            EmbeddingFailed: no usable vectors: not finite, of length 0, or of another shape.
        """
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """Counts how many tokens a text takes.

    Attributes:
        name: what counts.
        exact: whether it is a model's own tokenizer; else it rather says too many.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def exact(self) -> bool: ...  # noqa: D102 - described with the class

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownMemory:
    """A live memory that an extractor is shown, under the short name it may refer to it by."""

    reference: str
    memory: Memory


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionRequest:
    """What an extractor gets.

    Attributes:
        turn: the turn, its text free of our own injection block.
        known: the user's nearest live memories.
    """

    turn: Turn
    known: tuple[KnownMemory, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """What an extractor answers.

    Attributes:
        operations: what it proposes, with references resolved to memory ids.
        invalid: the items of its answer that could not be read.
        usage: what it cost, the calls included whose answers were of no use.
        stop_reasons: why the model stopped, call by call, in the provider's words.
        skipped: why no model was asked, where code found that there is nothing to ask.
        summary: what a session came to, where just that was asked for.
    """

    operations: tuple[Operation, ...]
    invalid: tuple[InvalidItem, ...] = ()
    usage: Usage = field(default_factory=Usage)
    stop_reasons: tuple[str, ...] = ()
    skipped: str | None = None
    summary: str | None = None


@runtime_checkable
class Extractor(Protocol):
    """Proposes memories from a turn.

    Attributes:
        name: ``rules``, ``verbatim`` or the name of another.
        model: the model behind it; its own name where there is none.
        prompt_hash: hash of everything but the turn that shapes its answers.
        known_max: how many of the user's nearest live memories it wants to be shown; 0 for none.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def model(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def prompt_hash(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def known_max(self) -> int: ...  # noqa: D102 - described with the class

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Propose memories.

        Raises:
            ExtractionFailed: the answer could not be used; asking again may help.
            ExtractionRejected: the answer could not be used, and asking again would not help.
            ExtractorUnavailable: it cannot be asked now; no turn is at fault, so each waits.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRequest:
    """What an extractor gets of a chat session that is over.

    Attributes:
        turns: its turns that wait, in the order in which they were said, their texts free of our
            own injection block. At least one.
        known: the user's nearest live memories.
    """

    turns: tuple[Turn, ...]
    known: tuple[KnownMemory, ...]


@runtime_checkable
class SessionExtractor(Protocol):
    """An extractor that reads a whole session at once; any other is asked turn by turn."""

    async def extract_session(self, request: SessionRequest) -> Extraction:
        """Propose memories, each operation with the ``turn_id`` of the turn that it quotes.

        Raises:
            ExtractionFailed: the answer could not be used; asking again may help.
            ExtractionRejected: the answer could not be used, and asking again would not help.
            ExtractorUnavailable: it cannot be asked now; no turn is at fault, so each waits.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryRequest:
    """What is summed up.

    Attributes:
        turns: turns of one conversation, in the order in which they were said, their texts free of
            our own injection block. At least one.
    """

    turns: tuple[Turn, ...]


@runtime_checkable
class Summarizer(Protocol):
    """An extractor that can tell what a chat session came to."""

    async def summarise(self, request: SummaryRequest) -> Extraction:
        """Return the summary, in the user's language and made from these turns alone.

        A model is asked once: an answer that is of no use is not asked for again.

        Raises:
            ExtractionFailed: the answer could not be used.
            ExtractorUnavailable: it cannot be asked now.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidationRequest:
    """What an extractor gets to look through.

    Attributes:
        memories: live memories of one subject, none of them a merged one whose sources are not
            among them, in the order in which they were said.
        now: the time that expiries are reckoned from.
    """

    memories: tuple[KnownMemory, ...]
    now: datetime


@runtime_checkable
class Consolidator(Protocol):
    """An extractor that can look through a subject's memories."""

    async def consolidate(self, request: ConsolidationRequest) -> Extraction:
        """Propose merges and tell of contradictions.

        Raises:
            ExtractionFailed: the answer could not be used; asking again may help.
            ExtractionRejected: the answer could not be used, and asking again would not help.
            ExtractorUnavailable: it cannot be asked now; no turn is at fault, so each waits.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionProgress:
    """How far the ledger has come in one partition.

    Attributes:
        open_offsets: the offsets of turns that the projector has seen and that no outcome closes.
        turns_next: the first offset of the turns topic that the projector has not read.
        memories_next: the first offset of the memories topic that it has not applied.
        proposals_floor: no turn that is still open has a proposal below this offset.
    """

    open_offsets: frozenset[int]
    turns_next: int
    memories_next: int
    proposals_floor: int

    @property
    def watermark(self) -> int:
        """The first offset of the turns topic that is not known to be closed."""
        return min(self.open_offsets, default=self.turns_next)

    def closed(self, offset: int) -> bool:
        """Whether the turn at ``offset`` is known to be closed."""
        return offset < self.turns_next and offset not in self.open_offsets


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnContext:
    """What a worker needs to know before it works on a turn.

    Attributes:
        closing: how the turn closed already, or ``None``.
        owner: the worker instance that holds the partition; another one means: stop.
        nearest: the subject's live memories, nearest first, if asked for.
    """

    closing: Closing | None
    owner: str | None
    nearest: tuple[Memory, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredMemory:
    """A version as the read model holds it.

    Attributes:
        memory: the version; ``valid_to`` is what is known now.
        retracted: whether it was withdrawn as wrong.
        confirmed_at: the times of its ``MemoryConfirmed`` events, in any order; the latest alone
            will do, and then what a late turn says of the time between two confirmations is taken
            to hold until the latest. Never the time of recording.
        merged_into: the version that stands for this one since a consolidation, or ``None``.
        pinned_at: when a person pinned it; ``None`` while it is not pinned.
    """

    memory: Memory
    retracted: bool
    confirmed_at: tuple[datetime, ...] = ()
    merged_into: UUID | None = None
    pinned_at: datetime | None = None

    @property
    def live(self) -> bool:
        """Whether it is held to be true now, and no other version stands for it."""
        return not self.retracted and self.memory.valid_to is None and self.merged_into is None

    @property
    def decided_at(self) -> datetime | None:
        """When a person last decided that it is to be held; ``None`` where nobody did."""
        moments = (self.memory.curated_at, self.pinned_at)
        return max((it for it in moments if it is not None), default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class SimilarTo:
    """Asks for the live statements that lie nearest to a new one.

    Attributes:
        slot, about, kind: theirs.
        vector: of the new statement; one of another model than the stored ones finds nothing.
        most: most of them.
    """

    slot: Slot
    about: str
    kind: MemoryKind
    vector: Embedding
    most: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Related:
    """What a decision about a subject may touch, and what it must leave out.

    Attributes:
        versions: the versions, in any order.
        suppressed: of the keys that were asked about, those under which a person deleted or
            corrected something, with the time of the latest such decision.
    """

    versions: tuple[StoredMemory, ...] = ()
    suppressed: Mapping[bytes, datetime] = field(default_factory=dict)


class Ledger(Protocol):
    """What the workers ask of the projection.

    Every method raises :class:`~schemas.errors.ReadModelUnavailable` where it cannot be reached.
    """

    async def claim(self, partition: int, owner: str) -> None:
        """Make ``owner`` the holder of a partition; its next context tells the one before."""
        ...

    async def progress(self, partition: int) -> PartitionProgress:
        """Return how far the ledger has come in a partition."""
        ...

    async def wait_applied(self, partition: int, memories_offset: int) -> None:
        """Return once the outcome at ``memories_offset`` is applied, however long it takes."""
        ...

    async def context(
        self,
        *,
        subject: UUID,
        turn_id: UUID,
        partition: int,
        vector: Vectors | None,
        known_max: int,
    ) -> TurnContext:
        """Return what is known of a turn, and the subject's memories nearest to ``vector``."""
        ...

    async def related(
        self,
        *,
        subject: UUID,
        slots: Collection[tuple[Slot, str]],
        statement_keys: Collection[bytes],
        memory_ids: Collection[UUID],
        similar: Collection[SimilarTo] = (),
        turn_ids: Collection[UUID] = (),
        suppression_keys: Collection[bytes] = (),
    ) -> Related:
        """Return every version that a decision may touch, and what is suppressed.

        That is: all versions of the lineages that hold any of the (slot, about) pairs, of those
        that hold a version with any of the statement keys, of those of the memories named, of those
        that hold a version that any of the turns caused, and of
        those of the live statements that lie nearest to a new one, which alone are sure to come
        with their vectors; then of the merged versions that stand for any of these, and of all that
        those stand for.
        """
        ...
