"""An extractor that asks a language model about turns, sessions and a subject's memories."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property, partial
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from processors.extractors.fingerprint import fingerprint
from processors.extractors.model import prompt
from processors.extractors.model.asking import TOKENS_MAX, Asker, Inquiry
from processors.extractors.model.calling import Caller, Deadline
from processors.extractors.model.chunks import groups_of, pieces_of
from processors.extractors.model.consolidation import consolidation_inquiry
from processors.extractors.model.provider import Provider, Question, Result
from processors.extractors.model.reading import Asked, each, names_of, operation_of
from processors.extractors.model.schema import SCHEMAS, SESSION, TURN
from processors.extractors.model.summarising import (
    UnusableSummary,
    summary_in,
    summary_inquiry,
)
from processors.extractors.model.unfinished import Items
from processors.small_talk import Skip, skip_reason
from schemas.errors import ExtractionRejected
from schemas.ports import (
    ConsolidationRequest,
    Extraction,
    ExtractionRequest,
    SessionRequest,
    SummaryRequest,
)
from schemas.records import Turn

_PACKAGE: Final = "processors.extractors.model"

MODULES: Final = (
    *(f"{_PACKAGE}.{name}" for name in (
        "answers", "asking", "chunks", "consolidation", "dates", "extractor", "prompt", "quotes",
        "reading", "schema", "summarising",
    )),
    "processors.explicit_requests",
    "processors.folding",
    "processors.general_questions",
    "processors.marks",
    "processors.shown_turns",
    "processors.small_talk",
    "schemas.injection",
    "schemas.slots",
)  # fmt: skip
"""The modules that decide what is asked and how an answer is read."""

_WORD_LISTS: Final = ("small_talk", "general_questions", "explicit_requests")
"""The lists by which a turn is kept from the model."""

_HASH_DIGITS: Final = 16
_OPERATIONS: Final = "operations"


class ModelExtractor:
    """Asks a language model.

    A long turn or session is cut into at most ``PIECES_MAX`` questions. What surely holds nothing
    is not asked about.
    """

    def __init__(
        self, provider: Provider, caller: Caller, asker: Asker, *, keeps_assistant: bool
    ) -> None:
        """Wire the parts.

        Args:
            provider: the provider, for its names.
            caller: asks it.
            asker: gets usable answers.
            keeps_assistant: whether what the assistant told the user may be kept, as an episode.
        """
        self._provider = provider
        self._caller = caller
        self._asker = asker
        self._keeps_assistant = keeps_assistant

    @property
    def name(self) -> str:
        """The extractor's name."""
        return self._provider.name

    @property
    def model(self) -> str:
        """The model's name."""
        return self._provider.model

    @cached_property
    def prompt_hash(self) -> str:
        """Hash of the prompts, the answers' schemas, what reads them, and the switches."""
        parts = {
            "code": fingerprint(MODULES),
            "prompts": [
                prompt.turn_rules(keeps_assistant=self._keeps_assistant),
                prompt.session_rules(keeps_assistant=self._keeps_assistant),
                prompt.consolidation_rules(),
                prompt.summary_rules(),
            ],
            "schemas": SCHEMAS,
            "word_lists": {
                name: files("processors").joinpath(f"{name}.json").read_text("utf-8")
                for name in _WORD_LISTS
            },
            "tokens_max": TOKENS_MAX,
        }
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:_HASH_DIGITS]

    @property
    def known_max(self) -> int:
        """How many of the user's nearest memories it wants to be shown."""
        return prompt.KNOWN_MAX

    @property
    def problem(self) -> str | None:
        """Why the model is not asked now, or ``None`` where it is."""
        return self._caller.problem

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Propose memories from a turn.

        Raises:
            ExtractionFailed: an answer did not come in time; asking again may help.
            ExtractionRejected: there is no usable answer, though it was asked for often enough.
            ExtractorUnavailable: the model cannot be asked; no turn is at fault.
        """
        turn, known = request.turn, request.known[: prompt.KNOWN_MAX]
        skipped = self._skipped(turn, in_session=False)
        if skipped is not None:
            return Extraction(operations=(), skipped=skipped)
        keeps = self._keeps_assistant
        pieces = pieces_of(turn.user_text)
        questions = []
        for number, piece in enumerate(pieces, start=1):
            part = f"{number} of {len(pieces)}" if len(pieces) > 1 else ""
            text = prompt.turn_question(turn, piece, known, keeps_assistant=keeps, part=part)
            question = _question(prompt.turn_rules(keeps_assistant=keeps), text, TURN)
            questions.append((f"part {part}" if part else "the turn", question))
        asked = Asked(
            turns={"": turn}, known=names_of(known), keeps_assistant=keeps, tells_turn=False
        )
        return await self._asker.ask(
            Inquiry(
                of=(turn.turn_id,),
                questions=questions,
                lists=(_OPERATIONS,),
                read=partial(_read, asked),
            )
        )

    async def extract_session(self, request: SessionRequest) -> Extraction:
        """Propose memories from a whole session, each of one of its turns.

        Raises:
            ExtractionFailed, ExtractionRejected, ExtractorUnavailable: as :meth:`extract`.
        """
        turns, known = request.turns, request.known[: prompt.KNOWN_MAX]
        skipped = [self._skipped(turn, in_session=True) for turn in turns]
        if all(reason is not None for reason in skipped):
            return Extraction(operations=(), skipped=skipped[0])
        keeps = self._keeps_assistant
        beside = [prompt.context_characters(turn, keeps_assistant=keeps) for turn in turns]
        groups = groups_of([turn.user_text for turn in turns], beside)
        rules = prompt.session_rules(keeps_assistant=keeps)
        questions = [
            (
                f"turns {group[0].index + 1} to {group[-1].index + 1}",
                _question(
                    rules,
                    prompt.session_question(turns, group, known, keeps_assistant=keeps),
                    SESSION,
                ),
            )
            for group in groups
        ]
        asked = Asked(
            turns={f"t{number}": turn for number, turn in enumerate(turns, start=1)},
            known=names_of(known),
            keeps_assistant=keeps,
            tells_turn=True,
        )
        return await self._asker.ask(
            Inquiry(
                of=tuple(turn.turn_id for turn in turns),
                questions=questions,
                lists=(_OPERATIONS,),
                read=partial(_read, asked),
            )
        )

    async def consolidate(self, request: ConsolidationRequest) -> Extraction:
        """Propose merges, and tell of contradictions, among a subject's memories.

        Raises:
            ExtractionFailed, ExtractionRejected, ExtractorUnavailable: as :meth:`extract`.
        """
        if not request.memories:
            return Extraction(operations=())
        return await self._asker.ask(consolidation_inquiry(request.memories))

    async def summarise(self, request: SummaryRequest) -> Extraction:
        """Return what a session came to. The model is asked for one answer.

        Raises:
            ExtractionFailed: the answer did not come in time.
            ExtractionRejected: it is of no use; it is not asked for again.
            ExtractorUnavailable: the model cannot be asked.
        """
        answer = await self._caller.ask(
            summary_inquiry(request.turns), Deadline(self._asker.deadline_s)
        )
        stop_reasons = (answer.stop_reason,)
        try:
            summary = summary_in(answer)
        except UnusableSummary as error:
            self._caller.count(error.result)
            raise ExtractionRejected(
                str(error), usage=answer.usage, stop_reasons=stop_reasons
            ) from None
        self._caller.count(Result.ANSWERED)
        return Extraction(
            operations=(), summary=summary, usage=answer.usage, stop_reasons=stop_reasons
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._caller.aclose()

    def _skipped(self, turn: Turn, *, in_session: bool) -> str | None:
        """Return why there is nothing to ask about a turn."""
        if not self._keeps_assistant:
            turn = turn.model_copy(update={"assistant_text": None})
        if not turn.user_text.strip() and not (turn.assistant_text or "").strip():
            return Skip.NOTHING_WRITTEN.value
        return skip_reason(turn, in_session=in_session)


def _question(rules: str, text: str, schema_name: str) -> Question:
    return Question(
        system=rules,
        text=text,
        schema=SCHEMAS[schema_name],
        schema_name=schema_name,
        tokens_max=TOKENS_MAX[0],
    )


def _read(asked: Asked, lists: Mapping[str, list[Any]]) -> Items:
    return each(lists[_OPERATIONS], partial(operation_of, asked=asked))
