"""A body is read within its own bounds and within the room that all bodies share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

from schemas.errors import GatewayBusy, InputTooLarge
from schemas.http_body import JsonBodies

JSON = {"content-type": "application/json"}


def _bodies(**changed: float) -> JsonBodies:
    bounds = {"bytes_max": 1_000, "held_bytes_max": 1_500, "values_max": 100, "seconds_max": 30}
    told = bounds | changed
    return JsonBodies(
        bytes_max=int(told["bytes_max"]),
        held_bytes_max=int(told["held_bytes_max"]),
        values_max=int(told["values_max"]),
        seconds_max=told["seconds_max"],
        remedy="send less",
    )


def _request(*chunks: bytes, headers: Mapping[str, str] = JSON, endless: bool = False) -> Request:
    """Return a request whose body comes in chunks; an endless one then says nothing more."""

    async def messages() -> AsyncIterator[Message]:
        for chunk in chunks:
            yield {"type": "http.request", "body": chunk, "more_body": True}
        if endless:
            await asyncio.Event().wait()
        yield {"type": "http.request", "body": b"", "more_body": False}

    sent = messages()

    async def receive() -> Message:
        return await anext(sent)

    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "headers": encoded}, receive)


async def _read(bodies: JsonBodies, request: Request) -> bytes:
    async with bodies.read(request) as body:
        return bytes(body)


def test_a_body_is_its_chunks_put_together() -> None:
    assert asyncio.run(_read(_bodies(), _request(b'{"a"', b":", b"1}"))) == b'{"a":1}'


def test_what_is_held_is_counted_and_given_back_however_it_ends() -> None:
    async def act() -> None:
        bodies = _bodies()
        async with bodies.read(_request(b"a" * 400, b"b" * 300)):
            assert bodies.held_bytes == 700
            async with bodies.read(_request(b"c" * 800)):
                assert bodies.held_bytes == 1_500
                with pytest.raises(GatewayBusy, match="send the request again"):
                    await _read(bodies, _request(b"d"))
            assert bodies.held_bytes == 700
            with pytest.raises(InputTooLarge):
                await _read(bodies, _request(b"e" * 500, b"e" * 501))
            with pytest.raises(HTTPException):
                await _read(bodies, _request(b"f", headers={}))
            with pytest.raises(ZeroDivisionError):
                async with bodies.read(_request(b"g")):
                    raise ZeroDivisionError
            assert bodies.held_bytes == 700
        assert bodies.held_bytes == 0

    asyncio.run(act())


def test_who_goes_away_in_the_middle_holds_nothing() -> None:
    async def act() -> None:
        bodies = _bodies()
        reading = asyncio.create_task(_read(bodies, _request(b"a" * 10, endless=True)))
        await asyncio.sleep(0)
        assert bodies.held_bytes == 10
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert bodies.held_bytes == 0

    asyncio.run(act())


def test_what_was_only_announced_keeps_nobody_out() -> None:
    async def act() -> None:
        bodies = _bodies()
        slow = _request(endless=True, headers={**JSON, "content-length": "1000"})
        reading = asyncio.create_task(_read(bodies, slow))
        await asyncio.sleep(0)
        assert len(await _read(bodies, _request(b"a" * 1_000))) == 1_000
        reading.cancel()
        await asyncio.wait([reading])

    asyncio.run(act())


def test_a_body_that_never_ends_is_given_up() -> None:
    with pytest.raises(HTTPException) as refused:
        asyncio.run(_read(_bodies(seconds_max=0.01), _request(b"{", endless=True)))
    assert refused.value.status_code == 408
    assert "did not arrive within 0.01 s: send less" in refused.value.detail
    assert refused.value.headers == {"Connection": "close"}


def test_values_are_bounded_whatever_their_bytes() -> None:
    fits = b"[" + b"1," * 99 + b"1]"
    assert asyncio.run(_read(_bodies(), _request(fits))) == fits
    with pytest.raises(InputTooLarge, match="holds more than 100 values; send less, without"):
        asyncio.run(_read(_bodies(), _request(b"[" + b"1," * 50, b"1," * 50 + b"1]")))
    assert asyncio.run(_read(_bodies(), _request(b'["' + b"," * 500 + b'"]')))


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON ; charset=UTF-8",
        'application/json;charset="utf-8"',
        "application/json; charset=us-ascii",
        "application/json;;",
    ],
)
def test_json_in_utf_8_is_read(content_type: str) -> None:
    request = _request(b"1", headers={"content-type": content_type, "content-encoding": "identity"})
    assert asyncio.run(_read(_bodies(), request)) == b"1"


@pytest.mark.parametrize(
    ("content_type", "problem"),
    [
        ("", "the content type is not application/json"),
        ("application", "the content type is not application/json"),
        ("text/json", "the content type is not application/json"),
        ("application/json, text/plain", "the content type is not application/json"),
        ("application/json; charset=latin-1", "the character set is not UTF-8"),
        ("application/json; charset=utf-16", "the character set is not UTF-8"),
        ("application/json; charset=\xff", "the character set is not UTF-8"),
        ("application/json; charset*=utf-8''utf-8", "the character set is not UTF-8"),
        (
            "application/json; charset*=utf-99''utf-8; charset*1*=x",
            "the character set is not UTF-8",
        ),
    ],
)
def test_anything_else_is_415_with_what_to_send(content_type: str, problem: str) -> None:
    with pytest.raises(HTTPException, match=problem) as refused:
        asyncio.run(_read(_bodies(), _request(b"1", headers={"content-type": content_type})))
    assert refused.value.status_code == 415


@pytest.mark.parametrize("name", ["content-type", "content-encoding"])
def test_a_header_that_is_there_twice_counts_whole(name: str) -> None:
    request = _request(b"1", headers={**JSON, "content-encoding": "identity"})
    request.scope["headers"].append((name.encode(), b"gzip"))
    with pytest.raises(HTTPException) as refused:
        asyncio.run(_read(_bodies(), request))
    assert refused.value.status_code == 415
