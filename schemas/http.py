"""Errors over HTTP: every refusal is a problem detail as RFC 9457 describes it.

A body has ``type`` (``about:blank``: status and ``code`` say what it is), ``title``, ``status``,
``detail`` and ``code``, a stable name to branch on; a refused field adds ``errors``, and a request
that has an id ``request_id``. No body repeats what the caller sent but for the names of its fields.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from schemas.errors import (
    EmbedderMismatch,
    EmbeddingFailed,
    FlagDecided,
    GatewayBusy,
    InputTooLarge,
    InvalidApiKey,
    InvalidInput,
    InvalidUserToken,
    KeyringUnavailable,
    LogBusy,
    LogUnavailable,
    MemledgerError,
    MigrationError,
    NotCaughtUp,
    RateLimited,
    ReadModelUnavailable,
    ResultPending,
    SubjectErased,
    UnknownFile,
    UnknownFlag,
    UnknownMemory,
    UnknownRecall,
    UnknownTenant,
    UnknownTurn,
    UserPaused,
)
from schemas.json_text import shown_name
from schemas.request_context import current_request

MEDIA_TYPE: Final = "application/problem+json"

_LOGGER: Final = logging.getLogger(__name__)
_WORD_START: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProblemKind:
    """How one class of errors is answered.

    Attributes:
        status: the HTTP status.
        title: what it is, the same for every occurrence.
        retry_after_s: after how many seconds it is worth asking again; ``None`` where it is not.
        detail: what is answered in place of the error's own message, which repeats what a store's
            client said and so may name hosts, ports and logins; ``None`` where the message is ours.
    """

    status: HTTPStatus
    title: str
    retry_after_s: int | None = None
    detail: str | None = None


KINDS: Final[Mapping[type[MemledgerError], ProblemKind]] = {
    InvalidInput: ProblemKind(
        status=HTTPStatus.UNPROCESSABLE_ENTITY, title="The request cannot be accepted"
    ),
    InputTooLarge: ProblemKind(
        status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE, title="The request is above a limit"
    ),
    GatewayBusy: ProblemKind(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title="The gateway is busy",
        retry_after_s=1,
    ),
    InvalidApiKey: ProblemKind(
        status=HTTPStatus.UNAUTHORIZED, title="The API key is missing, malformed or not valid"
    ),
    InvalidUserToken: ProblemKind(
        status=HTTPStatus.UNAUTHORIZED, title="The user token is missing, malformed or not valid"
    ),
    UnknownTenant: ProblemKind(status=HTTPStatus.FORBIDDEN, title="No such tenant"),
    UnknownFlag: ProblemKind(status=HTTPStatus.NOT_FOUND, title="No such flag"),
    UnknownTurn: ProblemKind(status=HTTPStatus.NOT_FOUND, title="No such turn"),
    UnknownMemory: ProblemKind(status=HTTPStatus.NOT_FOUND, title="No such memory"),
    UnknownFile: ProblemKind(status=HTTPStatus.NOT_FOUND, title="No such file"),
    UnknownRecall: ProblemKind(status=HTTPStatus.NOT_FOUND, title="No such recall"),
    FlagDecided: ProblemKind(
        status=HTTPStatus.CONFLICT, title="The flag was decided in another way"
    ),
    RateLimited: ProblemKind(
        status=HTTPStatus.TOO_MANY_REQUESTS, title="Too many requests or turns", retry_after_s=1
    ),
    UserPaused: ProblemKind(status=HTTPStatus.CONFLICT, title="The user has paused memory"),
    SubjectErased: ProblemKind(status=HTTPStatus.GONE, title="The user was erased"),
    LogBusy: ProblemKind(
        status=HTTPStatus.TOO_MANY_REQUESTS,
        title="Too much waits to be written already",
        retry_after_s=1,
    ),
    LogUnavailable: ProblemKind(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title="The log does not answer",
        retry_after_s=5,
        detail="the log did not acknowledge in time, so what was sent may stand or not: send it "
        "again, a turn under its turn_id, a fact under its id",
    ),
    KeyringUnavailable: ProblemKind(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title="The keyring does not answer",
        retry_after_s=5,
        detail="the keyring cannot be asked, and nothing was taken for erased: send the request "
        "again, turns under their turn_id, facts under their id",
    ),
    ReadModelUnavailable: ProblemKind(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title="The read model does not answer",
        retry_after_s=5,
        detail="the read model cannot be asked, which says nothing of what is stored: send the "
        "request again",
    ),
    MigrationError: ProblemKind(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title="A store lacks its tables",
        retry_after_s=5,
        detail="a store has not the tables of this release, and nothing was taken for erased or "
        "empty: the operator must restore them",
    ),
    # Not 503: everything works, the caller set a condition that did not hold in time.
    NotCaughtUp: ProblemKind(
        status=HTTPStatus.GATEWAY_TIMEOUT,
        title="The awaited turn is not processed yet",
        retry_after_s=1,
    ),
    ResultPending: ProblemKind(
        status=HTTPStatus.GATEWAY_TIMEOUT,
        title="The command is accepted and not carried out yet",
        retry_after_s=1,
    ),
    EmbeddingFailed: ProblemKind(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title="The embedder gave no usable vector",
        retry_after_s=5,
        detail="no usable vector could be had for the question: send the request again",
    ),
    EmbedderMismatch: ProblemKind(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title="The embedder serves another model",
        retry_after_s=60,
        detail="questions cannot be compared with what is stored until the operator has put the "
        "embedder right, which says nothing of what is stored: send the request again later",
    ),
}
"""How errors are answered; a class that is not listed is answered as its nearest listed base."""

_UNEXPECTED: Final = ProblemKind(
    status=HTTPStatus.INTERNAL_SERVER_ERROR, title="The request failed in an unforeseen way"
)


_FIELDS_TOLD_MAX: Final = 40
"""Of how many fields of one request it is told what is wrong with them."""

_REMEDIES: Final[Mapping[int, str]] = {
    HTTPStatus.NOT_FOUND: "there is no such address: the API reference is at /docs",
    HTTPStatus.METHOD_NOT_ALLOWED: "the address does not take this method: use one of those that "
    "the header Allow names",
}

_TEXT: Final = ("is not a text", "send a text, in JSON in quotes")
_INTEGER: Final = ("is not a whole number", "send digits, such as 10")
_NUMBER: Final = ("is not a number", "send a number, such as 0.3")
_BOOLEAN: Final = ("is neither true nor false", "send true or false")
_EXPECTED: Final[Mapping[str, tuple[str, str]]] = {
    "missing": ("is missing", "send it"),
    "string_type": _TEXT,
    "string_unicode": (
        "holds a lone surrogate (half a character)",
        "send whole characters: a text was cut inside one, or decoded wrongly",
    ),
    "int_type": _INTEGER,
    "int_parsing": _INTEGER,
    "int_parsing_size": _INTEGER,
    "int_from_float": _INTEGER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
}
"""By what a validator calls an error: what is wrong with the field, and what to send."""

_UNREADABLE: Final = ("cannot be read", "see what it takes in the API reference at /docs")


def problem(
    status: int,
    title: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **extra: object,
) -> Response:
    """Return a problem detail.

    Args:
        status: the HTTP status.
        title: what it is, the same for every occurrence.
        detail: what is wrong here and what to do about it.
        headers: further headers.
        extra: further members of the body, such as ``code``; they must be JSON.
    """
    body = {"type": "about:blank", "title": title, "status": int(status), "detail": detail, **extra}
    answered = current_request()
    if answered is not None:
        body["request_id"] = answered.request_id
    # Escaped to ASCII, since a name that a caller sent may hold half a character.
    return Response(
        json.dumps(body, ensure_ascii=True).encode(),
        status_code=int(status),
        headers=dict(headers or {}),
        media_type=MEDIA_TYPE,
    )


def kind_of(error: MemledgerError) -> ProblemKind:
    """Return how an error is answered: as its nearest listed class."""
    for base in type(error).__mro__:
        if base in KINDS:
            return KINDS[base]
    return _UNEXPECTED


def problem_of(error: MemledgerError) -> Response:
    """Return the answer to an error that memledger raised on purpose."""
    kind = kind_of(error)
    if kind is _UNEXPECTED:
        # Such a message is for the operator: a caller could do nothing about it.
        _LOGGER.error("request failed", exc_info=error)
        return unexpected_problem()
    extra: dict[str, object] = {"code": _code_of(error)}
    if isinstance(error, InvalidInput):
        extra["errors"] = [_field_error(error.field, error.problem, error.remedy)]
    headers = {}
    retry_after_s = error.retry_after_s if isinstance(error, RateLimited) else kind.retry_after_s
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    if kind.status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    log_withheld([error])
    return problem(kind.status, kind.title, detail_of(error), headers=headers, **extra)


def detail_of(error: MemledgerError) -> str:
    """Return what a caller is told of an error, which names no address of a store."""
    return kind_of(error).detail or str(error)


def log_withheld(errors: Iterable[MemledgerError]) -> None:
    """Log the messages that :func:`detail_of` keeps from callers, each of them once."""
    for message in dict.fromkeys(
        f"{_code_of(error)}: {error}" for error in errors if kind_of(error).detail is not None
    ):
        _LOGGER.warning("%s", message)


def bearer_token(request: Request) -> str:
    """Return the API key that a request carries.

    Raises:
        InvalidApiKey: it carries none.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise InvalidApiKey("no API key: send the header Authorization: Bearer <key>")
    return token.strip()


