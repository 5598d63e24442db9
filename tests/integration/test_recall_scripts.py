"""Scripts of recall on a real read model, with the embedder that is measured with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.embedded import EmbeddedPostgres
from deploy.evaluation import recall_evaluation
from deploy.evaluation.recall_evaluation import Databases, evaluate_in
from deploy.evaluation.recall_scoring import RecallScores
from deploy.evaluation.recall_script_files import read_scripts
from projections.embedders import CheckedEmbedder
from projections.embedders.minilm import MiniLmEmbedder
from tests.conftest import _fresh_database

CATEGORIES: Final = ("deletion", "isolation", "irrelevance", "poisoning", "temporal", "update")
LOW, OWN, HIGH = 0.05, 0.25, 0.6


@pytest.fixture(scope="module")
def database_url(postgres: EmbeddedPostgres) -> Iterator[str]:
    yield from _fresh_database(postgres)


@pytest.fixture(scope="module")
def swept(database_url: str) -> dict[float, RecallScores]:
    """The scores of some categories at a low threshold, the embedder's own and a high one."""
    scripts = read_scripts(categories=CATEGORIES)
    databases = Databases(read_model_url=database_url, keyring_url=database_url)
    thresholds = (LOW, OWN, HIGH)
    embedder = CheckedEmbedder(MiniLmEmbedder())
    scores = asyncio.run(evaluate_in(databases, scripts, embedder, thresholds=thresholds))
    return dict(zip(thresholds, scores, strict=True))


def test_moving_the_threshold_moves_unwanted_mentions_and_hits(
    swept: dict[float, RecallScores],
) -> None:
    low, own, high = (swept[threshold].all for threshold in (LOW, OWN, HIGH))

    def unwanted(figures: Any) -> float:
        rate: float = figures.unwanted_mention_rate
        return rate

    assert unwanted(low) >= unwanted(own) + 0.2
    assert unwanted(own) >= unwanted(high)
    assert low.hit_rate is not None
    assert high.hit_rate is not None
    assert low.hit_rate >= high.hit_rate + 0.2


def test_no_user_is_served_anothers_memory_at_any_threshold(
    swept: dict[float, RecallScores],
) -> None:
    for scores in swept.values():
        assert (scores.all.foreign, scores.all.harmful) == (0, 0), scores.faults


def test_what_no_longer_holds_is_never_served(swept: dict[float, RecallScores]) -> None:
    assert swept[LOW].all.stale_asked >= 20
    for scores in swept.values():
        assert scores.all.stale_served == 0, scores.faults


def test_every_operation_comes_out_as_its_script_says(swept: dict[float, RecallScores]) -> None:
    assert swept[OWN].misfits == ()


def test_a_greeting_gets_nothing_at_the_embedders_own_threshold(
    swept: dict[float, RecallScores],
) -> None:
    greeted = [
        fault.answer.question.asks
        for fault in swept[OWN].faults
        if fault.answer.script.name == "greetings"
    ]

    assert greeted == []


SCRIPT: Final = """
title = "Something told twice, and something only supposed"
language = "en"

[[session]]
user = "ann"
at = 2026-01-12T18:40:00Z

[[session.turn]]
says = "I live in Lyon"
proposes = [{ label = "lyon", slot = "residence", content = "Lives in Lyon" }]

[[session.turn]]
says = "Suppose I had three kids"
proposes = [{ label = "kids", content = "Has three kids", refused = true }]

[[session.turn]]
says = "Yes, I still live in Lyon"
proposes = [{ label = "again", slot = "residence", content = "Lives in Lyon" }]

[[question]]
user = "ann"
at = 2026-02-01T09:00:00Z
asks = "I live in Lyon"
must = ["lyon", "again"]
must_not = ["kids"]
never = ["Lyon"]
"""


@pytest.fixture
def served_here(postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the verb use a fresh database of the running Postgres, and start none."""

    class Fresh:
        def __init__(self, url: str) -> None:
            self._url = url

        def url(self, _database: str = "") -> str:
            return self._url

    @contextmanager
    def fresh(_home: Path) -> Iterator[Fresh]:
        databases = _fresh_database(postgres)
        yield Fresh(next(databases))
        next(databases, None)

    monkeypatch.setattr(recall_evaluation, "throwaway_postgres", fresh)


@pytest.mark.usefixtures("served_here")
def test_the_verb_tells_programs_and_people_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "persistence").mkdir()
    script = tmp_path / "persistence" / "one.toml"
    script.write_text(SCRIPT, encoding="utf-8")
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))

    def run(*arguments: str) -> tuple[int, str]:
        called = ["eval", "recall", "--cases", str(tmp_path), "--embedder", "hash", *arguments]
        result = CliRunner().invoke(main, called)
        return result.exit_code, result.stdout + result.stderr

    status, out = run("--json")
    figures = json.loads(out)

    assert status == 1  # for the text that must never stand in the block
    assert (figures["all"]["hit_rate"], figures["all"]["harmful_texts"]) == (1.0, 1)
    assert figures["by_category"]["persistence"]["questions"] == 1
    assert figures["all"]["tokens_mean"] > 10
    assert figures["faults"][0]["harmful"] == ["Lyon"]
    assert figures["misfits"] == []

    script.write_text(
        SCRIPT.replace('never = ["Lyon"]', "").replace(", refused = true", ""), encoding="utf-8"
    )
    status, out = run("--sweep", "0.1,0.9", "--at-least-hit", "0.5")
    assert status == 1  # for the operation
    assert "persistence/one: session.0.turn.1 (kids) should be stored, and is not_asserted" in out
    assert "0.9" in out

    script.write_text(SCRIPT.replace('never = ["Lyon"]', ""), encoding="utf-8")
    status, out = run("--at-least-hit", "1", "--at-most-unwanted", "0", "--verbose")
    assert (status, "100%" in out) == (0, True)
