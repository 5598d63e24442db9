"""The server: one of each provider's routes, with scripted answers."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.support.model_fake.asked import Asked
from tests.support.model_fake.chat import Interface
from tests.support.model_fake.replies import (
    CACHED_TOKENS,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    Reply,
    nothing,
)
from tests.support.waiting import wait_until

_STOPS = {
    "anthropic": {"done": "end_turn", "cut_off": "max_tokens", "refused": "refusal"},
    "openai": {"done": "stop", "cut_off": "length", "refused": "stop"},
}


@dataclass(kw_only=True)
class ModelFake:
    """What the server answers, and what it was asked.

    Attributes:
        replies: what to answer, one for each request, whatever it asks.
        by_text: by words of the user's, what to answer, one by one; the last one stays.
        standing: what to answer to all else.
        asked: the requests, in order.
        problems: what providers would have refused requests for.
        origin: where it listens.
        keeps_connections: whether several requests may come over one connection, as in service.
    """

    replies: list[Reply] = field(default_factory=list)
    by_text: dict[str, list[Reply]] = field(default_factory=dict)
    standing: Callable[[Asked], Reply] = field(default_factory=lambda: lambda _: nothing())
    asked: list[Asked] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    origin: str = ""
    keeps_connections: bool = False

    def base_url(self, interface: Interface) -> str:
        """Return what a client is to be given as the root of an interface."""
        return self.origin if interface == "anthropic" else f"{self.origin}/v1"

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/chat/completions", self._completions, methods=["POST"]),
            ]
        )

    async def _messages(self, request: Request) -> Response:
        return await self._handle(request, "anthropic")

    async def _completions(self, request: Request) -> Response:
        return await self._handle(request, "openai")

    async def _handle(self, request: Request, interface: Interface) -> Response:
        asked = Asked(
            interface=interface,
            headers={name.lower(): value for name, value in request.headers.items()},
            body=await request.json(),
            raw=await request.body(),
        )
        self.asked.append(asked)
        problems = asked.problems()
        self.problems += problems
        reply = Reply(status=400, code="; ".join(problems)) if problems else self._reply(asked)
        await asyncio.sleep(reply.delay_s)
        # Else each in a connection of its own: a client may live in another loop by the next one.
        closing = {} if self.keeps_connections else {"Connection": "close"}
        headers = {**closing, **reply.headers}
        body = _body(asked, reply)
        return _Sent(
            body,
            status_code=reply.status,
            headers=headers,
            media_type="application/json",
            reply=reply,
        )

    def _reply(self, asked: Asked) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        for words, replies in self.by_text.items():
            if any(words in text for text in asked.user_texts):
                return replies.pop(0) if len(replies) > 1 else replies[0]
        return self.standing(asked)


class _Sent(Response):
    """A response whose body may come byte by byte, or break off in the middle."""

    def __init__(self, content: str, *, reply: Reply, **arguments: Any) -> None:
        super().__init__(content, **arguments)
        self._reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._reply.sent >= 1 and not self._reply.drip_s:
            await super().__call__(scope, receive, send)
            return
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        body = bytes(self.body)
        part = body[: int(len(body) * self._reply.sent)]
        pieces = [bytes([byte]) for byte in part] if self._reply.drip_s else [part]
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(self._reply.drip_s)
        if part == body:
            await send({"type": "http.response.body", "body": b""})
        # Else the server ends the connection: the application returns before it was done.


def _body(asked: Asked, reply: Reply) -> str:
    if reply.body is not None:
        return reply.body
    if reply.status != 200:
        error = {"type": reply.code, "code": reply.code, "message": "the user said: SECRET WORDS"}
        return json.dumps({"type": "error", "error": error})
    stop = _STOPS[asked.interface][reply.stop]
    if asked.interface == "anthropic":
        return json.dumps(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": asked.body["model"],
                "content": [{"type": "text", "text": reply.text}],
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": {
                    "input_tokens": INPUT_TOKENS - CACHED_TOKENS,
                    "output_tokens": OUTPUT_TOKENS,
                    "cache_read_input_tokens": CACHED_TOKENS,
                    "cache_creation_input_tokens": 0,
                },
            }
        )
    refusal = reply.text if reply.stop == "refused" else None
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": asked.body["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": stop,
                    "message": {
                        "role": "assistant",
                        "content": None if refusal else reply.text,
                        "refusal": refusal,
                    },
                }
            ],
            "usage": {
                "prompt_tokens": INPUT_TOKENS,
                "completion_tokens": OUTPUT_TOKENS,
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
                "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS},
            },
        }
    )


def _listening(fake: ModelFake) -> tuple[uvicorn.Server, socket.socket]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # A burst of hundreds of connections must not be dropped in front of the server.
    listener.listen(2_048)
    fake.origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    # It would tell of every connection that is broken off on purpose.
    config = uvicorn.Config(fake.app(), log_level="critical", lifespan="off")
    return uvicorn.Server(config), listener


@asynccontextmanager
async def model_fake() -> AsyncIterator[ModelFake]:
    """Run the server in the loop of a test for the length of a block."""
    fake = ModelFake()
    server, listener = _listening(fake)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield fake
    finally:
        server.should_exit = True
        # What is answered slowly is not waited for.
        server.force_exit = True
        await task
        listener.close()


@contextmanager
def model_fake_in_thread() -> Iterator[ModelFake]:
    """Run the server in a thread, for clients in other loops and processes."""
    fake = ModelFake()
    server, listener = _listening(fake)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started, what="the fake to listen")
    try:
        yield fake
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(10)
        listener.close()