def install_problem_handlers(app: FastAPI) -> None:
    """Make an application answer every error with a problem detail."""

    async def on_memledger_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, MemledgerError)  # noqa: S101 - registered for this class alone
        return problem_of(error)

    async def on_validation_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class alone
        return _validation_problem(error.errors())

    async def on_http_exception(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
        phrase = HTTPStatus(error.status_code).phrase
        code = phrase.lower().replace(" ", "_")
        detail = str(error.detail)
        if detail == phrase:  # the router says no more than that
            detail = _REMEDIES.get(error.status_code, detail)
        return problem(error.status_code, phrase, detail, headers=error.headers, code=code)

    async def on_unexpected(_request: Request, _error: Exception) -> Response:
        # The server logs it with its traceback: it is raised again after this answer.
        return unexpected_problem()

    app.add_exception_handler(MemledgerError, on_memledger_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_exception)
    app.add_exception_handler(Exception, on_unexpected)


def _code_of(error: MemledgerError) -> str:
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else _WORD_START.sub("_", type(error).__name__).lower()


def unexpected_problem() -> Response:
    """Return the answer to a failure that nobody foresaw: it tells nothing of it."""
    return problem(
        _UNEXPECTED.status,
        _UNEXPECTED.title,
        "try again; if it fails again, the server's log tells why",
        code="internal_error",
    )


def _validation_problem(errors: Sequence[Any]) -> Response:
    fields = [_described(error) for error in errors[:_FIELDS_TOLD_MAX]]
    kind = KINDS[InvalidInput]
    return problem(
        kind.status,
        kind.title,
        "; ".join(f"{field['field']}: {field['problem']}; {field['remedy']}" for field in fields),
        code=InvalidInput.code,
        errors=fields,
    )


def _described(error: Mapping[str, Any]) -> dict[str, str]:
    # Only names and messages: the values are a user's words.
    location = error["loc"]
    name = ".".join(str(part) for part in location[1:]) or str(location[0])
    if error["type"] == "json_invalid":
        return _field_error("body", "is not JSON", "send one JSON object encoded as UTF-8")
    if error["type"] == "extra_forbidden":
        known = error.get("ctx", {}).get("known")
        listed = "" if known is None else f"; known are {known}"
        return _field_error(
            shown_name(name), "is not a known field", f"remove it, or check its spelling{listed}"
        )
    return _field_error(name, *_problem_and_remedy(error))


def _problem_and_remedy(error: Mapping[str, Any]) -> tuple[str, str]:
    bounds = error.get("ctx", {})
    match error["type"]:
        case "greater_than_equal" if "ge" in bounds:
            return "is too small", f"send {bounds['ge']} or more"
        case "less_than_equal" if "le" in bounds:
            return "is too large", f"send {bounds['le']} or less"
        case "enum" | "literal_error" if "expected" in bounds:
            return "is none of its values", f"send {bounds['expected']}"
        case kind:
            return _EXPECTED.get(kind, _UNREADABLE)


def _field_error(field: str, problem_text: str, remedy: str) -> dict[str, str]:
    return {"field": field, "problem": problem_text, "remedy": remedy}
