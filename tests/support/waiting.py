"""Waiting for a condition, with a deadline and without a fixed sleep."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Result = TypeVar("Result")

_POLL_S = 0.02


def wait_until(
    condition: Callable[[], Result | None],
    *,
    what: str,
    timeout_s: float = 30.0,
    poll_s: float = _POLL_S,
) -> Result:
    """Return the first truthy value of ``condition``, asked every ``poll_s`` seconds.

    Raises:
        AssertionError: it stayed falsy for ``timeout_s``; names ``what`` and the last value.
    """
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s:.0f} s for {what}; last value: {value!r}")
        pause.wait(poll_s)


async def eventually(
    condition: Callable[[], Awaitable[Result | None]], *, what: str, timeout_s: float = 30.0
) -> Result:
    """Return the first truthy value of an asynchronous ``condition``; see :func:`wait_until`."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = await condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s:.0f} s for {what}; last value: {value!r}")
        await asyncio.sleep(_POLL_S)
