"""The request that is being answered: its id, for answers, problem details and logs."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

HEADER: Final = "X-Request-Id"

_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
"""What is taken over from a caller: it stands in logs, so nothing in it can break a line."""


@dataclass(kw_only=True, slots=True)
class RequestContext:
    """What is known of the request that is being answered.

    Attributes:
        request_id: names it.
        headers: what its answer carries besides, whatever becomes of it.
    """

    request_id: str
    headers: dict[str, str] = field(default_factory=dict)


_CURRENT: ContextVar[RequestContext | None] = ContextVar("memledger_request", default=None)


def current_request() -> RequestContext | None:
    """Return the request that is being answered here; ``None`` where none is."""
    return _CURRENT.get()


def request_id_of(sent: str | None) -> str:
    """Return the id that a caller sent, if it is well-formed, else a new one."""
    if sent is not None and _WELL_FORMED.fullmatch(sent):
        return sent
    return uuid4().hex


@contextmanager
def answering(request_id: str) -> Iterator[RequestContext]:
    """Make a request the current one."""
    context = RequestContext(request_id=request_id)
    token = _CURRENT.set(context)
    try:
        yield context
    finally:
        _CURRENT.reset(token)


class RequestIdFilter(logging.Filter):
    """Gives each record of a log ``request``: the current request's id in brackets, or nothing."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add it; every record passes."""
        context = _CURRENT.get()
        record.request = "" if context is None else f" [{context.request_id}]"
        return True
