"""Measuring a model, and estimating it: the real SDKs, and a fake of both providers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.cli import main
from tests.support.model_fake import ModelFake, item, malformed, model_fake_in_thread, said
from tests.support.model_fake.chat import Interface

CASE: dict[str, Any] = {
    "language": "en",
    "domain": "test",
    "begins_at": "2026-03-01T09:00:00Z",
    "turns": [
        {"user": "Hi!"},
        {
            "user": "I keep bees on the roof.",
            "memories": [{"kind": "semantic", "slots": ["note"], "words": [["bees"]]}],
        },
        {"user": "My neighbour sings."},
        {"user": "The bread of this town is awful."},
    ],
}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModelFake]:
    monkeypatch.setenv("MEMLEDGER_EMBEDDER", "hash")
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMLEDGER_EXTRACTOR_API_KEY", "key")
    monkeypatch.setenv("MEMLEDGER_EXTRACTOR_MODEL", "claude-haiku-5-5")
    prices = Path(__file__).parents[2] / "docs" / "examples" / "prices.toml"
    monkeypatch.setenv("MEMLEDGER_PRICES", str(prices))
    with model_fake_in_thread() as running:
        yield running


@pytest.mark.parametrize("interface", ["anthropic", "openai"])
def test_a_model_is_measured_as_the_rules_are(
    fake: ModelFake, interface: Interface, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMLEDGER_EXTRACTOR_BASE_URL", fake.base_url(interface))
    (tmp_path / "case.json").write_text(json.dumps(CASE), encoding="utf-8")
    fake.by_text = {
        "bees": [said(item("Keeps bees on the roof", quote="I keep bees on the roof."))],
        "neighbour": [said(item("Sings", quote="My neighbour sings.", about="neighbour"))],
        "bread": [malformed()],
    }

    result = CliRunner().invoke(
        main,
        ["eval", "extraction", "--extractor", interface, "--cases", str(tmp_path), "--json"],
    )
    told = json.loads(result.stdout)

    assert (told["extractor"], told["model"]) == (interface, "claude-haiku-5-5")
    assert (told["all"]["recall"], told["all"]["precision"]) == (1.0, 0.5)
    # What nobody could read is no "nothing to remember", and small talk was never asked about.
    assert told["failed"] == {"ExtractionRejected": 1}
    assert told["skipped"] == 1
    assert not any("Hi!" in text for asked in fake.asked for text in asked.user_texts)
    assert told["usage"]["calls"] == len(fake.asked) == 2 + 3
    assert float(told["cost"]["money"]) > 0
    assert fake.problems == []


def test_an_estimate_asks_no_model(fake: ModelFake, tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    line = {"user_id": "ann", "conversation_id": "c", "user_text": "I keep bees.", "turn_id": "1"}
    file.write_text(json.dumps(line), encoding="utf-8")

    result = CliRunner().invoke(main, ["costs", "--estimate", str(file), "--json"])
    told = json.loads(result.stdout)

    assert fake.asked == []
    assert told["model"] == "claude-haiku-5-5"
    assert [mode["usage"]["calls"] for mode in told["modes"].values()] == [1, 1, 1]
    assert float(told["modes"]["turn"]["money"]) > 0
