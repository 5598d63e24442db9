"""What the extractor needs of a provider's interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from schemas.proposals import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What a model is asked.

    Attributes:
        system: the rules, the same byte for byte in every question of a kind, so that the provider
            can keep it.
        text: what changes: the turn and the known memories.
        schema: the JSON Schema of the answer.
        schema_name: its name, of letters and underscores.
        tokens_max: most tokens of the answer.
    """

    system: str
    text: str
    schema: Mapping[str, Any]
    schema_name: str
    tokens_max: int


class Stop(StrEnum):
    """Why a model stopped."""

    DONE = "done"
    CUT_OFF = "cut_off"
    """It reached a limit before the end of its answer."""
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a model answered.

    Attributes:
        text: its words, which should be JSON.
        stop: why it stopped.
        stop_reason: the same in the provider's words.
        usage: what it cost.
    """

    text: str
    stop: Stop
    stop_reason: str
    usage: Usage


class Result(StrEnum):
    """How one call of a model ended, as it is counted."""

    ANSWERED = "answered"
    MALFORMED = "malformed"
    SCHEMA_INVALID = "schema_invalid"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    TIMED_OUT = "timed_out"
    HALF_SENT = "half_sent"
    UNREACHABLE = "unreachable"
    DENIED = "denied"
    """The provider refuses whatever we send: the key, the model or the bill is wrong."""
    NOT_TAKEN = "not_taken"
    """The provider refuses this request."""


@dataclass(eq=False, kw_only=True)
class ProviderFault(Exception):
    """A provider gave no answer.

    Attributes:
        result: how the call ended.
        problem: what happened, without content of the call.
        passes: whether it may pass by itself, so that asking again can help.
        asked_s: how long the provider asks to be left alone, in seconds, if it does.
        usage: what it may have cost all the same.
    """

    result: Result
    problem: str
    passes: bool
    asked_s: float | None = None
    usage: Usage = field(default_factory=Usage)

    def __str__(self) -> str:
        """Return the problem."""
        return self.problem


class Provider(Protocol):
    """Asks one model of one provider.

    Attributes:
        name: the extractor's name.
        model: the model's.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - described with the class

    @property
    def model(self) -> str: ...  # noqa: D102 - described with the class

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the model's answer to one request, which is sent once.

        Raises:
            ProviderFault: there is none.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
