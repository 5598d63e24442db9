"""Which extractor a setting names, and what is said where it names none."""

from __future__ import annotations

import sys

import pytest

from processors.extractors.loading import make_extractor
from processors.extractors.rules import RulesExtractor
from processors.extractors.verbatim import VerbatimExtractor
from schemas.errors import ConfigurationError
from schemas.settings import Settings

HERE = __name__


def own() -> VerbatimExtractor:
    return VerbatimExtractor()


def incomplete() -> object:
    return object()


def a_class() -> object:
    return VerbatimExtractor


def failing() -> object:
    raise ValueError("no key")


def unconfigured() -> object:
    raise ConfigurationError("set OWN_KEY")


not_callable = 7


def test_the_built_in_ones_go_by_name() -> None:
    assert isinstance(make_extractor(Settings(extractor="rules")), RulesExtractor)
    assert isinstance(make_extractor(Settings(extractor="verbatim")), VerbatimExtractor)


def test_one_of_your_own_is_made_by_its_factory(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setitem(sys.modules, "own_extractors", sys.modules[HERE])
    assert isinstance(make_extractor(Settings(extractor="own_extractors:own")), VerbatimExtractor)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "gpt",
            "there is no extractor 'gpt'; set MEMLEDGER_EXTRACTOR to anthropic, openai, rules, ",
        ),
        ("", "there is no extractor ''"),
        ("Rules", "there is no extractor 'Rules'"),
        (":own", "there is no extractor"),
        ("own_extractors:", "there is no extractor"),
        ("no.such.module:own", "cannot be imported: ModuleNotFoundError"),
        ("own_extractors:missing", "has no callable 'missing'"),
        ("own_extractors:not_callable", "has no callable 'not_callable'"),
        ("own_extractors:incomplete", "it lacks name, model, prompt_hash, known_max, extract"),
        ("own_extractors:a_class", "which is no extractor"),
        ("own_extractors:failing", "cannot be made: ValueError: no key"),
        ("own_extractors:unconfigured", "set OWN_KEY"),
    ],
)
def test_what_cannot_be_used_is_told_with_a_remedy(
    spec: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setitem(sys.modules, "own_extractors", sys.modules[HERE])
    with pytest.raises(ConfigurationError) as caught:
        make_extractor(Settings(extractor=spec))
    assert message in str(caught.value)
