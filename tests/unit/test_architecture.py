"""What the source tree must look like: arrows, layout, SQL in files of its own, nothing foreign."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from schemas.queries import load_queries
from tests.support.source_tree import (
    MAY_IMPORT,
    ROOT,
    SOURCE_PACKAGES,
    forbidden_imports,
    inline_sql,
    module_name,
    python_files,
    tracked_files,
)

LINES_MAX = 400
LONGER: frozenset[str] = frozenset()
"""Files that may have more lines, by their path; each would need a reason here."""

# Spelled in pieces, or this file would hold what it looks for.
_FOREIGN = re.compile(
    "|".join(
        (
            r"(?<![\w.$}~/-])/" + r"(work|tmp|home|root|Users|farm)\b(?!\.)",
            r"[A-Z]:\\" + r"Users\\",
            r"\b(pypi|files\.pythonhosted|npmjs|registry\.npmjs|crates)" + r"\.(org|io|com)\b",
            r"\b(repo1|repo|central)\.(maven" + r"|sonatype)\b",
            r"\b(docker|ghcr|quay|gcr)" + r"\.io\b",
            r"\bproxy\.golang" + r"\.org\b",
            r"--(extra-)?index" + r"-url\b",
        )
    )
)

sources = python_files(*SOURCE_PACKAGES)
tests = python_files("tests")
sql_files = sorted(path for package in SOURCE_PACKAGES for path in (ROOT / package).rglob("*.sql"))


def _names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def _foreign(text: str) -> list[str]:
    return [match[0] for match in _FOREIGN.finditer(text)]


def test_the_tree_is_looked_at() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in sources} == set(SOURCE_PACKAGES)
    assert len(sources) > 100
    assert Path(__file__) in tests
    assert Path(__file__).with_name("__init__.py") in tests
    assert len(sql_files) > 10


def test_imports_follow_the_arrows() -> None:
    against = [
        problem
        for path in sources
        for problem in forbidden_imports(path.read_text("utf-8"), module=module_name(path))
    ]

    assert against == []
    assert set(MAY_IMPORT) == set(SOURCE_PACKAGES)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("schemas.a", "import deploy.wiring"),
        ("schemas.a", "def f():\n    from projections import fold"),
        ("producers.a", "from processors.gate import judge"),
        ("processors.a", "if TYPE_CHECKING:\n    import projections.ledger as ledger"),
        ("projections.a", "import importlib\nimportlib.import_module('processors.worker')"),
        ("projections.a", "files('producers').joinpath('sql')"),
        ("projections.a", "load_queries('processors', 'sql/a.sql')"),
        ("processors.a", "from deploy import home"),
        ("deploy.a", "from tests.support import waiting"),
        ("producers.a.b", "from ... import processors"),
    ],
)
def test_an_import_against_the_arrows_is_found(module: str, source: str) -> None:
    assert len(forbidden_imports(source, module=module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("producers.a", "from schemas import ids\nimport producers.b, json"),
        ("producers.a.b", "from . import c\nfrom .. import d\nfrom ..e import f"),
        ("producers.__init__", "from . import c"),
        ("deploy.a", "import schemas, producers, processors, projections"),
        ("projections.a", "text = 'import processors'"),
    ],
)
def test_an_import_along_the_arrows_is_allowed(module: str, source: str) -> None:
    assert forbidden_imports(source, module=module) == []


def test_the_top_level_packages_are_those_of_the_layout() -> None:
    packages = {
        path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name[0] != "."
    }

    assert packages == {*SOURCE_PACKAGES, "tests"}
    assert _names(list(ROOT.glob("*.py"))) == []


@pytest.mark.parametrize("package", SOURCE_PACKAGES)
def test_a_source_package_is_typed_and_says_what_it_is(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()
    assert ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text("utf-8")))


def test_directories_with_code_are_packages() -> None:
    directories = {path.parent for path in (*sources, *tests)}

    assert _names([path for path in directories if not (path / "__init__.py").is_file()]) == []


def test_no_source_file_is_long() -> None:
    lines = {
        name: len(path.read_text("utf-8").splitlines())
        for path, name in zip(sources, _names(sources), strict=True)
    }

    assert {name: count for name, count in lines.items() if count > LINES_MAX} == dict.fromkeys(
        LONGER
    )


def test_sql_is_never_inline() -> None:
    found = {
        name: texts
        for path, name in zip(sources, _names(sources), strict=True)
        if (texts := inline_sql(path.read_text("utf-8")))
    }

    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "query = 'SELECT 1'",
        "query = f'''\n  UPDATE {table} SET a = 1'''",
        "query = 'insert into memories values (1)'",
        "connection.execute('VALUES (1)')",
        "query = sql.SQL('{} = 1')",
        "query = ('delete ' 'from memories')",
        "def f():\n    '''Doc.'''\n    return 'CREATE TABLE memories ()'",
    ],
)
def test_inline_sql_is_found(source: str) -> None:
    assert inline_sql(source)


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    '''SELECT is a word of SQL.'''",
        "raise E('create the database yourself (CREATE DATABASE x)')",
        "remedy = 'set MEMLEDGER_PARTITIONS to 4; delete from it what is old'",
        "connection.execute(QUERIES['select_one'])",
    ],
)
def test_prose_is_not_taken_for_sql(source: str) -> None:
    assert inline_sql(source) == []


@pytest.mark.parametrize("path", sql_files, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_sql_file_says_what_its_statements_do(path: Path) -> None:
    text = path.read_text("utf-8")

    assert text.startswith("-- ")
    if "-- name:" in text:
        package = path.parent.parent
        dotted = ".".join(package.relative_to(ROOT).parts)
        queries = load_queries(dotted, f"{path.parent.name}/{path.name}")
        code = "\n".join(module.read_text("utf-8") for module in sorted(package.rglob("*.py")))
        assert [name for name in queries if f'"{name}"' not in code] == []


def test_nothing_tracked_names_a_machine_or_a_registry() -> None:
    found = {}
    for path in tracked_files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue  # a picture or an archive
        if hits := _foreign(text):
            found[str(path.relative_to(ROOT))] = hits

    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "see /" + "work/main/a.py",
        "open('/" + "tmp/a')",
        "cd /" + "home/ann",
        "C:\\" + "Users\\ann",
        "https://" + "pypi" + ".org/simple",
        "https://files.pythonhosted" + ".org/a.whl",
        "image: ghcr" + ".io/a/b",
        "https://repo1" + ".maven.org/maven2",
        "pip install --index" + "-url x",
    ],
)
def test_a_name_of_a_machine_or_a_registry_is_found(text: str) -> None:
    assert _foreign(text)


@pytest.mark.parametrize(
    "text", ["/v1/turns", "a/work/b", "${HOME}/tmp", "~/home", "http://maven.apache.org/POM/4.0.0"]
)
def test_other_paths_and_addresses_are_allowed(text: str) -> None:
    assert _foreign(text) == []
