"""What docs/api.md says of the HTTP API and of records is what the code does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import cast, get_args
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Route

from deploy.addresses import Addresses
from deploy.processes.gateway import make_app
from projections.read_model import ReadModel
from schemas import http
from schemas.errors import InvalidInput, MemledgerError, ReadModelUnavailable
from schemas.events import MemoryEvent, RejectionReason
from schemas.keyring import Keyring, SubjectKeys
from schemas.log.producer import LogProducer
from schemas.ports import Embedder
from schemas.records import Closing
from schemas.settings import Settings
from tests.support.documents import ROOT, Page, code_of, codes_of
from tests.unit.producers.fakes import InMemoryKeyring, InMemoryLog

API = Page(ROOT / "docs" / "api.md")
HEADERS = {"content-type": "application/json", "authorization": "Bearer a-key"}


class _Keyring(InMemoryKeyring):
    """Knows one tenant, whose users it has never heard of until they are created."""

    async def authenticate(self, _token: str) -> str:
        return "acme"

    async def user_ids(self, _subjects: Collection[UUID]) -> dict[UUID, str]:
        return {}

    async def subjects_for(
        self, tenant: str, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        return await super().subjects_for(tenant, user_ids, create=True) if create else {}


async def _no_database() -> None:
    raise ReadModelUnavailable("there is none")


def gateway(**settings: int | Path) -> FastAPI:
    """Return the gateway's application over stores that hold nothing."""
    model = SimpleNamespace(generation="g1", embedder="e", dimension=1, name="e")
    model.min_similarity = 0.5
    model.ping = _no_database
    return make_app(
        Settings(**settings),  # type: ignore[arg-type] # checked by pydantic
        Addresses(database_url="", keyring_url="", kafka_bootstrap=""),
        keyring=cast("Keyring", _Keyring()),
        read_model=cast("ReadModel", model),
        producer=cast("LogProducer", InMemoryLog()),
        embedder=cast("Embedder", model),
    )


@cache
def _described() -> FastAPI:
    """Return the application that every test here looks at: to make one takes half a second."""
    return gateway()


def asked(
    method: str, address: str, content: bytes, headers: Mapping[str, str] = HEADERS
) -> httpx.Response:
    async def ask() -> httpx.Response:
        # An exception that no handler turns into an answer fails the test.
        transport = httpx.ASGITransport(_described(), raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, address, content=content, headers=headers)

    return asyncio.run(ask())


def test_every_route_has_its_section_and_every_section_its_route() -> None:
    headings = set(re.findall(r"\b(?:GET|POST|PATCH|PUT|DELETE) /[a-z0-9/{}_-]+", _headings(API)))
    own = {"/openapi.json", "/docs"}
    routes = {
        f"{method} {path}"
        for path, methods in _routes(_described())
        if path not in own
        for method in methods
        if method != "HEAD"
    }
    assert headings == routes


def test_the_routes_that_need_no_key_are_those_that_the_page_names() -> None:
    """Every route is asked without a key; health and the API's description answer, none else."""
    (rule,) = re.findall(
        r"- `Authorization: Bearer <key>`, but for (.+?) which", API.text, re.DOTALL
    )
    keyless = {
        path
        for path, methods in _routes(_described())
        for method in methods - {"HEAD"}
        if asked(method, path, b"{}", {"content-type": "application/json"}).status_code != 401
    }
    assert set(codes_of(rule)) == keyless


def _headings(page: Page) -> str:
    return "\n".join(line for line in page.prose.splitlines() if line.startswith("#"))


def _routes(app: FastAPI) -> list[tuple[str, set[str]]]:
    documented = [
        (path, {method.upper() for method in methods})
        for path, methods in app.openapi()["paths"].items()
    ]
    plain = [
        (route.path, set(route.methods or ())) for route in app.routes if isinstance(route, Route)
    ]
    return documented + plain


def test_every_error_is_documented_with_its_status_and_pause() -> None:
    documented = {code_of(row[0]): (int(row[1]), row[2]) for row in API.table("Errors")}
    answered = {}
    for kind in http.KINDS:
        response = http.problem_of(_raised(kind))
        code = json.loads(bytes(response.body))["code"]
        answered[code] = (response.status_code, response.headers.get("retry-after", ""))
    assert documented == answered


def _raised(kind: type[MemledgerError]) -> MemledgerError:
    if issubclass(kind, InvalidInput):
        return kind(field="f", problem="p", remedy="r")
    return kind("it failed")


@pytest.mark.parametrize(
    "heading",
    [
        "POST /v1/turns",
        "POST /v1/recall",
        "POST /v1/memories",
        "PATCH /v1/memories/{memory_id}",
        "POST /v1/flags/{flag_id}",
        "POST /v1/conversations/end",
        "POST /v1/user-tokens",
        "PUT /v1/pause",
        "PUT /v1/me/pause",
        "POST /v1/me/search",
        "PATCH /v1/me/memories/{memory_id}",
    ],
)
def test_the_fields_of_a_body_are_documented(heading: str) -> None:
    rows = API.table(heading)
    documented = [code_of(row[0]) for row in rows]
    method, path = heading.split()
    content = _described().openapi()["paths"][path][method.lower()]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    assert sorted(documented) == sorted(schema["properties"])
    required = {code_of(row[0]) for row in rows if "required" in row[1]}
    assert required == set(schema.get("required", ()))


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories",
        "/v1/flags",
        "/v1/files",
        "/v1/files/history",
        "/v1/files/content",
        "/v1/turns/{turn_id}",
        "/v1/recalls/{recall_id}",
        "/v1/profile",
        "/v1/conversations/summary",
        "/v1/pause",
        "/v1/export",
        "/v1/me/memories",
        "/v1/me/memories/{memory_id}/history",
    ],
)
def test_the_parameters_of_a_listing_are_documented(path: str) -> None:
    documented = [code_of(row[0]) for row in API.table(f"GET {path}")]
    parameters = _described().openapi()["paths"][path]["get"]["parameters"]
    assert sorted(documented) == sorted(parameter["name"] for parameter in parameters)


def test_closings_events_and_reasons_are_documented() -> None:
    tables = API.tables("Records of the log")
    closings, events, reasons = ([code_of(row[0]) for row in table] for table in tables)
    union, _ = get_args(MemoryEvent)
    assert closings == [closing.value for closing in Closing]
    assert events == [model.model_fields["event"].default for model in get_args(union)]
    assert reasons == [reason.value for reason in RejectionReason]
