"""Asking a model what a chat session came to, and reading what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from processors.extractors.model import prompt
from processors.extractors.model.answers import NotJson, NotTheSchema, lists_in
from processors.extractors.model.asking import TOKENS_MAX
from processors.extractors.model.provider import Answer, Question, Result, Stop
from processors.extractors.model.schema import SCHEMAS, SUMMARY
from schemas.records import Turn

_SENTENCES: Final = "sentences"


class UnusableSummary(Exception):
    """An answer is no summary.

    Attributes:
        result: what it is.
    """

    def __init__(self, result: Result, problem: str) -> None:
        super().__init__(problem)
        self.result = result


def summary_inquiry(turns: Sequence[Turn]) -> Question:
    """Return what to ask about turns."""
    return Question(
        system=prompt.summary_rules(),
        text=prompt.summary_question(turns),
        schema=SCHEMAS[SUMMARY],
        schema_name=SUMMARY,
        tokens_max=TOKENS_MAX[0],
    )


def summary_in(answer: Answer) -> str:
    """Return the sentences of an answer, one a line; empty where there is nothing to tell.

    Raises:
        UnusableSummary: it holds none.
    """
    if answer.stop is Stop.REFUSED:
        raise UnusableSummary(Result.REFUSED, f"the model refused ({answer.stop_reason})")
    try:
        found = lists_in(answer.text, (_SENTENCES,)).items[_SENTENCES]
    except (NotJson, NotTheSchema) as error:
        if answer.stop is Stop.CUT_OFF:
            problem = f"the answer was cut off ({answer.stop_reason})"
            raise UnusableSummary(Result.TRUNCATED, problem) from None
        result = Result.MALFORMED if isinstance(error, NotJson) else Result.SCHEMA_INVALID
        raise UnusableSummary(result, f"the answer cannot be read: {error}") from None
    sentences = _texts(found)
    if found and not sentences:
        raise UnusableSummary(Result.SCHEMA_INVALID, "no sentence of the answer can be used")
    return "\n".join(sentences)


def _texts(values: Sequence[Any]) -> list[str]:
    return [value.strip() for value in values if isinstance(value, str) and value.strip()]
