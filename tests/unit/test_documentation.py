"""What the pages say is what the code does: settings, metrics, limits, errors, verbs, links."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import importlib
import json
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import click
import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.metrics import MetricWrapperBase
from starlette.routing import Route

from deploy.cli import main
from deploy.processes.gateway import make_app
from processors import metrics as worker_metrics
from processors.gate import RULES
from projections import projector_metrics
from projections.audit import PartitionAudit
from projections.read_model import ReadModel
from schemas import http
from schemas.errors import InvalidInput, MemledgerError
from schemas.events import MemoryEvent, RejectionReason
from schemas.keyring import Keyring, SubjectKeys
from schemas.log.producer import LogProducer
from schemas.ports import Embedder
from schemas.records import Closing
from schemas.settings import Settings
from schemas.topics import LEDGER_SETTINGS
from tests.support.documents import ROOT, Page, code_of, codes_of
from tests.unit.producers.fakes import InMemoryKeyring, InMemoryLog

PAGES = [
    Page(path) for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md")))
]
README = Page(ROOT / "README.md")
OPERATING = Page(ROOT / "docs" / "operating.md")
API = Page(ROOT / "docs" / "api.md")
PACKAGES = ("schemas", "producers", "processors", "projections", "deploy")

UNSET = "unset"
GOOD_TURN = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}
HEADERS = {"content-type": "application/json", "authorization": "Bearer a-key"}


def source_files() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


# Links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.name)
def test_links_lead_somewhere(page: Page) -> None:
    for link in page.links:
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        target = (page.path.parent / file).resolve() if file else page.path
        assert target.exists(), f"{page.path.name} links to {link}, which is not there"
        if anchor:
            assert anchor in Page(target).anchors, f"{link}: {target.name} has no such heading"


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {(README.path.parent / link.partition("#")[0]).resolve() for link in README.links}
    assert {page.path for page in PAGES} - linked == {README.path}


# Settings


def test_every_setting_is_documented_with_its_default() -> None:
    documented = {code_of(row[0]): row[1] for row in OPERATING.table("Settings")}
    fields = Settings.model_fields
    variables = {
        str(field.validation_alias or f"MEMLEDGER_{name.upper()}"): field
        for name, field in fields.items()
    }
    assert documented.keys() == variables.keys()
    for variable, field in variables.items():
        cell = documented.pop(variable)
        if variable == "MEMLEDGER_HOME":
            assert codes_of(cell) == [
                "/var/lib/memledger",
                "$XDG_DATA_HOME/memledger",
                "~/.local/share/memledger",
            ]
        elif field.default is None:
            assert cell == UNSET, variable
        else:
            assert code_of(cell) == str(field.default), variable


def test_the_default_home_is_the_documented_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MEMLEDGER_HOME", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert Settings().home == Path("/var/lib/memledger")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Settings().home == tmp_path / "memledger"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert Settings().home == Path.home() / ".local" / "share" / "memledger"


def test_every_variable_that_the_code_names_is_documented() -> None:
    named = {
        found
        for path in source_files()
        for found in re.findall(r"\bMEMLEDGER_[A-Z_]+[A-Z]\b", path.read_text(encoding="utf-8"))
    }
    assert named
    assert {variable for variable in named if variable not in OPERATING.text} == set()


def test_variables_on_every_page_are_there() -> None:
    known = {f"MEMLEDGER_{name.upper()}" for name in Settings.model_fields}
    known |= {"MEMLEDGER_KAFKA_JARS"}
    for page in PAGES:
        named = set(re.findall(r"\bMEMLEDGER_[A-Z_]+[A-Z]\b", page.text))
        assert named <= known, page.path.name


# Metrics, limits, audit, topics


def test_every_metric_is_documented_with_its_type_and_labels() -> None:
    documented = {
        code_of(row[0]): (row[1], set(codes_of(row[2])), row[3])
        for row in OPERATING.table("Metrics")
    }
    there = {
        name: found
        for module, process in ((worker_metrics, "worker"), (projector_metrics, "projector"))
        for metric in vars(module).values()
        if isinstance(metric, MetricWrapperBase)
        for name, found in [_described(metric, process)]
    }
    assert documented == there


def _described(metric: MetricWrapperBase, process: str) -> tuple[str, tuple[str, set[str], str]]:
    (family,) = metric.describe()
    name = f"{family.name}_total" if family.type == "counter" else family.name
    return name, (family.type, set(metric._labelnames), process)


def test_every_limit_is_what_the_code_holds() -> None:
    rows = OPERATING.table("Limits")
    assert rows
    for what, value, constant in rows:
        module, _, name = code_of(constant).rpartition(".")
        held = getattr(importlib.import_module(module), name)
        told = re.match(r"[0-9,]+", value)
        assert told is not None, what
        assert int(told[0].replace(",", "")) == held, what


def test_every_count_of_the_audit_is_explained() -> None:
    documented = [code_of(row[0]) for row in OPERATING.table("Reading the audit")]
    counted = [field.name for field in dataclasses.fields(PartitionAudit)]
    counted.remove("partition")
    assert documented == [*counted, "comparison.differences"]


def test_the_settings_of_topics_are_those_that_topics_are_made_with() -> None:
    documented = {code_of(row[0]): code_of(row[1]) for row in OPERATING.table("Your own", number=1)}
    assert documented == dict(LEDGER_SETTINGS)


# Messages


def test_every_message_of_the_troubleshooting_is_one_that_the_code_has() -> None:
    rows = OPERATING.table("Troubleshooting by message")
    assert rows
    missing = [code_of(row[0]) for row in rows if not _is_said(code_of(row[0]))]
    assert missing == []


def _is_said(message: str) -> bool:
    return any(message in said for said in _said())


@cache
def _said() -> frozenset[str]:
    """Return every text of the sources, with three dots for what is filled in."""
    texts: set[str] = set()
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(re.sub(r"%(?:\.\d+)?[sdf]", "...", node.value))
            elif isinstance(node, ast.JoinedStr):
                texts.add("".join(_part(value) for value in node.values))
    return frozenset(texts)


def _part(value: ast.expr) -> str:
    return value.value if isinstance(value, ast.Constant) else "..."  # type: ignore[return-value] # the constant parts of an f-string are texts


# The API


class _Keyring(InMemoryKeyring):
    """Knows one tenant, whose users it has never heard of until they are created."""

    async def authenticate(self, _token: str) -> str:
        return "acme"

    async def subjects_for(
        self, tenant: str, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        return await super().subjects_for(tenant, user_ids, create=True) if create else {}


def gateway() -> FastAPI:
    """Return the gateway's application over stores that hold nothing."""
    model = SimpleNamespace(generation="g1", embedder="e", dimension=1, name="e")
    model.min_similarity = 0.5
    return make_app(
        Settings(),
        keyring=cast("Keyring", _Keyring()),
        read_model=cast("ReadModel", model),
        producer=cast("LogProducer", InMemoryLog()),
        embedder=cast("Embedder", model),
    )


