"""A gateway that holds memories by tenant and user, and answers as the real one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from schemas.errors import InvalidApiKey, MemledgerError
from schemas.http import bearer_token, install_problem_handlers, problem


@dataclass
class FakeGateway:
    """The routes that the tools ask.

    Attributes:
        tenant_of: tells the tenant of a bearer's token, or ``None``.
        held: the memories of each tenant's user.
        asked: the tenant, the user and the address of every request.
        failure: raised by every route while it is set.
        paused: whether every user has paused memory.
    """

    tenant_of: Callable[[str], str | None]
    held: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    failure: MemledgerError | Exception | None = None
    paused: bool = False

    def note(self, tenant: str, user: str, content: str) -> str:
        """Hold a memory and return its id."""
        memory_id = str(uuid4())
        self.held.setdefault((tenant, user), []).append(
            {
                "memory_id": memory_id,
                "content": content,
                "about": "user",
                "kind": "semantic",
                "valid_from": "2026-03-01T12:00:00Z",
            }
        )
        return memory_id

    def app(self) -> FastAPI:
        """Return the application."""
        app = FastAPI()
        install_problem_handlers(app)

        def asked(request: Request, user: str) -> list[dict[str, Any]]:
            tenant = self.tenant_of(bearer_token(request))
            if tenant is None:
                raise InvalidApiKey("no such key")
            self.asked.append((tenant, user, f"{request.method} {request.url.path}"))
            if self.failure is not None:
                raise self.failure
            return self.held.setdefault((tenant, user), [])

        self._tell_pauses(app, asked)

        @app.post("/v1/recall")
        async def recall(request: Request) -> Response:
            body = await request.json()
            held = asked(request, body["user_id"])
            if self.paused:
                return JSONResponse({"memories": [], "reason": "paused"})
            found = [it for it in held if body["query"].lower() in it["content"].lower()]
            reason = None if found else "none_above_threshold" if held else "none_stored"
            return JSONResponse({"memories": found[: body["limit"]], "reason": reason})

        @app.get("/v1/memories")
        async def memories(request: Request) -> Response:
            query = request.query_params
            held = asked(request, query["user_id"])
            start, limit = int(query.get("cursor", "0")), int(query["limit"])
            following = str(start + limit) if len(held) > start + limit else None
            page = held[start : start + limit]
            return JSONResponse({"memories": page, "next_cursor": following})

        @app.post("/v1/memories")
        async def remember(request: Request) -> Response:
            body = await request.json()
            asked(request, body["user_id"])
            assert body["source"] == "person"
            tenant = self.asked[-1][0]
            self.note(tenant, body["user_id"], body["content"])
            return JSONResponse({"turn_id": str(uuid4()), "position": "0:1"}, status_code=202)

        @app.delete("/v1/memories/{memory_id}")
        async def forget(memory_id: str, request: Request) -> Response:
            held = asked(request, request.query_params["user_id"])
            left = [it for it in held if it["memory_id"] != memory_id]
            if len(left) == len(held):
                return problem(404, "No such memory", "there is none", code="unknown_memory")
            held[:] = left
            return JSONResponse({"turn_id": str(uuid4()), "position": "0:2"}, status_code=202)

        return app

    def _tell_pauses(self, app: FastAPI, asked: Callable[[Request, str], object]) -> None:
        @app.get("/v1/pause")
        async def pause(request: Request) -> Response:
            asked(request, request.query_params["user_id"])
            return JSONResponse({"paused": self.paused})
