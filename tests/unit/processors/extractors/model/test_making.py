"""Which model's extractor settings give, and what is said where they give none."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pytest

from deploy.wiring import problem_of
from processors.extractors.fingerprint import fingerprint
from processors.extractors.loading import make_extractor
from processors.extractors.model import extractor as module
from processors.extractors.model import make_model_extractor, prompt
from processors.extractors.model.extractor import ModelExtractor
from processors.extractors.rules import RulesExtractor
from schemas.errors import ConfigurationError
from schemas.ports import Consolidator, Extractor, SessionExtractor
from schemas.settings import Settings

ANTHROPIC = {"extractor": "anthropic", "extractor_api_key": "k"}


def made(told: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> ModelExtractor:
    return make_model_extractor(Settings(**told), environment=environment or {})


def test_it_can_read_turns_and_sessions_and_look_through_memories() -> None:
    extractor = made(ANTHROPIC)

    assert isinstance(extractor, Extractor)
    assert isinstance(extractor, SessionExtractor)
    assert isinstance(extractor, Consolidator)
    assert (extractor.name, extractor.known_max) == ("anthropic", prompt.KNOWN_MAX)


@pytest.mark.parametrize(
    ("told", "environment"),
    [
        ({"extractor": "anthropic"}, {"ANTHROPIC_API_KEY": "k"}),
        ({"extractor": "anthropic", "extractor_api_key": "k"}, {}),
        ({"extractor": "openai", "extractor_model": "m"}, {"OPENAI_API_KEY": "k"}),
        ({"extractor": "openai", "extractor_model": "m", "extractor_api_key": "k"}, {}),
        (
            {
                "extractor": "openai",
                "extractor_model": "m",
                "extractor_base_url": "http://127.0.0.1:1/v1",
            },
            {},
        ),
    ],
    ids=["variable", "setting", "openai's variable", "openai's setting", "a server of one's own"],
)
def test_the_key_comes_from_the_setting_or_the_providers_variable(
    told: dict[str, str], environment: dict[str, str]
) -> None:
    assert made(told, environment).name == told["extractor"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"extractor": "anthropic"}, "set MEMLEDGER_EXTRACTOR_API_KEY, or ANTHROPIC_API_KEY"),
        ({"extractor": "openai", "extractor_api_key": "k"}, "set MEMLEDGER_EXTRACTOR_MODEL"),
        ({"extractor": "openai", "extractor_model": "m"}, "or OPENAI_API_KEY"),
    ],
)
def test_what_is_missing_is_told(told: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        made(told)
    assert message in str(raised.value)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_without_its_extra_it_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigurationError) as raised:
        make_extractor(Settings(extractor=name, extractor_model="m", extractor_api_key="SECRET"))
    assert f'pip install "memledger[{name}]"' in str(raised.value)
    assert "SECRET" not in str(raised.value)


def test_the_key_is_in_no_repr() -> None:
    assert "SECRET" not in repr(Settings(extractor_api_key="SECRET"))


def test_the_hash_follows_what_shapes_answers_and_not_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashes = [
        made(ANTHROPIC).prompt_hash,
        made({**ANTHROPIC, "extractor_keep_assistant_statements": True}).prompt_hash,
    ]
    assert made({**ANTHROPIC, "extractor_model": "another"}).prompt_hash == hashes[0]
    monkeypatch.setattr(prompt, "_text", lambda name: f"other {name}")
    hashes.append(made(ANTHROPIC).prompt_hash)
    monkeypatch.undo()
    monkeypatch.setattr(module, "SCHEMAS", {"turn_operations": {}})
    hashes.append(made(ANTHROPIC).prompt_hash)
    monkeypatch.undo()
    monkeypatch.setattr(module, "fingerprint", lambda _: "other code")
    hashes.append(made(ANTHROPIC).prompt_hash)

    assert len(set(hashes)) == len(hashes)
    assert fingerprint(module.MODULES) != fingerprint(module.MODULES[1:])


def test_only_an_extractor_that_tells_has_a_problem() -> None:
    extractor = made(ANTHROPIC)
    assert problem_of(extractor) is None
    with extractor._caller._breaker.attempt() as attempt:
        attempt.failed("HTTP 401", for_all=True)
    assert "HTTP 401" in (problem_of(extractor) or "")
    assert problem_of(RulesExtractor()) is None
