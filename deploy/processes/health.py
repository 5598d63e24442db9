"""``/healthz``, ``/readyz`` and ``/metrics`` of a process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

_UNAVAILABLE: Final = 503


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """What a process says of itself.

    Attributes:
        problem: why it should be restarted, or ``None``: asked by ``/healthz``.
        not_ready: why it cannot do its work now, or ``None``: asked by ``/readyz``.
    """

    problem: Callable[[], str | None]
    not_ready: Callable[[], Awaitable[str | None]]


def health_routes(health: Health) -> list[Route]:
    """Return the three routes."""

    async def healthz(_: Request) -> Response:
        return _answer(health.problem())

    async def readyz(_: Request) -> Response:
        return _answer(health.problem() or await health.not_ready())

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
    ]


def health_app(health: Health) -> Starlette:
    """Return an application with nothing but the three routes."""
    return Starlette(routes=health_routes(health))


def _answer(problem: str | None) -> Response:
    if problem is None:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "unavailable", "reason": problem}, status_code=_UNAVAILABLE)
