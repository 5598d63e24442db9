"""A small server that speaks the embeddings interface on a real socket, well or badly."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

DIMENSION = 4

Answer = Callable[[dict[str, Any]], Response]


@dataclass(kw_only=True)
class EmbeddingsServer:
    """What the server does, and what it was asked.

    Attributes:
        answers: what to answer, one for each request.
        standing: what to answer every request with afterwards.
        bodies: the bodies of the requests.
        authorizations: their ``Authorization`` headers.
        base_url: where it listens.
    """

    answers: list[Answer] = field(default_factory=list)
    standing: Answer = field(default_factory=lambda: well)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    base_url: str = ""

    async def handle(self, request: Request) -> Response:
        """Answer one request."""
        body = await request.json()
        self.bodies.append(body)
        self.authorizations.append(request.headers.get("authorization"))
        answer = self.answers.pop(0) if self.answers else self.standing
        return answer(body)


def well(body: dict[str, Any]) -> Response:
    """Answer with one vector a text, its length in the first component, in reverse order."""
    items = [
        {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0, 0.0, 0.0]}
        for index, text in enumerate(body["input"])
    ]
    return with_items(list(reversed(items)))


def with_items(items: object) -> Response:
    """Answer with these items; NaN is written as JSON libraries do that allow it."""
    return Response(json.dumps({"object": "list", "data": items}), media_type="application/json")


def with_vectors(
    vector_of: Callable[[str], list[float] | None], *, model: str | None = None
) -> Answer:
    """Answer with the vector that a function gives each text, as a model of that name."""

    def answer(body: dict[str, Any]) -> Response:
        items = [
            {"object": "embedding", "index": index, "embedding": vector_of(text)}
            for index, text in enumerate(body["input"])
        ]
        named = {} if model is None else {"model": model}
        return Response(json.dumps({"data": items, **named}), media_type="application/json")

    return answer


def status(code: int, headers: dict[str, str] | None = None, body: str = "{}") -> Answer:
    """Answer with an HTTP status."""
    return lambda _body: Response(body, status_code=code, headers=headers)


@asynccontextmanager
async def embeddings_server() -> AsyncIterator[EmbeddingsServer]:
    """Run the server for the length of a block."""
    server = EmbeddingsServer()
    app = Starlette(routes=[Route("/v1/embeddings", server.handle, methods=["POST"])])
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    listener.listen()
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    task = asyncio.create_task(running.serve(sockets=[listener]))
    try:
        yield server
    finally:
        running.should_exit = True
        await task
        listener.close()
