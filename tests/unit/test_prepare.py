"""What a pipeline is prepared with is made no more often than it is needed, and closed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from deploy import prepare as module
from deploy.addresses import Addresses
from deploy.home import Home
from projections.embedders.openai import OpenAIEmbedder
from schemas.errors import ReadModelUnavailable
from schemas.settings import Settings


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is made and closed, in that order."""
    seen: list[str] = []
    make, close = OpenAIEmbedder.__init__, OpenAIEmbedder.aclose

    def noted(embedder: OpenAIEmbedder, **arguments: object) -> None:
        seen.append("embedder")
        make(embedder, **arguments)  # type: ignore[arg-type] # passed on as it came

    async def closed(embedder: OpenAIEmbedder) -> None:
        await close(embedder)
        seen.append("closed")

    async def stop_here(_: str) -> bool:
        raise ReadModelUnavailable("no database")

    monkeypatch.setattr(OpenAIEmbedder, "__init__", noted)
    monkeypatch.setattr(OpenAIEmbedder, "aclose", closed)
    monkeypatch.setattr(module, "make_extractor", lambda told: seen.append(told.extractor))
    monkeypatch.setattr(module, "ensure_database", stop_here)
    return seen


def settings(home: Path) -> Settings:
    return Settings.model_validate(
        {"home": home, "extractor": "own:made", "embedder": "openai", "embedder_api_key": "k"}
    )


def test_what_is_made_to_see_whether_it_can_be_is_closed(made: list[str], tmp_path: Path) -> None:
    module.require_usable(settings(tmp_path))
    assert made == ["own:made", "embedder", "closed"]


def test_preparing_makes_one_embedder_and_closes_it(made: list[str], tmp_path: Path) -> None:
    addresses = Addresses(database_url="", keyring_url="", kafka_bootstrap="")
    with pytest.raises(ReadModelUnavailable):
        asyncio.run(module.prepare(settings(tmp_path), addresses, Home(tmp_path)))
    assert made == ["embedder", "closed"]
