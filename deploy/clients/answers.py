"""Reading answers of the API for a model: what it may see, and what is worth asking again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import httpx

ATTEMPTS_MAX: Final = 3
"""How often a request is sent in all."""

TIMEOUT: Final = httpx.Timeout(20.0, connect=5.0)
"""The gateway itself waits up to 10 s for a command to be carried out."""

_PAUSE_S: Final = 0.5
_PAUSE_S_MAX: Final = 2.0
"""A model waits for its tool: longer pauses are left to the next turn."""

_AGAIN: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
_FOR_THE_MODEL: Final = frozenset(
    {HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
)

_LOG: Final = logging.getLogger(__name__)


class ToolFailed(Exception):
    """The tool could not do it; the message is for the model, which may go on without it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """The request is worth sending again.

    Attributes:
        after_s: after how many seconds.
    """

    after_s: float


Body: TypeAlias = Mapping[str, Any]
Read: TypeAlias = Callable[[Body], str]
"""Returns the text for the model that an answer holds, or raises :class:`ToolFailed`."""


def read_answer(
    response: httpx.Response | httpx.HTTPError, read: Read, *, last: bool
) -> str | Again:
    """Return the text for the model, or when to ask again.

    Args:
        response: what came, or why nothing did.
        read: reads the body of an answer.
        last: whether this was the last attempt.

    Raises:
        ToolFailed: there is no answer for the model, which is told what it can do about it. Why,
            where that is nothing that a model could mend, is in the application's log.
    """
    if isinstance(response, httpx.Response):
        if response.status_code == HTTPStatus.OK:
            return _read(response, read)
        if response.status_code in _FOR_THE_MODEL:
            raise ToolFailed(f"Error: The call is malformed: {_detail(response)}")
        again = response.status_code in _AGAIN
        problem = f"{response.status_code}: {_detail(response)}"
    else:
        again, problem = True, f"{type(response).__name__}: {response}"
    if again and not last:
        return Again(after_s=_pause_s(response))
    raise _unusable(problem)


def _read(response: httpx.Response, read: Read) -> str:
    try:
        return read(response.json())
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable(f"it answered something else, {type(error).__name__}") from None


def _unusable(problem: str) -> ToolFailed:
    _LOG.error("memledger did not answer a tool: %s", problem)
    return ToolFailed("Error: The memory cannot be used right now: go on without it.")


def _detail(response: httpx.Response) -> str:
    try:
        return str(response.json()["detail"])
    except (KeyError, TypeError, ValueError):
        return "no detail was told"


def _pause_s(response: httpx.Response | httpx.HTTPError) -> float:
    told = response.headers.get("retry-after", "") if isinstance(response, httpx.Response) else ""
    return min(float(told), _PAUSE_S_MAX) if told.isdecimal() else _PAUSE_S
