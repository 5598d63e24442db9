"""How long a provider asks to be left alone, as its headers tell."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_ANTHROPIC_LIMITS: Final = ("requests", "tokens", "input-tokens", "output-tokens")
_OPENAI_LIMITS: Final = ("requests", "tokens")
_DURATION: Final = re.compile(
    r"(?:(?P<h>\d{1,6})h)?(?:(?P<m>\d{1,6})m(?!s))?(?:(?P<s>\d{1,6}(?:\.\d{1,9})?)s)?"
    r"(?:(?P<ms>\d{1,9}(?:\.\d{1,9})?)ms)?",
    re.ASCII,
)


def pause_asked_s(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the pause that the headers of an answer ask for, in seconds; ``None`` without one.

    ``retry-after-ms`` and ``retry-after`` (seconds or a date, RFC 9110) come first; without them
    the latest reset of a limit of which nothing remains counts: Anthropic gives its time, OpenAI
    how long it takes.

    Args:
        headers: by their names in lower case.
        now: the time, aware.
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    told = headers.get("retry-after")
    if told is not None:
        seconds = _seconds(told)
        return _until(_http_date(told), now) if seconds is None else seconds
    resets = [
        *(
            _until(_iso_date(headers.get(f"anthropic-ratelimit-{limit}-reset")), now)
            for limit in _ANTHROPIC_LIMITS
            if headers.get(f"anthropic-ratelimit-{limit}-remaining") == "0"
        ),
        *(
            _duration_s(headers.get(f"x-ratelimit-reset-{limit}"))
            for limit in _OPENAI_LIMITS
            if headers.get(f"x-ratelimit-remaining-{limit}") == "0"
        ),
    ]
    return max((reset for reset in resets if reset is not None), default=None)


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _http_date(text: str) -> datetime | None:
    try:
        return _aware(parsedate_to_datetime(text))
    except ValueError:
        return None


def _iso_date(text: str | None) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(text)) if text is not None else None
    except ValueError:
        return None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _until(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _duration_s(text: str | None) -> float | None:
    """Return a duration such as ``6m0s`` or ``20ms`` in seconds."""
    found = _DURATION.fullmatch(text) if text else None
    if found is None:
        return None
    parts = {unit: float(number) for unit, number in found.groupdict(default="0").items()}
    return parts["h"] * 3600 + parts["m"] * 60 + parts["s"] + parts["ms"] / 1000
