from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from schemas.database import Queries, describe, load_queries, migrate
from schemas.errors import MigrationError

NOWHERE = "host=/nonexistent dbname=none"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an importable package that has no files yet, in ``tmp_path``."""
    name = f"package_of_{tmp_path.name}"  # imported modules outlive a test
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def load(tmp_path: Path, package: str, text: str) -> Queries:
    (tmp_path / package / "queries.sql").write_text(text)
    return load_queries(package, "queries.sql")


class TestQueries:
    def test_are_found_by_name(self, tmp_path: Path, package: str) -> None:
        queries = load(
            tmp_path,
            package,
            "-- About the file.\n\n-- name: one\n-- Does one.\nSELECT 1;\n\n"
            "-- name: two\n-- Does two,\n-- at length.\nSELECT\n  2;\n",
        )
        assert list(queries) == ["one", "two"]
        assert queries["one"] == "SELECT 1;"
        assert queries["two"] == "SELECT\n  2;"

    def test_are_told_without_what_explains_them(self, tmp_path: Path, package: str) -> None:
        text = "-- name: one\n-- Does one.\nSELECT\n    -- Why.\n    '--', 1 -- one\nFROM a;\n"
        assert load(tmp_path, package, text)["one"] == "SELECT\n    '--', 1 -- one\nFROM a;"

    def test_that_are_missing_are_an_error_that_names_file_and_query(
        self, tmp_path: Path, package: str
    ) -> None:
        queries = load(tmp_path, package, "-- name: one\n-- Does one.\nSELECT 1;\n")
        with pytest.raises(KeyError, match=r"queries\.sql has no query named 'three'"):
            queries["three"]

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("-- name: a\n-- A.\nSELECT 1;\n-- name: a\n-- A.\nSELECT 2;\n", "already named 'a'"),
            ("-- name: CamelCase\n-- A.\nSELECT 1;\n", "snake_case"),
            ("--name: a\n-- A.\nSELECT 1;\n", "snake_case"),
            ("-- name: a b\n-- A.\nSELECT 1;\n", "snake_case"),
            ("-- name: a\nSELECT 1;\n", "what the query does"),
            ("-- name: a\n-- A.\n", "no statement"),
            ("-- name: a\n-- name: b\n-- B.\nSELECT 1;\n", "what the query does"),
        ],
    )
    def test_that_are_malformed_are_an_error(
        self, tmp_path: Path, package: str, text: str, problem: str
    ) -> None:
        with pytest.raises(ValueError, match=problem):
            load(tmp_path, package, text)

    def test_cannot_be_changed(self, tmp_path: Path, package: str) -> None:
        queries = load(tmp_path, package, "-- name: one\n-- Does one.\nSELECT 1;\n")
        with pytest.raises(TypeError):
            queries["one"] = "SELECT 2;"  # type: ignore[index]  # what must not be possible


class TestMigrationFiles:
    @pytest.mark.parametrize(
        ("names", "problem"),
        [
            (["1_first.sql"], "0001_what_it_does"),
            (["0001_First.sql"], "0001_what_it_does"),
            (["0002_second.sql"], "without a gap"),
            (["0001_first.sql", "0003_third.sql"], "without a gap"),
            (["0001_first.sql", "0001_other.sql"], "two migrations"),
        ],
    )
    def test_out_of_order_are_refused_before_anything_is_reached(
        self, tmp_path: Path, names: list[str], problem: str
    ) -> None:
        for name in names:
            (tmp_path / name).write_text("SELECT 1;")
        with pytest.raises(MigrationError, match=problem):
            asyncio.run(migrate(NOWHERE, tmp_path))

    @pytest.mark.parametrize(
        "value", ["", "1; DROP TABLE a", "-1", "Upper", "a-b", "1e3", "x" * 64, "a\n"]
    )
    def test_take_only_numbers_and_plain_identifiers(self, tmp_path: Path, value: str) -> None:
        (tmp_path / "0001_first.sql").write_text("CREATE TABLE a (v varchar({size}));")
        with pytest.raises(MigrationError, match="whole number or a plain"):
            asyncio.run(migrate(NOWHERE, tmp_path, parameters={"size": value}))

    def test_need_a_value_for_every_parameter(self, tmp_path: Path) -> None:
        (tmp_path / "0001_first.sql").write_text("CREATE TABLE a (v varchar({size}));")
        with pytest.raises(MigrationError, match="'size'"):
            asyncio.run(migrate(NOWHERE, tmp_path))


def test_description_of_a_database_never_shows_the_password() -> None:
    shown = describe("postgresql://login:hush@db.example:6543/ledger")
    assert "hush" not in shown
    assert "db.example:6543" in shown
    assert "'ledger'" in shown