def asked(method: str, address: str, content: bytes) -> httpx.Response:
    async def ask() -> httpx.Response:
        # An exception that no handler turns into an answer fails the test.
        transport = httpx.ASGITransport(gateway(), raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, address, content=content, headers=HEADERS)

    return asyncio.run(ask())


def filled(text: str) -> str:
    """Return a text with ``<3 x a>`` written out as ``aaa``."""

    def repeated(match: re.Match[str]) -> str:
        return match[2].replace("\\ufeff", "\ufeff") * int(match[1])

    return re.sub(r"<(\d+) x ([^>]+)>", repeated, text)


def assert_answered(response: httpx.Response, answer: str) -> None:
    told = re.fullmatch(r"(\d{3})(?: `([a-z_]+)`)?(?: (.+))?", answer)
    assert told is not None, answer
    status, code, fields = told.groups()
    assert response.status_code == int(status), response.text[:500]
    if code is None:
        return
    body = response.json()
    assert body["code"] == code
    assert body["detail"]
    if fields is not None:
        assert [error["field"] for error in body["errors"]] == [fields]
        assert body["errors"][0]["remedy"]


@pytest.mark.parametrize(
    ("sent", "answer"),
    [pytest.param(*row[1:], id=row[0]) for row in API.table("Input at the edges", number=0)],
)
def test_a_turn_at_the_edges_is_answered_as_documented(sent: str, answer: str) -> None:
    told = code_of(sent)
    if told.startswith("without "):
        turn: dict[str, Any] = dict(GOOD_TURN)
        del turn[told.removeprefix("without ")]
    else:
        turn = GOOD_TURN | json.loads(filled(told))
    assert_answered(asked("POST", "/v1/turns", json.dumps(turn).encode()), answer)


