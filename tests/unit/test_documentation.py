"""What the pages say is what the code does: settings, metrics, limits, errors, verbs, links."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
from functools import cache
from pathlib import Path

import click
import pytest
from prometheus_client.metrics import MetricWrapperBase

from deploy.cli import main
from deploy.processes import gateway_metrics
from processors import budget_metrics, model_metrics
from processors import metrics as worker_metrics
from producers import metrics as producer_metrics
from projections import projector_metrics, recall_log_metrics, vector_metrics
from projections.audit_tally import PartitionAudit
from schemas.settings import Settings
from schemas.topics import LEDGER_SETTINGS
from tests.support.documents import ROOT, Page, code_of, codes_of

PAGES = [
    Page(path) for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md")))
]
README = Page(ROOT / "README.md")
OPERATING = Page(ROOT / "docs" / "operating.md")
API = Page(ROOT / "docs" / "api.md")
PACKAGES = ("schemas", "producers", "processors", "projections", "deploy")

UNSET = "unset"


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
    known |= {"MEMLEDGER_API_KEY", "MEMLEDGER_KAFKA_JARS", "MEMLEDGER_TEST_BROKER"}
    known |= {"MEMLEDGER_TEST_BROWSER", "MEMLEDGER_TEST_SCREENSHOTS", "MEMLEDGER_TEST_TYPESCRIPT"}
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
        for module, process in (
            (producer_metrics, "gateway"),
            (gateway_metrics, "gateway"),
            (recall_log_metrics, "gateway"),
            (worker_metrics, "worker"),
            (model_metrics, "worker"),
            (budget_metrics, "worker"),
            (vector_metrics, "worker"),
            (projector_metrics, "projector"),
        )
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
    compared = ["embeddings_waiting", "spending_differs", "differences"]
    assert documented == [*counted, *(f"comparison.{name}" for name in compared)]


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


# The command line


def verbs() -> dict[str, click.Command]:
    context = click.Context(main)
    found: dict[str, click.Command] = {}
    for name in main.list_commands(context):
        verb = main.get_command(context, name)
        if isinstance(verb, click.Group):
            if verb.invoke_without_command:
                found[name] = verb
            found |= {f"{name} {under}": command for under, command in verb.commands.items()}
        elif verb is not None:
            found[name] = verb
    return found


def test_every_verb_has_its_section() -> None:
    headings = re.findall(r"^### memledger (.+)$", API.prose, re.MULTILINE)
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
        for found in re.findall(r"^\s*memledger ([a-z][a-z-]*)", block.text, re.MULTILINE)
    }
    assert shown <= {name.split()[0] for name in verbs()}
