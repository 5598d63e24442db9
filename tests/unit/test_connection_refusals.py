"""What uvicorn refuses by itself is a problem detail with an id like every other refusal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from deploy.processes import serving as serving_module
from deploy.processes.connections import HEAD_BYTES_MAX
from deploy.processes.edge import RequestEdge
from deploy.processes.serving import serving
from schemas.http import MEDIA_TYPE


async def _echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def _answers(*sent: bytes) -> tuple[int, Mapping[str, str], bytes]:
    app = Starlette(routes=[Route("/", _echo, methods=["GET", "POST"])])
    app.add_middleware(RequestEdge)
    async with serving(app, host="127.0.0.1", port=0, variable="MEMLEDGER_GATEWAY_PORT") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for part in sent:
            writer.write(part)
            await asyncio.sleep(0)  # the server, in the same loop, may read it by itself
        answered = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        await writer.wait_closed()
    head, _, body = answered.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in lines}
    return int(status.split()[1]), headers, body


def _assert_problem(answer: tuple[int, Mapping[str, str], bytes], status: int, code: str) -> None:
    found, headers, body = answer
    assert (found, headers["content-type"], headers["connection"]) == (status, MEDIA_TYPE, "close")
    told = json.loads(body)
    assert (told["status"], told["code"]) == (status, code)
    assert told["request_id"] == headers["x-request-id"]


@pytest.mark.parametrize(
    "sent",
    [
        b"hello\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    ],
    ids=["no request", "no host", "two hosts", "two lengths", "no length"],
)
def test_what_is_no_request_is_a_problem_that_repeats_nothing(sent: bytes) -> None:
    answer = asyncio.run(_answers(sent))
    _assert_problem(answer, 400, "bad_request")
    assert b"hello" not in answer[2]


def test_a_head_that_does_not_end_is_refused() -> None:
    head = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * HEAD_BYTES_MAX
    _assert_problem(asyncio.run(_answers(head)), 400, "bad_request")


def test_a_head_up_to_the_bound_is_read_however_it_comes() -> None:
    name = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: "
    pieces = [b"a" * 1_000] * (HEAD_BYTES_MAX // 1_000 - 1)
    status, _, _ = asyncio.run(_answers(name, *pieces, b"\r\n\r\n"))
    assert status == 200


def test_a_length_told_in_two_ways_is_refused_and_the_connection_closed() -> None:
    """Else what one reader takes for the body is the next request to the other."""
    sent = (
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"
    )
    answer = asyncio.run(_answers(sent))
    _assert_problem(answer, 400, "bad_request")
    assert b"HTTP/1.1" not in answer[2]  # there is no second answer


def test_more_connections_than_there_are_is_a_problem_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_module, "CONNECTIONS_MAX", 1)
    answer = asyncio.run(_answers(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
    _assert_problem(answer, 503, "gateway_busy")
    assert answer[1]["retry-after"] == "1"