@pytest.mark.parametrize(
    ("route", "sent", "answer"),
    [pytest.param(*row[1:], id=row[0]) for row in API.table("Input at the edges", number=1)],
)
def test_a_request_at_the_edges_is_answered_as_documented(
    route: str, sent: str, answer: str
) -> None:
    method, _, address = code_of(route).partition(" ")
    text = filled("".join(codes_of(sent)))
    content = re.sub(r'(?<![\w"])turn(?![\w"])', json.dumps(GOOD_TURN), text)
    assert_answered(asked(method, address, content.encode()), answer)


def test_every_route_has_its_section_and_every_section_its_route() -> None:
    headings = set(re.findall(r"\b(?:GET|POST|PATCH|PUT|DELETE) /[a-z0-9/{}]+", _headings(API)))
    own = {"/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc"}
    routes = {
        f"{method} {path}"
        for path, methods in _routes(gateway())
        if path not in own
        for method in methods
        if method != "HEAD"
    }
    assert headings == routes


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


@pytest.mark.parametrize("heading", ["POST /v1/turns", "POST /v1/recall"])
def test_the_fields_of_a_body_are_documented(heading: str) -> None:
    documented = [code_of(row[0]) for row in API.table(heading)]
    path = heading.removeprefix("POST ")
    content = gateway().openapi()["paths"][path]["post"]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    assert sorted(documented) == sorted(schema["properties"])


def test_the_parameters_of_a_listing_are_documented() -> None:
    documented = [code_of(row[0]) for row in API.table("GET /v1/memories")]
    parameters = gateway().openapi()["paths"]["/v1/memories"]["get"]["parameters"]
    assert sorted(documented) == sorted(parameter["name"] for parameter in parameters)


def test_closings_events_and_reasons_are_documented() -> None:
    tables = API.tables("Records of the log")
    closings, events, reasons = ([code_of(row[0]) for row in table] for table in tables)
    union, _ = get_args(MemoryEvent)
    assert closings == [closing.value for closing in Closing]
    assert events == [model.model_fields["event"].default for model in get_args(union)]
    assert reasons == [reason.value for reason in RejectionReason]
    assert RULES


# The command line


def verbs() -> dict[str, click.Command]:
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: verb for name, verb in found.items() if verb is not None}


def test_every_verb_has_its_section() -> None:
    headings = re.findall(r"^### memledger (\S+)$", API.prose, re.MULTILINE)
    assert headings == list(verbs())


@pytest.mark.parametrize("name", list(verbs()))
def test_every_option_of_a_verb_is_documented_with_its_default(name: str) -> None:
    documented = {code_of(row[0]): row[1] for row in API.table(f"memledger {name}")}
    assert documented == {
        _spelling(parameter): _default(parameter) for parameter in verbs()[name].params
    }


def _spelling(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(click.Context(main))
    return parameter.opts[0]


def _default(parameter: click.Parameter) -> str:
    if parameter.required:
        return "required"
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return "off"
    default = parameter.to_info_dict()["default"]
    return "" if default is None else str(default)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.name)
def test_commands_that_pages_show_are_verbs(page: Page) -> None:
    shown = {
        found
        for block in page.blocks
        for found in re.findall(r"^\s*memledger ([a-z]+)", block.text, re.MULTILINE)
    }
    assert shown <= set(verbs())
