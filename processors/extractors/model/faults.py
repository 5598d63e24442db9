"""What an answer that is none means: whether it passes, and whose fault it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from processors.extractors.model.hints import pause_asked_s
from processors.extractors.model.provider import ProviderFault, Result
from schemas.proposals import Usage

ADDRESS_SETTING: Final = "MEMLEDGER_EXTRACTOR_BASE_URL"
"""The setting that says where the provider is."""

_NOT_TAKEN: Final = frozenset({400, 413, 422})
"""The request is refused; whether another one would be too, only another one can tell."""

_PASSING: Final = frozenset({408, 409, 425})
_RATE_LIMITED: Final = 429
_OVERLOADED: Final = frozenset({503, 529})
_SERVER_ERROR: Final = 500

_UNPAID_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes with which OpenAI tells, by the status of a rate limit, that the bill is not paid."""

_CODE_CHARACTERS_MAX: Final = 100

ONE_CALL: Final = Usage(calls=1)
"""What a call may have cost whose answer nobody saw."""


def fault_of_status(status: int, *, headers: Mapping[str, str], code: str | None) -> ProviderFault:
    """Return what an HTTP status that is no success means.

    Args:
        status: the status.
        headers: by their names in lower case.
        code: the provider's name for the error, if the body tells one.
    """
    problem = f"HTTP {status}"
    if code and code.isprintable() and len(code) <= _CODE_CHARACTERS_MAX:
        problem += f" ({code})"
    if status == _RATE_LIMITED and code not in _UNPAID_CODES:
        result = Result.RATE_LIMITED
    elif status in _NOT_TAKEN:
        return ProviderFault(result=Result.NOT_TAKEN, problem=problem, passes=False)
    elif status in _OVERLOADED:
        result = Result.OVERLOADED
    elif status in _PASSING or status >= _SERVER_ERROR:
        result = Result.SERVER_ERROR
    else:
        return ProviderFault(
            result=Result.DENIED,
            problem=f"{problem}: check the key, MEMLEDGER_EXTRACTOR_MODEL, "
            f"{ADDRESS_SETTING} and the account",
            passes=False,
        )
    return ProviderFault(
        result=result,
        problem=problem,
        passes=True,
        asked_s=pause_asked_s(headers, now=datetime.now(UTC)),
    )


def timed_out(timeout_s: float) -> ProviderFault:
    """Return the fault of a call that was not answered in time."""
    return ProviderFault(
        result=Result.TIMED_OUT,
        problem=f"no whole answer within {timeout_s:.1f} s",
        passes=True,
        usage=ONE_CALL,
    )


def unreachable(error: BaseException) -> ProviderFault:
    """Return the fault of a call that never arrived."""
    return ProviderFault(
        result=Result.UNREACHABLE,
        problem=f"{type(error).__name__}: not reached: check {ADDRESS_SETTING} and the network",
        passes=True,
    )


def half_sent(problem: str) -> ProviderFault:
    """Return the fault of an answer that broke off, or is none of the interface's."""
    return ProviderFault(result=Result.HALF_SENT, problem=problem, passes=True, usage=ONE_CALL)
