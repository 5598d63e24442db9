"""What the command line prints."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import UUID

from click.testing import CliRunner
from pydantic import TypeAdapter

from deploy.cli.benching import bench
from deploy.cli.output import shown
from deploy.cli.reading import WHY_EMPTY
from deploy.home import dump_json
from projections.recall import EmptyReason


def test_a_lone_surrogate_is_escaped_and_reads_back_the_same() -> None:
    printed = dump_json({"turn_id": "x\ud800"})

    printed.encode()
    assert json.loads(printed) == {"turn_id": "x\ud800"}


def test_what_a_terminal_would_obey_is_replaced_and_letters_stay() -> None:
    assert shown("a\x1b[2J\u202eb\nc") == "a\ufffd[2J\ufffdb c"
    family = "\U0001f468\u200d\U0001f469"
    assert shown(family) == family


def test_times_are_printed_as_the_http_api_writes_them() -> None:
    at = datetime(2026, 6, 3, 14, 45, tzinfo=UTC)
    later = at.replace(microsecond=298853)
    printed = json.loads(dump_json({"times": [at, later], "id": UUID(int=1)}))

    assert printed["times"] == ["2026-06-03T14:45:00Z", "2026-06-03T14:45:00.298853Z"]
    assert printed["times"] == TypeAdapter(list[datetime]).dump_python([at, later], mode="json")
    assert printed["id"] == str(UUID(int=1))


def test_the_help_of_bench_keeps_its_table_and_shows_no_escape() -> None:
    said = CliRunner().invoke(bench, ["--help"]).output

    assert "\b" not in said
    assert "\\b" not in said
    assert "\n  pipeline    turns a second" in said


def test_every_reason_of_an_empty_recall_is_told_in_a_sentence() -> None:
    assert WHY_EMPTY.keys() == set(EmptyReason)
