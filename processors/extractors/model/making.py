"""Make the extractor of a provider out of the settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from processors.extractors.model import anthropic, openai
from processors.extractors.model.asking import Asker
from processors.extractors.model.calling import Caller, Timing
from processors.extractors.model.extractor import ModelExtractor
from processors.extractors.model.provider import Provider
from schemas.errors import ConfigurationError
from schemas.settings import Settings

ANTHROPIC: Final = anthropic.NAME
OPENAI: Final = openai.NAME

_OWN_DEADLINE: Final = 0.85
"""The part of an attempt's deadline for the answers; the rest is left for the probe, so that the
extractor tells whose fault it is before the worker gives the attempt up."""

_PROBE: Final = 0.1


def make_model_extractor(
    settings: Settings, *, environment: Mapping[str, str] = os.environ
) -> ModelExtractor:
    """Return the extractor that asks the provider of that name.

    Args:
        settings: ``extractor`` is ``anthropic`` or ``openai``.
        environment: where the provider's own variable for the key is looked up.

    Raises:
        ConfigurationError: its SDK is not installed, or the key or the model is missing; the
            message says what to do.
    """
    return extractor_around(_PROVIDERS[settings.extractor](settings, environment), settings)


def extractor_around(provider: Provider, settings: Settings) -> ModelExtractor:
    """Return the extractor that asks a provider, as the settings say.

    Args:
        provider: sends one request.
        settings: the deadlines, the attempts and the switches.
    """
    attempt_s = settings.extract_timeout_s
    caller = Caller(
        provider,
        Timing(call_s=settings.extractor_call_timeout_s, probe_s=_PROBE * attempt_s),
    )
    asker = Asker(
        caller,
        attempts_max=settings.extract_attempts_max,
        deadline_s=_OWN_DEADLINE * attempt_s,
    )
    return ModelExtractor(
        provider, caller, asker, keeps_assistant=settings.extractor_keep_assistant_statements
    )


def _anthropic(settings: Settings, environment: Mapping[str, str]) -> Provider:
    key = settings.extractor_api_key or environment.get("ANTHROPIC_API_KEY")
    if not key:
        raise ConfigurationError(
            "the extractor 'anthropic' needs a key: set MEMLEDGER_EXTRACTOR_API_KEY, or "
            "ANTHROPIC_API_KEY"
        )
    return _made(
        anthropic.AnthropicProvider,
        model=settings.extractor_model or anthropic.DEFAULT_MODEL,
        api_key=key,
        base_url=settings.extractor_base_url,
    )


def _openai(settings: Settings, environment: Mapping[str, str]) -> Provider:
    if not settings.extractor_model:
        raise ConfigurationError(
            "the extractor 'openai' needs the name of a model: set MEMLEDGER_EXTRACTOR_MODEL to "
            "one that the server offers"
        )
    key = settings.extractor_api_key or environment.get("OPENAI_API_KEY")
    if not key and settings.extractor_base_url is None:
        raise ConfigurationError(
            "the extractor 'openai' needs a key: set MEMLEDGER_EXTRACTOR_API_KEY, or "
            "OPENAI_API_KEY; a server of your own, in MEMLEDGER_EXTRACTOR_BASE_URL, needs none"
        )
    return _made(
        openai.OpenAIProvider,
        model=settings.extractor_model,
        api_key=key or openai.NO_KEY,
        base_url=settings.extractor_base_url,
    )


class _Makes(Protocol):
    def __call__(self, *, model: str, api_key: str, base_url: str | None) -> Provider: ...


def _made(make: _Makes, *, model: str, api_key: str, base_url: str | None) -> Provider:
    try:
        return make(model=model, api_key=api_key, base_url=base_url)
    except ConfigurationError:
        raise
    except Exception as error:  # an SDK may refuse an address or a key in any way
        raise ConfigurationError(
            f"the client of the model cannot be made ({type(error).__name__}): check "
            "MEMLEDGER_EXTRACTOR_BASE_URL and MEMLEDGER_EXTRACTOR_API_KEY"
        ) from error


_PROVIDERS: Final[Mapping[str, Callable[[Settings, Mapping[str, str]], Provider]]] = {
    ANTHROPIC: _anthropic,
    OPENAI: _openai,
}
