"""Dates, languages, sizes and odd input, as the rules read them."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors import fingerprint
from processors.extractors.rules import OPERATIONS_MAX, RulesExtractor
from processors.extractors.sentences import clauses
from schemas.ports import Extraction, ExtractionRequest, Extractor
from tests.support.deciding import turn
from tests.unit.processors.extractors.reading import extract, read

TURN_CHARACTERS = 350_000


@pytest.mark.parametrize(
    ("text", "offset", "content", "valid_from"),
    [
        ("I moved to Pune yesterday", 0, "Lives in Pune", "2024-06-11T00:00"),
        ("I moved to Pune yesterday", 330, "Lives in Pune", "2024-06-10T18:30"),
        ("I live in Pune since 2019", 0, "Lives in Pune since 2019", "2019-01-01T00:00"),
        ("I moved to Pune last year", 0, "Lives in Pune since 2023", "2023-01-01T00:00"),
        ("In March 2020, I moved to Pune", 0, "Lives in Pune since March 2020", "2020-03-01T00:00"),
        ("I moved to Pune on 5 May 2021", 0, "Lives in Pune", "2021-05-05T00:00"),
    ],
)
def test_a_date_tells_since_when_and_stays_as_precise_as_it_was_told(
    text: str, offset: int, content: str, valid_from: str
) -> None:
    (one,) = extract(text, offset=offset).operations
    assert one.content == content
    assert one.valid_from == datetime.fromisoformat(valid_from).replace(tzinfo=UTC)


def test_without_a_date_the_turn_counts() -> None:
    (one,) = extract("I live in Pune").operations
    assert one.valid_from is None


def test_the_spelling_of_the_user_is_kept() -> None:
    assert read("i live in são paulo") == ["residence: Lives in são paulo"]
    assert read("My name is \u674e\u660e") == ["name: Is called \u674e\u660e"]


@pytest.mark.parametrize(
    "unit",
    [
        "I live in Pune. ",
        "I'm allergic to a, b and c. ",
        " ",
        "I, ",
        "\u201c",
        ">",
        "I don't don't ",
        "I\n\n",
        "x" * 399 + " and I ",
    ],
)
@pytest.mark.timeout(60)
def test_a_turn_of_any_shape_and_the_greatest_size_is_read(unit: str) -> None:
    text = (unit * (TURN_CHARACTERS // len(unit) + 1))[:TURN_CHARACTERS]
    assert len(extract(text).operations) <= OPERATIONS_MAX


@pytest.mark.parametrize(
    "unit", ["I live in Pune. ", "I'm allergic to nuts and I love tea, ", "> I\n", "a, I "]
)
def test_clauses_never_cover_more_than_the_text(unit: str) -> None:
    for count in (1, 10, 1_000):
        assert sum(len(clause.quote) for clause in clauses(unit * count)) <= len(unit) * count


def test_the_end_of_a_long_turn_is_not_lost() -> None:
    assert read("Blah blah. " * 30_000 + "I live in Pune.") == ["residence: Lives in Pune"]


def test_what_is_beyond_the_limit_of_a_turn_is_told() -> None:
    text = " ".join(f"I live in Town{number}." for number in range(OPERATIONS_MAX + 7))
    extraction = extract(text)
    assert len(extraction.operations) == OPERATIONS_MAX
    (item,) = extraction.invalid
    assert item.position == OPERATIONS_MAX
    assert "7 statements" in item.problem


_pieces = st.sampled_from(
    [
        "I", "I'm", "my", "sister", "name", "is", "live", "in", "Pune", "not", "and", ",", ".", "?",
        "if", '"', "'", "\n", ">", "```", "allergic", "to", "nuts", "since", "2019", "remember",
        "that", "no", "longer", "forget", "meant", "it's", ":", "(", "\u00a0",
        "\u6771\u4eac", "\U0001f600",
        "call", "me", "work", "at", "Acme", "a", "nurse", "the", "said", "she", "as", "born",
    ]
)  # fmt: skip


@given(st.lists(_pieces, max_size=25).map(" ".join))
def test_whatever_is_read_quotes_the_text(text: str) -> None:
    for one in extract(text).operations:
        assert one.quote
        assert one.quote in text
        assert one.content.strip() == one.content != ""


@given(st.text(max_size=200))
def test_any_text_is_read_without_a_failure(text: str) -> None:
    extract(text)


def test_it_is_an_extractor_that_names_the_state_of_its_rules() -> None:
    extractor = RulesExtractor()
    assert isinstance(extractor, Extractor)
    assert extractor.name == extractor.model == "rules"
    assert extractor.prompt_hash == RulesExtractor().prompt_hash
    assert RulesExtractor(known_max=0).known_max == 0


def test_a_changed_rule_of_any_kind_changes_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint.fingerprint()
    assert fingerprint.fingerprint() == before
    source = fingerprint._source
    for changed in fingerprint.MODULES:
        monkeypatch.setattr(
            fingerprint, "_source", lambda name, one=changed: source(name) + "#" * (name == one)
        )
        assert fingerprint.fingerprint() != before


def test_every_module_that_the_rules_are_made_of_is_in_the_hash() -> None:
    folder = files("processors").joinpath("extractors")
    no_rules = {"__init__", "fingerprint", "loading", "verbatim"}
    in_package = {
        f"processors.extractors.{name}"
        for file in folder.iterdir()
        if file.name.endswith(".py") and (name := file.name.removesuffix(".py")) not in no_rules
    }
    assert in_package <= set(fingerprint.MODULES)
    for module in fingerprint.MODULES:
        assert set(_imports(module)) - {"processors.extractors.fingerprint"} <= set(
            fingerprint.MODULES
        )


def _imports(module: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports."""
    for node in ast.walk(ast.parse(fingerprint._source(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("processors"):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from {name for name in names if _is_module(name)} or {node.module or ""}


def _is_module(name: str) -> bool:
    path = name.split(".")[1:]
    return files("processors").joinpath(*path[:-1], f"{path[-1]}.py").is_file()


def test_a_long_text_is_read_like_a_short_one_and_holds_nobody_up() -> None:
    async def run() -> tuple[Extraction, int]:
        said = turn("I live in Rome. " + "The weather was nice. " * 1000)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        extraction = await RulesExtractor().extract(ExtractionRequest(turn=said, known=()))
        ticking.cancel()
        return extraction, ticks

    extraction, ticks = asyncio.run(run())

    assert [one.content for one in extraction.operations] == ["Lives in Rome"]
    assert ticks > 0
