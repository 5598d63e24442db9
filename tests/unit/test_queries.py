"""Named queries: read out of a file, checked, and told without what explains them."""

from __future__ import annotations

from pathlib import Path

import pytest
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH

from schemas.queries import Queries, load_queries
from tests.support.source_tree import ROOT, SOURCE_PACKAGES


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


def test_every_statement_is_short_enough_for_psycopg_to_remember_how_it_read_it() -> None:
    lengths = {
        f"{path.relative_to(ROOT)} {name}": len(query)
        for package in SOURCE_PACKAGES
        for path in (ROOT / package).rglob("*.sql")
        if "migrations" not in path.parts
        for name, query in load_queries(
            package, path.relative_to(ROOT / package).as_posix()
        ).items()
    }
    assert len(lengths) > 100
    assert {
        name: length for name, length in lengths.items() if length > MAX_CACHED_STATEMENT_LENGTH
    } == {}
