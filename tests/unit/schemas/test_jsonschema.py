"""The checked-in JSON Schemas are those of today's records."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from schemas import jsonschema
from schemas.registry import SCHEMAS, Schema

NEWEST = [jsonschema.file_name(schema.name, schema.version) for schema in SCHEMAS]
OLD = [
    jsonschema.file_name(schema.name, version)
    for schema in SCHEMAS
    for version in range(1, schema.version)
]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory whose files are right, those of old versions included, which nothing writes."""
    written = jsonschema.write(tmp_path / "json")
    for name in OLD:
        shutil.copy(jsonschema.DIRECTORY / name, tmp_path / "json" / name)
    assert [path.name for path in written] == NEWEST
    return tmp_path / "json"


def test_the_checked_in_files_are_those_of_today() -> None:
    assert jsonschema.problems() == []


def test_writing_again_changes_nothing(directory: Path) -> None:
    assert jsonschema.write(directory) == []
    assert jsonschema.problems(directory) == []


def test_a_file_that_differs_is_told_with_the_command_and_written_anew(directory: Path) -> None:
    path = directory / NEWEST[0]
    path.write_text(path.read_text().replace("user_text", "text"))

    [problem] = jsonschema.problems(directory)

    assert NEWEST[0] in problem
    assert "python -m schemas.jsonschema" in problem
    assert jsonschema.write(directory) == [path]
    assert jsonschema.problems(directory) == []


def test_a_file_that_is_missing_is_told(directory: Path) -> None:
    (directory / NEWEST[0]).unlink()

    assert jsonschema.problems(directory) == [
        f"{NEWEST[0]} is missing: run `python -m schemas.jsonschema`"
    ]
    assert len(jsonschema.problems(directory / "absent")) == len(NEWEST) + len(OLD)


@pytest.mark.parametrize("name", ["turn-999.json", "thing-1.json", "notes.txt"])
def test_a_file_of_no_version_is_told(directory: Path, name: str) -> None:
    (directory / name).write_text("{}")

    assert jsonschema.problems(directory) == [f"{name} describes no version of a record: remove it"]


def test_the_file_of_an_old_version_stays_and_is_missed(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = SCHEMAS[0]
    newer = dataclasses.replace(first, version=first.version + 1)
    monkeypatch.setattr(jsonschema, "SCHEMAS", (newer, *SCHEMAS[1:]))
    old = directory / NEWEST[0]
    text = old.read_text()

    assert jsonschema.write(directory) == [directory / f"{first.name}-{newer.version}.json"]
    assert old.read_text() == text
    assert jsonschema.problems(directory) == []
    old.unlink()
    [problem] = jsonschema.problems(directory)
    assert problem.startswith(f"{old.name} is missing: restore it")


def test_the_command_fails_where_a_problem_is_left(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jsonschema, "problems", lambda: jsonschema._wrong_files(directory))
    (directory / NEWEST[0]).unlink()

    assert jsonschema.main(["--check"]) == 1
    assert NEWEST[0] in capsys.readouterr().err


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_a_file_is_closed_to_unknown_fields_and_names_itself(schema: Schema) -> None:
    text = jsonschema.document(schema)
    described = json.loads(text)

    assert text.endswith("}\n")
    assert described["additionalProperties"] is False
    assert described["$id"] == f"urn:memledger:{schema.name}:{schema.version}"
    assert set(described["properties"]) == set(schema.model.model_fields)
