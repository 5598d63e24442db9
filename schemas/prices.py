"""What models cost: configuration, read from a file, since prices change and differ by contract."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from schemas.proposals import Usage
from schemas.toml_file import read_toml

VARIABLE: Final = "MEMLEDGER_PRICES"

_TOKENS_PRICED: Final = 1_000_000

Price = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
"""Money for a million tokens."""


class Rates(BaseModel):
    """What a million tokens cost.

    Attributes:
        input: read at the full price.
        output: written, thinking included.
        cache_read: read from the provider's cache.
        cache_write: written to it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Price
    output: Price
    cache_read: Price
    cache_write: Price


class LongPromptRates(Rates):
    """What they cost in a call whose prompt is long.

    Attributes:
        prompt_tokens: these rates hold for prompts of more tokens than that, cached ones included.
    """

    prompt_tokens: int = Field(gt=0)


class ModelRates(Rates):
    """What one model costs.

    Attributes:
        above: the rates of long prompts, where these differ.
    """

    above: LongPromptRates | None = None


class Prices(BaseModel):
    """The prices of the models that are used.

    Attributes:
        currency: what the prices are in, such as ``USD``.
        models: by the model's name, as the extractor tells it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    currency: str = Field(min_length=1, max_length=16)
    models: Mapping[str, ModelRates] = Field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def read(cls, path: Path | None) -> Self | None:
        """Return the prices that a file holds; ``None`` where no file is named.

        Raises:
            ConfigurationError: it cannot be used; the message names file and field.
        """
        return None if path is None else read_toml(path, cls, variable=VARIABLE)

    def cost(self, usage: Usage, model: str) -> Decimal | None:
        """Return what a use of a model cost, in ``currency``.

        Of several calls together, whether their prompts were long goes by the average prompt.

        Args:
            usage: the tokens, of one call or of several.
            model: the model's name.

        Returns:
            The money; ``None`` where tokens were used and the model has no price here, which is
            never the same as 0.
        """
        if tokens_of(usage) == 0:
            return Decimal(0)
        rates = self.models.get(model)
        if rates is None:
            return None
        return _cost(usage, _rates_for(usage, rates))


def cost(prices: Prices | None, usage: Usage, model: str) -> Decimal | None:
    """Return what a use of a model cost, or ``None`` where no price is known, for want of any too.

    Args:
        prices: the prices, if a file of them is named.
        usage: the tokens.
        model: the model's name.
    """
    if prices is None:
        return Decimal(0) if tokens_of(usage) == 0 else None
    return prices.cost(usage, model)


def tokens_of(usage: Usage) -> int:
    """Return how many tokens were read and written, those read from or written to a cache too."""
    return prompt_tokens_of(usage) + usage.output_tokens


def prompt_tokens_of(usage: Usage) -> int:
    """Return how many tokens were read, at whatever price."""
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def _rates_for(usage: Usage, rates: ModelRates) -> Rates:
    long = rates.above
    if long is None:
        return rates
    per_call = prompt_tokens_of(usage) / max(usage.calls, 1)
    return long if per_call > long.prompt_tokens else rates


def _cost(usage: Usage, rates: Rates) -> Decimal:
    return (
        usage.input_tokens * rates.input
        + usage.output_tokens * rates.output
        + usage.cache_read_tokens * rates.cache_read
        + usage.cache_write_tokens * rates.cache_write
    ) / _TOKENS_PRICED
