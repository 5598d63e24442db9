"""A request whose sender goes away in the middle of its body."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Message


async def post_broken(app: ASGIApp, path: str, headers: Mapping[str, str]) -> int:
    """Send half a body to a route, break off, and return the status of the answer.

    An exception that no handler turns into an answer is raised.
    """
    received: list[Message] = [
        {"type": "http.request", "body": b'{"user_id":', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return received.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("test", 1),
        "server": ("test", 80),
    }
    await app(scope, receive, send)
    status = sent[0]["status"]
    assert isinstance(status, int)
    return status
