"""Make the extractor that the settings name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from schemas.errors import ConfigurationError
from schemas.ports import Extractor
from schemas.settings import Settings

_BUILT_IN: Final[dict[str, tuple[str, Callable[[Any, Settings], Extractor]]]] = {
    "rules": ("processors.extractors.rules", lambda module, _: module.RulesExtractor()),
    "verbatim": ("processors.extractors.verbatim", lambda module, _: module.VerbatimExtractor()),
    "anthropic": (
        "processors.extractors.model",
        lambda module, settings: module.make_model_extractor(settings),
    ),
    "openai": (
        "processors.extractors.model",
        lambda module, settings: module.make_model_extractor(settings),
    ),
}
"""By name, the module and what makes it.

Imported when it is made: compiling their patterns takes longer than a verb that needs none.
"""
_REMEDY: Final = (
    f"set MEMLEDGER_EXTRACTOR to {', '.join(sorted(_BUILT_IN))}, "
    "or to package.module:factory, where factory() returns an extractor"
)


def make_extractor(settings: Settings) -> Extractor:
    """Return the extractor that the settings name.

    Args:
        settings: ``extractor`` is ``rules``, ``verbatim``, ``anthropic``, ``openai``, or
            ``package.module:factory``, a callable without arguments that returns an object with the
            shape of :class:`schemas.ports.Extractor`.

    Raises:
        ConfigurationError: there is none of that name, or it cannot be imported or made, or it
            lacks a part of an extractor; the message says which and what to set instead.
    """
    spec = settings.extractor
    if spec in _BUILT_IN:
        name, make = _BUILT_IN[spec]
        return make(importlib.import_module(name), settings)
    module_name, colon, factory_name = spec.partition(":")
    if not colon or not module_name or not factory_name:
        raise ConfigurationError(f"there is no extractor {spec!r}; {_REMEDY}")
    return _checked(spec, _made(spec, _factory(spec, module_name, factory_name)))


def _factory(spec: str, module_name: str, factory_name: str) -> Callable[[], object]:
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # a module of one's own may fail in any way
        raise ConfigurationError(
            f"the extractor {spec!r} cannot be imported: {type(error).__name__}: {error}; "
            "install its package in this environment and check the name"
        ) from error
    factory: object = getattr(module, factory_name, None)
    if not callable(factory):
        raise ConfigurationError(
            f"the extractor {spec!r} cannot be made: {module_name} has no callable "
            f"{factory_name!r}; define it there, or correct the name after the colon"
        )
    return factory


def _made(spec: str, factory: Callable[[], object]) -> object:
    try:
        return factory()
    except ConfigurationError:
        raise
    except Exception as error:  # a factory of one's own may fail in any way
        raise ConfigurationError(
            f"the extractor {spec!r} cannot be made: {type(error).__name__}: {error}; "
            "its factory is called without arguments"
        ) from error


def _checked(spec: str, made: object) -> Extractor:
    if isinstance(made, type) or not isinstance(made, Extractor):
        parts = ("name", "model", "prompt_hash", "known_max", "extract")
        missing = [part for part in parts if not hasattr(made, part)]
        raise ConfigurationError(
            f"{spec!r} made a {type(made).__name__}, which is no extractor"
            + (f": it lacks {', '.join(missing)}" if missing else "")
            + "; give it the shape of schemas.ports.Extractor"
        )
    return made
