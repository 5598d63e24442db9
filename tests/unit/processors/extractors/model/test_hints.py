"""The pause that a provider asks for, in every form in which one does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from processors.extractors.model.hints import pause_asked_s

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:20 GMT"}, 20),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:09Z",
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-03-01T12:00:30Z",
            },
            30,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "12",
                "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:09Z",
            },
            None,
        ),
        (
            {
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "tomorrow",
            },
            None,
        ),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "x"}, None),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "1s"}, None),
    ],
)
def test_the_pause_is_read_from_the_headers(
    headers: dict[str, str], expected: float | None
) -> None:
    found = pause_asked_s(headers, now=NOW)

    assert found == (None if expected is None else pytest.approx(expected))
